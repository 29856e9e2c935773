"""CatBoost: the scikit-learn style estimators, and plain `CatBoost` models."""

from __future__ import annotations

from functools import partial
from typing import Any

from taylorpoda.games.models.base import Quantity, class_labels
from taylorpoda.games.models.boosted import is_a, margin_keywords, own_names
from taylorpoda.games.models.sklearn_models import SklearnAdapter


class CatBoostAdapter(SklearnAdapter):
    """CatBoostClassifier gives probabilities, the others what their `predict` gives: of CatBoost, the margin."""

    def matches(self, model: Any) -> bool:
        """Whether some class of it is catboost.CatBoost."""
        return is_a(model, "catboost.core", "CatBoost")

    def quantity(self, model: Any, *, raw: bool) -> Quantity:
        """What its `predict` returns, which of plain `CatBoost` is the margin; probabilities of a classifier."""
        styled = is_a(model, "catboost.core", "CatBoostClassifier") or is_a(model, "catboost.core", "CatBoostRegressor")
        return super().quantity(model, raw=raw) if styled else self.margin(model, raw=raw)

    def margin(self, model: Any, *, raw: bool = True) -> Quantity:
        """`predict(prediction_type="RawFormulaVal")`, the default of plain `CatBoost`."""
        classes = class_labels(model.classes_) if len(model.classes_) else None
        keywords = (margin_keywords(model) or {}) if raw else {}
        kind = type(model).__name__
        return Quantity(
            partial(model.predict, **keywords),
            f'{kind}.predict(prediction_type="RawFormulaVal")' if keywords else f"{kind}.predict",
            kind="margin" if classes is not None else "value",
            classes=classes,
            feature_names=self.names(model),
        )

    def names(self, model: Any) -> tuple[str, ...] | None:
        """The names it was fitted with; CatBoost numbers the columns of an array itself."""
        return own_names(model.feature_names_)
