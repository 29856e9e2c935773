"""One reader per library: from a fitted model to an `Ensemble`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taylorpoda.dividends.trees.ensemble import Ensemble, NoTreesError
from taylorpoda.dividends.trees.readers import (
    catboost_reader,
    hist_reader,
    lightgbm_reader,
    pipeline_reader,
    sklearn_reader,
    xgboost_reader,
)

if TYPE_CHECKING:
    from types import ModuleType

# A new library is one file here plus one line. Each has `matches(model)`, which imports nothing, and `read(model)`.
_READERS: tuple[ModuleType, ...] = (
    xgboost_reader,
    lightgbm_reader,
    catboost_reader,
    hist_reader,
    sklearn_reader,
)


def read_ensemble(model: Any) -> Ensemble:
    """The trees of a fitted model, or of a pipeline that ends in one.

    Args:
        model: An estimator or booster of XGBoost, LightGBM, CatBoost or scikit-learn, a scikit-learn pipeline that
            ends in one, or a finished search over either.

    Returns:
        The ensemble. Its features are the columns the model's predict takes: a pipeline's input columns.

    Raises:
        UnsupportedTreesError: If its outputs are not provably a sum of leaves; the message says why.
        NoTreesError: If it is no tree ensemble at all; a kind of `UnsupportedTreesError`.

    Example:
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> read_ensemble(DecisionTreeRegressor().fit([[0.0], [1.0]], [2.0, 3.0]))
        Ensemble(DecisionTreeRegressor: 1 trees, 3 nodes, 1 outputs)
    """
    found = pipeline_reader.unwrapped(model)
    if pipeline_reader.matches(found):
        *steps, last = pipeline_reader.steps_of(found)
        return pipeline_reader.behind(steps, read_ensemble(last), found)
    for reader in _READERS:
        if reader.matches(found):
            return reader.read(found)
    msg = f"{type(found).__name__} is not a tree ensemble of XGBoost, LightGBM, CatBoost or scikit-learn."
    raise NoTreesError(msg)
