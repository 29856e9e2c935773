"""scikit-learn estimators and pipelines, and whatever follows their manners."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

from taylorpoda.games.models.base import Quantity, class_labels
from taylorpoda.games.models.boosted import margin_keywords


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


def last_step(model: Any) -> Any:
    """The estimator behind a pipeline or a finished search; the model itself if it is neither."""
    best = getattr(model, "best_estimator_", None)
    if best is not None:
        return last_step(best)
    steps = getattr(model, "steps", None)
    if isinstance(steps, list) and steps and callable(getattr(model, "predict", None)):
        return last_step(steps[-1][1])
    return model


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
            return Quantity(model.predict, f"{kind}.predict", feature_names=self.names(model))
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
            feature_names=self.names(model),
        )

    def margin(self, model: Any) -> Quantity:
        """The untransformed margin of a boosted ensemble, alone or as the last step of a pipeline."""
        kind = type(model).__name__
        last = last_step(model)
        boosted = "GradientBoosting" in type(last).__name__
        keywords = margin_keywords(last)
        if not boosted and keywords is None:
            msg = (
                f'output="raw" is the margin of a boosted ensemble; {type(last).__name__} has none. Use output=None, '
                "or pass a callable such as model.decision_function."
            )
            raise ValueError(msg)
        if not is_classifier(model):
            predict = partial(model.predict, **keywords) if keywords else model.predict
            return Quantity(predict, f"{kind}.predict", feature_names=self.names(model))
        name = f"{kind}.predict({', '.join(f'{k}={v!r}' for k, v in keywords.items())})" if keywords else None
        return Quantity(
            partial(model.predict, **keywords) if keywords else model.decision_function,
            name or f"{kind}.decision_function",
            kind="margin",
            classes=class_labels(model.classes_),
            feature_names=self.names(model),
        )

    def names(self, model: Any) -> tuple[str, ...] | None:
        """The feature names it was fitted with."""
        return names_of(model)

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
