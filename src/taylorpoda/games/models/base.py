"""The seam for models: an adapter says what is predicted, a bound model predicts it, checked and counted."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from taylorpoda._support.display import one_line
from taylorpoda.games.models.culprit import failing_row
from taylorpoda.games.models.output import GameError, as_outputs, names_in
from taylorpoda.games.models.selection import find_output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

Kind = Literal["value", "probability", "margin"]
# The most that is quoted of a model's own error, which is chained whole.
_LONGEST = 800


@dataclass(frozen=True)
class Quantity:
    """What an adapter says a model predicts.

    Attributes:
        predict: Rows in the native container to (m,), (m, 1) or (m, outputs).
        name: How provenance names it, e.g. "XGBClassifier.predict_proba".
        kind: "probability" and "value" are labelled by > 0.5 in the AUC utilities, "margin" by > 0.
        classes: The class of each output, if the outputs are classes (both classes of a binary margin too).
        output_names: Names of outputs that are not classes, or other names for the classes.
        feature_names: The columns the model was fitted with, where it knows them.
        library: The distribution whose version provenance records; None where `predict` tells.
        late_classes: Asked after the first answer, for models that name their classes only in what they
            answer.
        dear_calls: Whether a call costs much besides its rows, as of trees; see `call_cost`.
    """

    predict: Callable[[Any], Any]
    name: str
    kind: Kind = "value"
    classes: tuple[Any, ...] | None = None
    output_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    library: str | None = None
    late_classes: Callable[[], tuple[Any, ...] | None] | None = None
    dear_calls: bool = False


class ModelAdapter(Protocol):
    """One library's models."""

    def matches(self, model: Any) -> bool:
        """Whether this adapter reads `model`; must not import the library."""
        ...

    def quantity(self, model: Any, *, raw: bool) -> Quantity:
        """What is predicted: the model's usual answer, or the untransformed margin if `raw`."""
        ...


