"""XGBoost through its scikit-learn interface."""

from __future__ import annotations

from functools import partial
from typing import Any

from taylorpoda.games.models.base import Quantity, class_labels
from taylorpoda.games.models.sklearn_models import SklearnAdapter, is_classifier, names_of


class XGBoostSklearnAdapter(SklearnAdapter):
    """XGBRegressor, XGBClassifier, XGBRFRegressor, XGBRanker, ..."""

    def matches(self, model: Any) -> bool:
        """Whether some class of it comes from xgboost.sklearn."""
        return any(base.__module__ == "xgboost.sklearn" and base.__name__ == "XGBModel" for base in type(model).__mro__)

    def margin(self, model: Any) -> Quantity:
        """`predict(output_margin=True)`."""
        kind = type(model).__name__
        classes = class_labels(model.classes_) if is_classifier(model) else None

        return Quantity(
            partial(model.predict, output_margin=True),
            f"{kind}.predict(output_margin=True)",
            kind="margin" if classes is not None else "value",
            classes=classes,
            feature_names=names_of(model),
        )
