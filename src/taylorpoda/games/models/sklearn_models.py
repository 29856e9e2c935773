"""scikit-learn estimators and pipelines, and whatever follows their manners."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from taylorpoda.games.models.base import Quantity, class_labels


def is_classifier(model: Any) -> bool:
    """Whether an estimator classifies, by scikit-learn's own word where it has one."""
    sklearn_base = sys.modules.get("sklearn.base")
    if sklearn_base is not None and isinstance(model, sklearn_base.BaseEstimator):
        return bool(sklearn_base.is_classifier(model))
    return getattr(model, "_estimator_type", None) == "classifier" or hasattr(model, "predict_proba")


def names_of(model: Any) -> tuple[str, ...] | None:
    """The feature names an estimator was fitted with."""
    try:
        names = getattr(model, "feature_names_in_", None)
    except (AttributeError, ValueError, TypeError):
        return None
    return None if names is None else tuple(map(str, names))


class SklearnAdapter:
    """Objects with `predict`: regressors predict, classifiers give probabilities."""

    def matches(self, model: Any) -> bool:
        """Whether it has a `predict` method."""
        return callable(getattr(model, "predict", None)) and not isinstance(model, type)

    def quantity(self, model: Any, *, raw: bool) -> Quantity:
        """`predict` of regressors, `predict_proba` of classifiers, the margin if `raw`."""
        kind = type(model).__name__
        if raw:
            return self.margin(model)
        if not is_classifier(model):
            return Quantity(model.predict, f"{kind}.predict", feature_names=names_of(model))
        if not callable(getattr(model, "predict_proba", None)):
            raise TypeError(self._no_probabilities(model))
        classes = getattr(model, "classes_", None)
        if isinstance(classes, list) or (classes is not None and np.ndim(classes) != 1):
            msg = (
                f"{kind} predicts several targets at once; explain one of them with a callable, "
                "e.g. model=lambda rows: estimator.predict_proba(rows)[0]."
            )
            raise TypeError(msg)
        labels = class_labels(classes) if classes is not None else None
        return Quantity(
            model.predict_proba,
            f"{kind}.predict_proba",
            kind="probability",
            classes=labels,
            feature_names=names_of(model),
        )

    def margin(self, model: Any) -> Quantity:
        """The untransformed margin of a boosted ensemble."""
        kind = type(model).__name__
        boosted = "GradientBoosting" in kind
        if not boosted:
            msg = (
                f'output="raw" is the margin of a boosted ensemble; {kind} has none. Use output=None, or pass a '
                "callable such as model.decision_function."
            )
            raise ValueError(msg)
        if is_classifier(model):
            return Quantity(
                model.decision_function,
                f"{kind}.decision_function",
                kind="margin",
                classes=class_labels(model.classes_),
                feature_names=names_of(model),
            )
        return Quantity(model.predict, f"{kind}.predict", feature_names=names_of(model))

    @staticmethod
    def _no_probabilities(model: Any) -> str:
        kind = type(model).__name__
        ways = []
        if callable(getattr(model, "decision_function", None)):
            ways.append("pass model.decision_function to explain the margin")
        ways.append("wrap it in sklearn.calibration.CalibratedClassifierCV to get probabilities")
        if hasattr(model, "probability"):
            ways.append(f"fit {kind}(probability=True)")
        ways.append("or pass any callable rows -> numbers")
        return f"model={kind} is a classifier without predict_proba; {'; '.join(ways)}."
