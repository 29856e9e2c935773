"""scikit-learn estimators and pipelines, and whatever follows their manners."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from taylorpoda.games.models.base import Quantity, class_labels
from taylorpoda.games.models.boosted import is_a, margin_keywords, speaks_as

# scikit-learn's boosted regressors: of one every loss has the identity link, of the other "poisson" and "gamma" not.
_BOOSTING = ("sklearn.ensemble._gb", "GradientBoostingRegressor")
_HISTOGRAM = ("sklearn.ensemble._hist_gradient_boosting.gradient_boosting", "HistGradientBoostingRegressor")


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
    return _layers(model)[-1]


def _layers(model: Any) -> list[Any]:
    """The model, what it hands its rows to if it is a pipeline or a finished search, and so on."""
    best = getattr(model, "best_estimator_", None)
    if best is not None:
        return [model, *_layers(best)]
    steps = getattr(model, "steps", None)
    if isinstance(steps, list) and steps and callable(getattr(model, "predict", None)):
        return [model, *_layers(steps[-1][1])]
    return [model]


@dataclass(frozen=True)
class RawPrediction:
    """The sum of leaves of scikit-learn's histogram boosting, before the inverse link that its predict applies.

    Attributes:
        steps: What transforms the rows before it: pipelines and the like, outermost first.
        last: The regressor.
    """

    steps: tuple[Any, ...]
    last: Any

    def __call__(self, rows: Any) -> Any:
        """The margin, (m,)."""
        for step in self.steps:
            rows = step.transform(rows)
        return self.last._raw_predict(rows).ravel()  # noqa: SLF001 - scikit-learn has no public name for it


def _unwrapped(model: Any) -> Any:
    """The estimator that finished searches and frozen wrappers of scikit-learn hand everything to."""
    if not type(model).__module__.startswith("sklearn."):
        return model
    if getattr(model, "best_estimator_", None) is not None:
        return _unwrapped(model.best_estimator_)
    return _unwrapped(model.estimator) if type(model).__name__ == "FrozenEstimator" else model


def _raw_prediction(model: Any) -> RawPrediction | None:
    """What gives the margin of scikit-learn's histogram boosting; None where that is not known."""
    last, steps = _unwrapped(model), []
    while type(last).__module__ == "sklearn.pipeline" and type(last).__name__ == "Pipeline":
        *before, (_, end) = last.steps
        steps += [step for _, step in before if step not in (None, "passthrough")]
        last = _unwrapped(end)
    return RawPrediction(tuple(steps), last) if is_a(last, *_HISTOGRAM) else None


def _predicts_margin(model: Any) -> bool:
    """Whether what a regressor predicts is the margin: no link but the identity, and no predict of its own."""
    *before, last = _layers(model)
    # A pipeline of someone else's may do more than hand on what its last step says; that of imblearn does not.
    if not all(any(speaks_as(layer, library, "predict") for library in ("sklearn", "imblearn")) for layer in before):
        return False
    linked = not is_a(last, *_BOOSTING)
    if is_a(last, *_HISTOGRAM):
        linked = type(last._loss.link).__name__ != "IdentityLink"  # noqa: SLF001 - custom losses have no public name
    return not linked and speaks_as(last, "sklearn", "predict")


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
            return self._margin_of_regressor(model, keywords)
        name = f"{kind}.predict({', '.join(f'{k}={v!r}' for k, v in keywords.items())})" if keywords else None
        return Quantity(
            # A search's own predict takes no keywords.
            partial(_unwrapped(model).predict, **keywords) if keywords else model.decision_function,
            name or f"{kind}.decision_function",
            kind="margin",
            classes=class_labels(model.classes_),
            feature_names=self.names(model),
        )

    def _margin_of_regressor(self, model: Any, keywords: dict[str, Any] | None) -> Quantity:
        """What a regressor adds up: its predict may be a function of it, such as the exponential one."""
        kind = type(model).__name__
        if keywords:
            name = f"{kind}.predict({', '.join(f'{k}={v!r}' for k, v in keywords.items())})"
            predict = partial(_unwrapped(model).predict, **keywords)  # a search's own takes no keywords
            return Quantity(predict, name, feature_names=self.names(model))
        if _predicts_margin(model):
            return Quantity(model.predict, f"{kind}.predict", feature_names=self.names(model))
        raw = _raw_prediction(model)
        if raw is None:
            msg = (
                f'output="raw" is the untransformed margin, and how {kind} gives the one of '
                f"{type(last_step(model)).__name__} is not known. Use output=None for what its predict returns, or "
                "pass a callable that returns the margin."
            )
            raise ValueError(msg)
        return Quantity(raw, f"{kind}._raw_predict", feature_names=self.names(model), library="sklearn")

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
