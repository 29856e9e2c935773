"""scikit-learn pipelines that end in a tree ensemble: what is explained are the columns that enter the pipeline.

Trees read the transformed columns. The game is still one of the input columns as long as every transformed column is
computed from a single one of them; a step of which this is not known (a projection, an imputer that looks at
neighbors) is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.dividends.trees.ensemble import Ensemble, UnsupportedTreesError
from taylorpoda.dividends.trees.readers.origin import check_unchanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")


def _is(model: Any, *names: str) -> bool:
    kind = type(model)
    return kind.__module__.startswith("sklearn.") and kind.__name__ in names


def unwrapped(model: Any) -> Any:
    """The estimator a finished search or a frozen wrapper predicts with; else the model itself.

    Raises:
        UnsupportedTreesError: If the search or the wrapper was changed to predict otherwise.
    """
    if _is(model, *_SEARCHES, "FrozenEstimator"):
        check_unchanged(model)
    if _is(model, *_SEARCHES) and hasattr(model, "best_estimator_"):
        return unwrapped(model.best_estimator_)
    return unwrapped(model.estimator) if _is(model, "FrozenEstimator") else model


def matches(model: Any) -> bool:
    """Whether it is scikit-learn's own pipeline."""
    return _is(model, "Pipeline")


def steps_of(model: Any) -> list[Any]:
    """The steps of a pipeline that do something, the estimator last."""
    *before, last = (step for _, step in model.steps)
    return [step for step in before if step not in (None, "passthrough")] + [last]


def behind(steps: list[Any], inner: Ensemble, model: Any) -> Ensemble:
    """An ensemble as a game of the columns that enter these steps.

    Args:
        steps: Fitted transformers.
        inner: The ensemble that reads what they return.
        model: The pipeline.

    Raises:
        UnsupportedTreesError: If a transformed column may depend on several input columns.
    """
    raw = None if inner.raw is None else behind(steps, inner.raw, model)
    if not steps:
        return replace(inner, source=f"{type(model).__name__} of {inner.source}", raw=raw)
    n_features = _width_in(model, steps[0])
    origins = np.arange(n_features)
    for step in steps:
        origins = origins[_origins(step, len(origins))]
    if len(origins) != inner.n_features:
        msg = f"its steps return {len(origins)} columns as read, but its trees take {inner.n_features}."
        raise UnsupportedTreesError(msg)
    # XGBoost takes entries a sparse matrix does not store as missing, all others as 0.
    absent = np.nan if "XGB" in inner.source or "Booster, objective" in inner.source else 0.0
    return replace(
        inner,
        feature_of_column=origins[inner.feature_of_column].astype(np.int32),
        n_features=n_features,
        encoder=_Encoder(tuple(steps), inner.encoder, absent),
        source=f"{type(model).__name__} of {inner.source}",
        raw=raw,
    )


def _width_in(model: Any, first: Any) -> int:
    for holder in (model, first):
        width = getattr(holder, "n_features_in_", None)
        if width is not None:
            return int(width)
    msg = f"{type(first).__name__} does not say how many columns it takes."
    raise UnsupportedTreesError(msg)


@dataclass(frozen=True)
class _Encoder:
    """Rows through the steps, then through the ensemble's own encoder."""

    steps: tuple[Any, ...]
    inner: Any
    absent: float

    def encode(self, rows: Any) -> NDArray[np.float64]:
        """The columns, shape (columns, rows)."""
        table = rows
        for step in self.steps:
            table = step.transform(table)
        if hasattr(table, "tocoo"):
            stored = table.tocoo()
            table = np.full(stored.shape, self.absent, dtype=stored.dtype)
            table[stored.row, stored.col] = stored.data
        return np.asarray(self.inner.encode(table))


def _origins(step: Any, width: int) -> NDArray[np.int64]:
    """For each column a fitted transformer returns, the one of its input columns it is computed from."""
    if step in ("drop", None):
        return np.zeros(0, dtype=np.int64)
    if isinstance(step, str):
        return np.arange(width)
    check_unchanged(step)
    name = type(step).__name__
    handler = _HANDLERS.get(name)
    if handler is None or not _is(step, name):
        msg = (
            f"its step {name} is not known to compute each column from a single one, so its trees make no game of the "
            "pipeline's input columns; explain the last step on transformed rows, or choose another engine."
        )
        raise UnsupportedTreesError(msg)
    return np.asarray(handler(step, width), dtype=np.int64)


