"""Any callable f(rows) -> (m,), (m, 1) or (m, outputs)."""

from __future__ import annotations

from typing import Any

from taylorpoda.games.models.base import Quantity, class_labels


class CallableAdapter:
    """Functions, bound methods and objects with __call__."""

    def matches(self, model: Any) -> bool:
        """Whether it can be called."""
        return callable(model) and not isinstance(model, type)

    def quantity(self, model: Any, *, raw: bool) -> Quantity:
        """What the function returns; a bound predict_proba brings its classes along."""
        name = getattr(model, "__qualname__", type(model).__name__)
        if raw:
            msg = f'output="raw" is the margin of a boosted ensemble; {name} is a plain callable. Use output=None.'
            raise ValueError(msg)
        owner = getattr(model, "__self__", None)
        method = getattr(model, "__name__", "")
        feature_names = getattr(owner, "feature_names_in_", None)
        names = tuple(map(str, feature_names)) if feature_names is not None else None
        classes = getattr(owner, "classes_", None)
        if method == "predict_proba" and classes is not None:
            return Quantity(model, name, kind="probability", classes=class_labels(classes), feature_names=names)
        if method == "decision_function" and classes is not None:
            return Quantity(model, name, kind="margin", classes=class_labels(classes), feature_names=names)
        return Quantity(model, name, feature_names=names)