class BoundModel:
    """A model bound to the outputs that are explained: native rows in, float64 (m, outputs) out.

    Args:
        quantity: What the adapter says.
        output: None for every output, or one class, name or index.
        link: None or "logit".
    """

    def __init__(self, quantity: Quantity, *, output: Any = None, link: str | None = None) -> None:
        self.quantity = quantity
        self.link = link
        self.rows_evaluated = 0
        self.calls = 0
        self._lock = threading.Lock()
        self._listener: Callable[[int], None] | None = None
        self._output = output
        self._selected: int | None = None
        self._width: int | None = None
        if output is not None and (quantity.classes is not None or quantity.output_names is not None):
            self._selected = find_output(output, quantity.classes, quantity.output_names)

    @property
    def name(self) -> str:
        """What is explained, in words."""
        inner = self.quantity.name
        return f"logit({inner})" if self.link == "logit" else inner

    @property
    def threshold(self) -> float:
        """The value above which the AUC utilities say 1: 0 for margins and log-odds, else 0.5."""
        return 0.0 if self.link == "logit" or self.quantity.kind == "margin" else 0.5

    @property
    def called(self) -> bool:
        """Whether it has answered once, so that the number of outputs is known."""
        return self._width is not None

    @property
    def single(self) -> bool:
        """Whether one output is explained, so results have no outputs axis. Known after the first call."""
        return self._output is not None or self._width == 1

    @property
    def selected(self) -> int | None:
        """The index of the one output the user picked, or None."""
        return self._selected

    @property
    def competing(self) -> bool:
        """Whether calls give every class, of which the largest is the label.

        Also when one of three or more classes was picked: its rivals decide the label all the same, so the
        answer is the slice of what explaining every class gives. Under link="logit" a picked class stands
        alone.
        """
        several = self._width is not None and self._width > 1 and self.quantity.classes is not None
        return several and (self._selected is None or (self.link is None and self._width != 2))

    @property
    def n_outputs(self) -> int:
        """How many columns a call gives; known after the first call."""
        if self._width is None:
            msg = "the model has not been called yet"
            raise RuntimeError(msg)
        return 1 if self._output is not None and not self.competing else self._width

    @property
    def explained(self) -> NDArray[np.intp]:
        """Which columns of a call are explained."""
        if self._selected is not None and self.competing:
            return np.array([self._selected])
        return np.arange(self.n_outputs)

    @property
    def output_names(self) -> tuple[str, ...] | None:
        """One name per explained output, or None where a single output has none."""
        classes, known = self.quantity.classes, self.quantity.output_names
        if known is None and classes is not None:
            known = tuple(str(c) for c in classes)
        if self._selected is not None:
            return (known[self._selected],) if known is not None else (str(self._selected),)
        if self.single:
            return None
        return known if known is not None else tuple(str(k) for k in range(self.n_outputs))

    @contextmanager
    def heard_by(self, listener: Callable[[int], None]) -> Iterator[None]:
        """Tell `listener` how many rows each call holds, for a progress bar."""
        self._listener = listener
        try:
            yield
        finally:
            self._listener = None

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the lock, so that an explainer pickles if its model does."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_listener")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
        self._listener = None

    def __call__(self, rows: Any, n_rows: int, where: Callable[[int], str] | None = None) -> NDArray[np.float64]:
        """Predict, check and count.

        Args:
            rows: The native container.
            n_rows: How many rows it holds.
            where: Describes the k-th row (explained row and coalition) for messages.

        Returns:
            Shape (n_rows, n_outputs).

        Raises:
            GameError: If the model raises; its error is chained.
            ValueError: If the answer has a wrong shape, NaN or infinity.
        """
        try:
            raw = self._ask(rows, n_rows)
        except Exception as error:
            place = self._place_of(error, rows, n_rows, where)
            said = f": {one_line(error, _LONGEST)}" if str(error).strip() else ""
            hint = _hint(rows, self.quantity.feature_names)
            msg = f"the model {self.quantity.name} raised {type(error).__name__}{place}{said}{hint}"
            raise GameError(msg) from error
        outputs, _ = as_outputs(raw, n_rows, f"the model {self.quantity.name}")
        self._settle(outputs, raw)
        if self._selected is not None and not self.competing:
            # One number stands for the second of two classes.
            column = 0 if outputs.shape[1] == 1 else self._selected
            outputs = outputs[:, column : column + 1]
        self._check_finite(outputs, where)
        return self._linked(outputs, where) if self.link == "logit" else outputs

    def _ask(self, rows: Any, n_rows: int) -> Any:
        with self._lock:
            self.rows_evaluated += n_rows
            self.calls += 1
        if self._listener is not None:
            self._listener(n_rows)
        return self.quantity.predict(rows)

    def _place_of(self, error: Exception, rows: Any, n_rows: int, where: Callable[[int], str] | None) -> str:
        """Which row an error comes from, or at least where its batch begins."""
        if where is None or not n_rows:
            return ""
        row = failing_row(self._ask, rows, n_rows, type(error))
        return f" on {where(row)}" if row is not None else f" (the first of its {n_rows} rows is {where(0)})"

    def _settle(self, outputs: NDArray[np.float64], raw: Any) -> None:
        width = outputs.shape[1]
        with self._lock:
            if self._width is None:
                self._first_answer(width, raw)
            if width != self._width:
                msg = f"the model {self.quantity.name} gave {width} outputs, but {self._width} before."
                raise ValueError(msg)

    def _first_answer(self, width: int, raw: Any) -> None:
        """Learn how many outputs there are, and what the user meant by `output` if that was open till now."""
        if self.quantity.classes is None and self.quantity.late_classes is not None:
            self.quantity = replace(self.quantity, classes=self.quantity.late_classes())
        if self.quantity.classes is None and self.quantity.output_names is None:
            self.quantity = replace(self.quantity, output_names=names_in(raw))
        classes, names = self.quantity.classes, self.quantity.output_names
        for parameter, known in (("classes", classes), ("output_names", names)):
            if known is not None and len(known) != width and not (width == 1 and len(known) == 2):
                msg = f"the model {self.quantity.name} gave {width} outputs but has {len(known)} {parameter}: {known}."
                raise ValueError(msg)
        if self._output is not None and self._selected is None:
            known = names if names is not None else tuple(range(width))
            self._selected = find_output(self._output, classes, known)
        if width == 1 and self._selected == 0 and len(classes or names or ()) == 2:
            known = names if names is not None else classes or ()
            msg = (
                f"output={self._output!r}: the model {self.quantity.name} gives one number, which speaks for "
                f"{known[1]!r}; allowed: None or that class."
            )
            raise ValueError(msg)
        self._width = width

    def _check_finite(self, outputs: NDArray[np.float64], where: Callable[[int], str] | None) -> None:
        if np.isfinite(outputs).all():
            return
        row, column = (int(axis[0]) for axis in np.nonzero(~np.isfinite(outputs)))
        place = where(row) if where is not None else f"row {row}"
        msg = f"the model {self.quantity.name} gave {outputs[row, column]} for {place}; every output must be finite."
        raise ValueError(msg)

    def _linked(self, outputs: NDArray[np.float64], where: Callable[[int], str] | None) -> NDArray[np.float64]:
        inside = (outputs > 0) & (outputs < 1)
        if not inside.all():
            row, column = (int(axis[0]) for axis in np.nonzero(~inside))
            place = where(row) if where is not None else f"row {row}"
            msg = (
                f'link="logit" needs outputs strictly between 0 and 1, but {self.quantity.name} gave '
                f"{float(outputs[row, column])!r} for {place}. Nothing is clipped: use link=None, "
                'or output="raw" for the margin of a boosted ensemble.'
            )
            raise ValueError(msg)
        return np.asarray(np.log(outputs) - np.log1p(-outputs))


def class_labels(classes: Any) -> tuple[Any, ...]:
    """Class labels as plain Python objects."""
    return tuple(label.item() if isinstance(label, np.generic) else label for label in classes)


def _hint(rows: Any, fitted: tuple[str, ...] | None) -> str:
    """What to change where a library may not read the rows it was given: their columns, or their container."""
    columns = getattr(rows, "column_names", getattr(rows, "columns", None))
    names = None if columns is None or fitted is None else [str(name) for name in columns]
    if names is not None and names != list(fitted or ()):
        return (
            f" (it was fitted on the columns {list(fitted or ())[:40]}, but the background has {names[:40]}: pass a "
            "background with the columns of the model)"
        )
    library = type(rows).__module__.split(".")[0]
    if library not in {"polars", "pyarrow", "scipy", "torch"}:
        return ""
    kind = f"{library} {type(rows).__name__}"
    return (
        f" (it was given a {kind}, the kind of the background; if it was fitted on another kind, pass the "
        "background in that kind: the explained rows may stay what they are)"
    )
