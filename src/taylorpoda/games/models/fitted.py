"""Whether a model has been fitted: asked before anything else is, so that the error says so."""

from __future__ import annotations

import sys
from typing import Any

from taylorpoda.games.models.boosted import is_a
from taylorpoda.games.models.sklearn_models import last_step

# Estimators from elsewhere may keep what they learned in ways that scikit-learn's check does not see.
_CHECKED = frozenset({"sklearn", "xgboost", "lightgbm"})


def check_fitted(model: Any) -> None:
    """Refuse a model that has not been fitted, where its library tells.

    Raises:
        ValueError: If it has not.
    """
    if not _is_fitted(last_step(model)):
        msg = f"model={type(model).__name__} is not fitted; allowed: a model after its fit, or one that was loaded."
        raise ValueError(msg)


def _is_fitted(last: Any) -> bool:
    if is_a(last, "catboost.core", "CatBoost"):
        return bool(last.is_fitted())
    if is_a(last, "xgboost.core", "Booster"):
        try:
            return int(last.num_features()) > 0
        except Exception:  # noqa: BLE001 - XGBoost's own error has no other base, and is what an empty booster gives
            return False
    validation = sys.modules.get("sklearn.utils.validation")
    home = type(last).__module__.split(".", maxsplit=1)[0]
    if validation is None or home not in _CHECKED or not hasattr(last, "fit"):
        return True
    try:
        validation.check_is_fitted(last)
    except sys.modules["sklearn.exceptions"].NotFittedError:
        return False
    return True
