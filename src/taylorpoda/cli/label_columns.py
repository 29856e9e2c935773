"""The column of labels against the model's classes: what compares with labels needs them to be those."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taylorpoda.cli.errors import InputError
from taylorpoda.games.models import bind_model
from taylorpoda.utilities import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taylorpoda.explanation import Explanation


def usable_labels(model: Any, labels: Any, names: list[str] | None, utility: str, target: str | None) -> Any:
    """The labels if the utility reads them, or if they are the model's classes; else None: they would serve nothing.

    Raises:
        InputError: If the utility reads them and they are not the model's classes.
    """
    if labels is None:
        return None
    classes = bind_model(model).quantity.classes
    strange = _strange(labels, classes, names)
    if not resolve(utility).needs_target:
        return None if classes is None or strange else labels
    if classes is not None and strange:
        msg = f"utility={utility!r} compares with the labels, but {_told(target, strange, classes)}."
        raise InputError(msg)
    return labels


def unread_labels(explanation: Explanation, labels: Any, target: str | None) -> str | None:
    """Why labels that were named serve nothing, where the model has classes and they are others; else None."""
    rule = explanation.subject.labels
    if labels is None or explanation.subject.target is not None or rule.classes is None:
        return None
    strange = _strange(labels, rule.classes, rule.aliases)
    return f"nothing is compared with the labels: {_told(target, strange, rule.classes)}" if strange else None


def _strange(labels: Any, classes: tuple[Any, ...] | None, names: Iterable[str] | None) -> list[Any]:
    """The labels that are none of the classes, nor names given to them."""
    known = {*(classes or ()), *(names or ())}
    return [label for label in dict.fromkeys(labels.tolist()) if label not in known]


def _told(target: str | None, strange: list[Any], classes: tuple[Any, ...]) -> str:
    return f"--target {target} holds {strange[0]!r}, which is none of the model's classes {list(classes)}"
