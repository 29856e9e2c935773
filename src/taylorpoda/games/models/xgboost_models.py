"""XGBoost: the scikit-learn interface, and native boosters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

from taylorpoda._support.optional import require
from taylorpoda.games.models.base import Kind, Quantity, class_labels
from taylorpoda.games.models.boosted import is_a, margin_keywords, own_names
from taylorpoda.games.models.sklearn_models import SklearnAdapter, is_classifier, names_of

_PROBABILITIES = {"binary:logistic", "reg:logistic", "multi:softprob"}
_ONE_CLASS_OF_TWO = {"binary:logistic", "binary:logitraw"}
_MANY_CLASSES = {"multi:softprob", "multi:softmax"}


class XGBoostSklearnAdapter(SklearnAdapter):
    """XGBRegressor, XGBClassifier, XGBRFRegressor, XGBRanker, ..."""

    def matches(self, model: Any) -> bool:
        """Whether some class of it comes from xgboost.sklearn."""
        return is_a(model, "xgboost.sklearn", "XGBModel")

    def margin(self, model: Any) -> Quantity:
        """`predict(output_margin=True)`."""
        kind = type(model).__name__
        classes = class_labels(model.classes_) if is_classifier(model) else None

        return Quantity(
            partial(model.predict, **(margin_keywords(model) or {})),
            f"{kind}.predict(output_margin=True)",
            kind="margin" if classes is not None else "value",
            classes=classes,
            feature_names=names_of(model),
        )


class XGBoostBoosterAdapter:
    """`xgboost.Booster`: what its `predict` returns on a DMatrix of the rows."""

    def matches(self, model: Any) -> bool:
        """Whether it is a native booster."""
        return is_a(model, "xgboost.core", "Booster")

    def quantity(self, model: Any, *, raw: bool) -> Quantity:
        """`predict`, or `predict(output_margin=True)` if `raw`."""
        learner = json.loads(model.save_config())["learner"]
        objective = str(learner["objective"]["name"])
        classes: tuple[int, ...] | None = None
        if objective in _ONE_CLASS_OF_TWO:
            classes = (0, 1)
        elif objective in _MANY_CLASSES and (raw or objective != "multi:softmax"):
            classes = tuple(range(int(learner["learner_model_param"]["num_class"])))
        kind: Kind = "value"
        if objective == "binary:logitraw" or (raw and classes is not None):
            kind = "margin"
        elif not raw and objective in _PROBABILITIES:
            kind = "probability"
        return Quantity(
            BoosterPrediction(model, margin=raw),
            "Booster.predict(output_margin=True)" if raw else "Booster.predict",
            kind=kind,
            classes=classes,
            feature_names=own_names(model.feature_names),
            library="xgboost",
        )


@dataclass(frozen=True)
class BoosterPrediction:
    """Rows to a DMatrix to predictions.

    Attributes:
        booster: The native booster.
        margin: Whether the untransformed margin is wanted.
    """

    booster: Any
    margin: bool

    def __call__(self, rows: Any) -> Any:
        """Predict; columns without names of their own take the booster's."""
        xgboost = require("xgboost", "xgboost", "a Booster")
        names, types = self.booster.feature_names, self.booster.feature_types
        if hasattr(rows, "columns"):
            matrix = xgboost.DMatrix(rows, enable_categorical=True)
            if names is None:
                matrix.feature_names = matrix.feature_types = None
        else:
            matrix = xgboost.DMatrix(rows, feature_names=names, feature_types=types, enable_categorical=True)
        expected = self.booster.num_features()
        if matrix.num_col() != expected:  # XGBoost would read absent columns as missing without a word
            msg = f"the rows have {matrix.num_col()} columns, but the Booster reads {expected}."
            raise ValueError(msg)
        return self.booster.predict(matrix, output_margin=self.margin)