def _same(step: Any, width: int) -> NDArray[np.int64]:
    del step
    return np.arange(width)


def _function(step: Any, width: int) -> NDArray[np.int64]:
    function = step.func
    plain = isinstance(function, np.ufunc) and function.signature is None and function.nin == function.nout == 1
    if function is None or (plain and not step.kw_args):  # a ufunc with a signature works on whole rows
        return np.arange(width)
    msg = (
        f"its step FunctionTransformer calls {getattr(function, '__name__', function)!r}, which may mix columns; "
        "a NumPy function of one number such as np.log1p is known not to."
    )
    raise UnsupportedTreesError(msg)


def _simple_imputer(step: Any, width: int) -> NDArray[np.int64]:
    statistics = np.asarray(step.statistics_)
    empty = np.array([value is None or value != value for value in statistics.tolist()], dtype=np.bool_)  # noqa: PLR0124 - NaN
    kept = np.arange(width) if step.strategy == "constant" or step.keep_empty_features else np.flatnonzero(~empty)
    return np.concatenate([kept, step.indicator_.features_]) if step.add_indicator else kept


def _one_hot(step: Any, width: int) -> NDArray[np.int64]:
    return np.repeat(np.arange(width), step._n_features_outs)  # noqa: SLF001 - names alone can be ambiguous


def _bins(step: Any, width: int) -> NDArray[np.int64]:
    return np.arange(width) if step.encode == "ordinal" else _one_hot(step._encoder, width)  # noqa: SLF001 - scikit-learn has no public name for it


def _target(step: Any, width: int) -> NDArray[np.int64]:
    per_column = len(step.classes_) if step.target_type_ == "multiclass" else 1
    return np.repeat(np.arange(width), per_column)


def _selected(step: Any, width: int) -> NDArray[np.int64]:
    del width
    return np.asarray(step.get_support(indices=True))


def _indicator(step: Any, width: int) -> NDArray[np.int64]:
    del width
    return np.asarray(step.features_)


def _chain(step: Any, width: int) -> NDArray[np.int64]:
    origins = np.arange(width)
    for _, inner in step.steps:
        if inner is not None:
            origins = origins[_origins(inner, len(origins))]
    return origins


def _union(step: Any, width: int) -> NDArray[np.int64]:
    parts = [_origins(inner, width) for _, inner in step.transformer_list]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _columns(step: Any, width: int) -> NDArray[np.int64]:
    spans = step.output_indices_
    result = np.full(max((span.stop for span in spans.values()), default=0), -1, dtype=np.int64)
    for name, inner, _ in step.transformers_:
        taken = np.asarray(step._transformer_to_input_indices[name], dtype=np.int64)  # noqa: SLF001 - names, numbers, masks
        span = spans[name]
        if span.stop > span.start:
            result[span] = taken[_origins(inner, len(taken))]
    del width
    return result


_HANDLERS: dict[str, Callable[[Any, int], NDArray[np.int64]]] = {
    **dict.fromkeys(
        (
            "StandardScaler",
            "MinMaxScaler",
            "MaxAbsScaler",
            "RobustScaler",
            "QuantileTransformer",
            "PowerTransformer",
            "Binarizer",
            "OrdinalEncoder",
        ),
        _same,
    ),
    **dict.fromkeys(
        (
            "VarianceThreshold",
            "SelectKBest",
            "SelectPercentile",
            "SelectFpr",
            "SelectFdr",
            "SelectFwe",
            "GenericUnivariateSelect",
            "SelectFromModel",
            "RFE",
            "RFECV",
            "SequentialFeatureSelector",
        ),
        _selected,
    ),
    "FunctionTransformer": _function,
    "SimpleImputer": _simple_imputer,
    "OneHotEncoder": _one_hot,
    "KBinsDiscretizer": _bins,
    "TargetEncoder": _target,
    "MissingIndicator": _indicator,
    "Pipeline": _chain,
    "FeatureUnion": _union,
    "ColumnTransformer": _columns,
}
