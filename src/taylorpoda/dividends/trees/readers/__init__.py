"""One reader per library: from a fitted model to an `Ensemble`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taylorpoda._support.display import one_line
from taylorpoda.dividends.trees.ensemble import Ensemble, NoTreesError, UnsupportedTreesError
from taylorpoda.dividends.trees.readers import (
    catboost_reader,
    hist_reader,
    lightgbm_reader,
    pipeline_reader,
    sklearn_reader,
    xgboost_reader,
)
from taylorpoda.dividends.trees.readers.origin import check_unchanged

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
_LONGEST = 400  # the most that is quoted of an error


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
    try:
        return _read(model)
    except (UnsupportedTreesError, ImportError, MemoryError):
        raise
    except Exception as error:  # what a reader takes for granted of a library may not hold of every model and version
        said = f"{type(error).__name__}: {one_line(error, _LONGEST)}"
        msg = f"{type(model).__name__} could not be read as trees ({said})."
        raise UnsupportedTreesError(msg) from error


def _read(model: Any) -> Ensemble:
    found = pipeline_reader.unwrapped(model)
    check_unchanged(found)
    if pipeline_reader.matches(found):
        *steps, last = pipeline_reader.steps_of(found)
        return pipeline_reader.behind(steps, _read(last), found)
    for reader in _READERS:
        if reader.matches(found):
            return reader.read(found)
    msg = f"{type(found).__name__} is not a tree ensemble of XGBoost, LightGBM, CatBoost or scikit-learn."
    raise NoTreesError(msg)
