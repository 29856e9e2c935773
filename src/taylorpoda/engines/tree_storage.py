"""Trees as plain arrays in a file, and back: checked node by node, for compiled code trusts what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.dividends.trees import Ensemble
from taylorpoda.dividends.trees.ensemble import CATEGORICAL, FunctionEncoder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

ANSWERS = "answers/"
_AGREEMENT = 1e-9
_NODES = {
    "column": np.int32,
    "threshold": np.float64,
    "flags": np.uint8,
    "lookup_start": np.int64,
    "left": np.int32,
    "right": np.int32,
    "cover": np.float64,
}
_REST = {
    "roots": np.int32,
    "slots": np.int32,
    "base": np.float64,
    "lookup": np.uint8,
    "feature_of_column": np.int32,
}


def arrays_of_forest(
    ensemble: Ensemble,
    player_of_feature: NDArray[np.int64],
    background: NDArray[np.float64] | None,
    weights: NDArray[np.float64] | None,
) -> dict[str, NDArray[Any]]:
    """An ensemble, its players and its background by name."""
    arrays: dict[str, NDArray[Any]] = {name: getattr(ensemble, name) for name in (*_NODES, *_REST)}
    arrays["leaf_values"] = ensemble.values
    arrays["player_of_feature"] = player_of_feature
    if background is not None:
        arrays["background"] = background
    if weights is not None:
        arrays["weights"] = weights
    return arrays


def forest_of_arrays(
    arrays: Mapping[str, NDArray[Any]],
) -> tuple[Ensemble, NDArray[np.int64], NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64]]:
    """The same out of a file, and the columns of the explained rows.

    Raises:
        ValueError: If they are no trees, or rows that these trees cannot read.
    """
    parts: dict[str, Any] = {name: _typed(arrays[name], dtype, 1) for name, dtype in {**_NODES, **_REST}.items()}
    values = _typed(arrays["leaf_values"], np.float64, 2)
    players = _typed(arrays["player_of_feature"], np.int64, 1)
    columns = _typed(arrays["columns"], np.float64, 2)
    background = _typed(arrays["background"], np.float64, 2) if "background" in arrays else None
    weights = _typed(arrays["weights"], np.float64, 1) if "weights" in arrays else None
    _check_shapes(parts, values)
    _check_trees(parts["left"], parts["right"], parts["roots"])
    _check_features(parts, players)
    for rows in [columns] if background is None else [columns, background]:
        _check_cells(parts, rows)
    if background is not None and not background.shape[1]:
        _refuse("a background without rows")
    if weights is not None:
        fits = background is not None and weights.shape == background.shape[1:]
        if not fits or not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
            _refuse("weights that are none")
    ensemble = Ensemble(
        **parts,
        values=values,
        n_features=len(players),
        encoder=FunctionEncoder(lambda rows: rows),
        arithmetic=_Nothing(),
        source="a stored ensemble",
    )
    return ensemble, players, background, weights, columns


def answers_of_arrays(
    arrays: Mapping[str, NDArray[Any]], rows: int, outputs: int, players: int
) -> dict[str, NDArray[np.float64]]:
    """What was computed of the games when they were stored, so that reading it off needs no compiled code.

    Raises:
        ValueError: If it does not fit the games, or does not add up.
    """
    shapes = {"full": (rows, outputs), "base": (rows, outputs), "shapley": (rows, outputs, players)}
    if not any(f"{ANSWERS}{name}" in arrays for name in shapes):
        return {}  # computed anew when asked for
    found = {name: _typed(arrays[f"{ANSWERS}{name}"], np.float64, len(shape)) for name, shape in shapes.items()}
    if any(found[name].shape != shape or not np.isfinite(found[name]).all() for name, shape in shapes.items()):
        _refuse("answers that do not belong to their rows, or are not finite")
    if not adds_up(found["base"] + found["shapley"].sum(axis=-1), found["full"], found["shapley"]):
        _refuse("Shapley values that do not add up")
    return found


def adds_up(sums: NDArray[np.float64], full: NDArray[np.float64], parts: NDArray[np.float64]) -> bool:
    """Whether sums (...) are v(N) (...) but for the rounding of their parts (..., n)."""
    scale = np.maximum(np.abs(full), np.abs(parts).max(axis=-1, initial=0.0))
    return bool((np.abs(sums - full) <= _AGREEMENT * scale).all())


class _Nothing:
    """The arithmetic of a library that is not there."""

    def predict(self, leaves: NDArray[np.int32], rows: Any) -> NDArray[Any]:
        """Refuse: the model is not in the file."""
        del leaves, rows
        msg = "the model is not in the file, so its own predictions cannot be rebuilt."
        raise ValueError(msg)


def _refuse(what: str) -> None:
    msg = f"the trees of the games hold {what}"
    raise ValueError(msg)


def _typed(array: NDArray[Any], dtype: Any, axes: int) -> NDArray[Any]:
    if array.ndim != axes or array.dtype != dtype:
        _refuse(f"an array of shape {array.shape[:8]} and dtype {array.dtype} where {np.dtype(dtype)} is needed")
    return np.ascontiguousarray(array)


def _check_shapes(parts: Mapping[str, NDArray[Any]], values: NDArray[np.float64]) -> None:
    nodes, outputs, width = len(parts["left"]), len(parts["base"]), values.shape[1]
    slots = parts["slots"]
    wrong = (
        any(len(parts[name]) != nodes for name in _NODES)
        or len(values) != nodes
        or not 1 <= width <= max(outputs, 1)
        or not outputs
        or len(slots) != len(parts["roots"])
        or not ((slots >= 0) & (slots.astype(np.int64) + width <= outputs)).all()
        or not np.isfinite(values).all()
        or not np.isfinite(parts["base"]).all()
        or np.isnan(parts["threshold"]).any()
    )
    if wrong:
        _refuse("arrays that do not fit each other")


def _check_trees(left: NDArray[np.int32], right: NDArray[np.int32], roots: NDArray[np.int32]) -> None:
    """From the roots, level by level: every node is reached at most once, and a split has two children."""
    nodes = len(left)
    reached = np.zeros(nodes, dtype=np.bool_)
    level = roots
    while len(level):
        if not ((level >= 0) & (level < nodes)).all() or len(np.unique(level)) != len(level) or reached[level].any():
            _refuse("nodes that are out of range, or of two parents")
        reached[level] = True
        inner = level[left[level] >= 0]
        level = np.concatenate([left[inner], right[inner]])


def _check_features(parts: Mapping[str, NDArray[Any]], players: NDArray[np.int64]) -> None:
    """Splits read columns that exist, columns come from features that exist, and features make players 0, 1, ..."""
    split = parts["left"] >= 0
    column, feature = parts["column"][split], parts["feature_of_column"]
    read = ((column >= 0) & (column < len(feature))).all()
    made = ((feature >= 0) & (feature < len(players))).all()
    known = np.unique(players)
    if not (read and made) or not np.array_equal(known, np.arange(len(known))):
        _refuse("columns, features or players that are out of range")


def _check_cells(parts: Mapping[str, NDArray[Any]], rows: NDArray[np.float64]) -> None:
    """Codes of categories stay inside the tables that splits look them up in."""
    if len(rows) != len(parts["feature_of_column"]):
        _refuse("rows of another number of columns")
    chosen = np.flatnonzero((parts["left"] >= 0) & ((parts["flags"] & CATEGORICAL) != 0))
    if not len(chosen) or not rows.shape[1]:
        return
    column, start = parts["column"][chosen], parts["lookup_start"][chosen]
    used = np.unique(column)
    cells = rows[used]
    largest = np.zeros(len(rows))
    if not np.isfinite(cells).all() or not (cells >= 0).all():
        _refuse("cells that are no codes of categories")
    largest[used] = cells.max(axis=1)
    if not ((start >= 0) & (start + largest[column] < len(parts["lookup"]))).all():
        _refuse("codes of categories beyond their tables")
