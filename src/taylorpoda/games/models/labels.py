"""The user's y, brought to what the utilities compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import as_array, check_unmasked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.models.base import BoundModel


@dataclass(frozen=True)
class LabelRule:
    """How y becomes what the AUC utilities compare with.

    Attributes:
        classes: The model's classes, or None where it names none.
        chosen: The class that counts as 1 where one output is explained; None where classes compete.
        aliases: Other names the user gave the classes, or None; y may hold either.
    """

    classes: tuple[Any, ...] | None
    chosen: int | None
    aliases: tuple[str, ...] | None = None

    @classmethod
    def of(cls, model: BoundModel) -> LabelRule:
        """The rule of a bound model that has been called at least once."""
        classes, aliases = model.quantity.classes, model.quantity.output_names
        if classes is None or model.competing:
            return cls(classes, None, aliases)
        return cls(classes, model.selected if model.selected is not None else len(classes) - 1, aliases)

    def encode(self, y: Any, n_rows: int) -> NDArray[np.float64] | None:
        """Bring y to one number per row.

        Args:
            y: Class labels for a classifier; numbers for anything else; None where no utility needs them.
            n_rows: How many rows are explained.

        Returns:
            Shape (n_rows,): the class index where classes compete, 0 or 1 where one class is explained, else
            y.

        Raises:
            ValueError: If the length differs or a label is none of the classes.
            TypeError: If y is not numbers and the model names no classes.
        """
        labels = read_labels(y, n_rows)
        if labels is None:
            return None
        if self.classes is None:
            return _numbers(labels)
        positions = np.array(
            [_position(label, self.classes, self.aliases) for label in labels.tolist()], dtype=np.int64
        )
        return (positions if self.chosen is None else positions == self.chosen).astype(np.float64)


def read_labels(y: Any, n_rows: int) -> NDArray[Any] | None:
    """The user's labels as an array, shape (n_rows,); None where there are none.

    Raises:
        ValueError: If the length differs.
    """
    if y is None:
        return None
    labels = as_array(y.to_numpy() if hasattr(y, "to_numpy") else y, "y")
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim == 0 and n_rows == 1:
        labels = labels[None]
    if labels.shape != (n_rows,):
        got = f"shape {labels.shape}" if labels.ndim or labels.dtype.kind != "O" else f"type {type(y).__name__}"
        msg = f"y has {got}; expected one label per explained row, ({n_rows},)."
        raise ValueError(msg)
    check_unmasked(y, "y")
    return labels


def _position(label: Any, classes: tuple[Any, ...], aliases: tuple[str, ...] | None) -> int:
    for names in (classes, aliases or ()):
        for position, known in enumerate(names):
            if known == label:
                return position
    others = "" if aliases is None else f", nor one of output_names {list(aliases)}"
    msg = f"y holds {label!r}, which is none of the model's classes {list(classes)}{others}."
    raise ValueError(msg)


def _numbers(labels: NDArray[Any]) -> NDArray[np.float64]:
    try:
        if labels.dtype.kind not in "fiubO" or any(isinstance(label, str | bytes) for label in labels.tolist()):
            raise TypeError  # noqa: TRY301 - one message for whatever is no number
        numbers = np.asarray(labels, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"y has dtype {labels.dtype} and the model names no classes; pass numbers (0 and 1 for a binary label)."
        raise TypeError(msg) from error
    if not np.isfinite(numbers).all():
        msg = "y holds NaN or infinity; every explained row needs a label."
        raise ValueError(msg)
    return numbers
