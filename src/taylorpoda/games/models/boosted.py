"""What the adapters of the boosting libraries share: recognition without an import, names worth showing, margins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

# How each library's scikit-learn style `predict` is asked for the untransformed margin.
_XGBOOST = {"output_margin": True}
_LIGHTGBM = {"raw_score": True}
_CATBOOST = {"prediction_type": "RawFormulaVal"}

# Names the libraries make up for arrays: f0, Column_0, 0, x0.
_MADE_UP = re.compile(r"(?:f|x|Column_)?(\d+)")


def is_a(model: Any, module: str, name: str) -> bool:
    """Whether a class of `model` is `module.name`; imports nothing."""
    return any(base.__module__ == module and base.__name__ == name for base in type(model).__mro__)


def speaks_as(model: Any, library: str, *methods: str) -> bool:
    """Whether these methods of a model are those that a class of the library defines.

    Asked of the place of each in the classes, not of what it says about itself: `functools.wraps` copies that.

    Args:
        model: The model.
        library: The top package of the library.
        *methods: Their names; those a model does not have are passed over.

    Returns:
        False where one is replaced on the instance, or overridden by a subclass from elsewhere.
    """
    for method in methods:
        if method in getattr(model, "__dict__", {}):
            return False
        definer = next((base for base in type(model).__mro__ if method in vars(base)), None)
        if definer is not None and definer.__module__.split(".")[0] != library:
            return False
    return True


def margin_keywords(estimator: Any) -> dict[str, Any] | None:
    """The keywords by which `estimator.predict` gives the margin; None if it is of none of the three libraries."""
    if is_a(estimator, "xgboost.sklearn", "XGBModel"):
        return dict(_XGBOOST)
    if is_a(estimator, "lightgbm.sklearn", "LGBMModel"):
        return dict(_LIGHTGBM)
    if is_a(estimator, "catboost.core", "CatBoost"):
        return dict(_CATBOOST)
    return None


def own_names(names: Sequence[Any] | None) -> tuple[str, ...] | None:
    """Feature names that came from the user; None for those a library numbered itself."""
    if names is None or len(names) == 0:
        return None
    texts = tuple(map(str, names))
    numbered = [_MADE_UP.fullmatch(text) for text in texts]
    if all(match is not None and int(match[1]) == k for k, match in enumerate(numbered)):
        return None
    return texts
