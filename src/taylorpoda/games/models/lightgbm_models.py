"""LightGBM: the scikit-learn interface, and native boosters."""

from __future__ import annotations

from functools import partial
from typing import Any

from taylorpoda.games.models.base import Kind, Quantity, class_labels
from taylorpoda.games.models.boosted import is_a, margin_keywords, own_names
from taylorpoda.games.models.sklearn_models import SklearnAdapter, is_classifier


class LightGBMSklearnAdapter(SklearnAdapter):
    """LGBMRegressor, LGBMClassifier, LGBMRanker."""

    def matches(self, model: Any) -> bool:
        """Whether some class of it comes from lightgbm.sklearn."""
        return is_a(model, "lightgbm.sklearn", "LGBMModel")

    def margin(self, model: Any) -> Quantity:
        """`predict(raw_score=True)`."""
        classes = class_labels(model.classes_) if is_classifier(model) else None
        return Quantity(
            partial(model.predict, **(margin_keywords(model) or {})),
            f"{type(model).__name__}.predict(raw_score=True)",
            kind="margin" if classes is not None else "value",
            classes=classes,
            feature_names=self.names(model),
        )

    def names(self, model: Any) -> tuple[str, ...] | None:
        """The names it was fitted with; LightGBM numbers the columns of an array itself."""
        return own_names(getattr(model, "feature_name_", None))


class LightGBMBoosterAdapter:
    """`lightgbm.Booster`: what its `predict` returns."""

    def matches(self, model: Any) -> bool:
        """Whether it is a native booster."""
        return is_a(model, "lightgbm.basic", "Booster")

    def quantity(self, model: Any, *, raw: bool) -> Quantity:
        """`predict`, or `predict(raw_score=True)` if `raw`."""
        objective = _objective(model)
        classes: tuple[int, ...] | None = None
        if objective == "binary":
            classes = (0, 1)
        elif objective in {"multiclass", "multiclassova"}:
            classes = tuple(range(int(model.num_model_per_iteration())))
        probability = objective == "cross_entropy" or classes is not None
        kind: Kind = ("margin" if raw else "probability") if probability else "value"
        return Quantity(
            partial(model.predict, raw_score=True) if raw else model.predict,
            "Booster.predict(raw_score=True)" if raw else "Booster.predict",
            kind=kind,
            classes=classes,
            feature_names=own_names(model.feature_name()),
        )


def _objective(model: Any) -> str:
    """The objective as the model text has it; "" for a custom one."""
    for line in model.model_to_string(num_iteration=1).splitlines():
        if line.startswith("objective="):
            return str(line.removeprefix("objective=").split(" ")[0])
        if line.startswith("Tree="):
            break
    return ""
