"""scikit-learn's histogram gradient boosting, from the nodes of its predictors.

Cells stay float64 and are compared by `<=`; categories unknown to the model count as missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.dividends.trees.arithmetic import Float64Sum
from taylorpoda.dividends.trees.columns import CODES, ColumnBook, TableEncoder
from taylorpoda.dividends.trees.ensemble import CategorySplit, Ensemble, TreeArrays, assemble

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CODES = 256  # what its bitsets hold
_LINKS = {"poisson": "exp", "gamma": "exp"}


def matches(model: Any) -> bool:
    """Whether it is scikit-learn's own class; a subclass may predict otherwise."""
    kind = type(model)
    names = ("HistGradientBoostingRegressor", "HistGradientBoostingClassifier")
    return kind.__module__.startswith("sklearn.") and kind.__name__ in names


def read(model: Any) -> Ensemble:
    """The trees of a fitted estimator."""
    predictors = [predictor for stage in model._predictors for predictor in stage]  # noqa: SLF001 - not public
    base = np.ravel(np.asarray(model._baseline_prediction, dtype=np.float64))  # noqa: SLF001 - scikit-learn has no public name for it
    outputs = len(base)
    known, place = model._bin_mapper.make_known_categories_bitsets()  # noqa: SLF001 - scikit-learn has no public name for it
    book = ColumnBook()
    trees = [_tree(predictor, known, place, number % outputs, book) for number, predictor in enumerate(predictors)]
    stored = np.concatenate([tree.values for tree in trees]) if trees else np.zeros((0, 1))
    feature_of_position = _original_features(model)
    book_positions = [(position, treatment, codes) for position, treatment, codes in book.entries]
    encoder = TableEncoder(_Prepared(model), tuple(book_positions))
    book.entries = [
        (int(feature_of_position[position]), treatment, codes) for position, treatment, codes in book.entries
    ]
    return assemble(
        trees,
        book,
        base=base,
        n_features=int(model.n_features_in_),
        encoder=encoder,
        arithmetic=Float64Sum(stored, np.array([tree.slot for tree in trees]), base),
        link=_link(model, outputs),
        source=type(model).__name__,
    )


def _link(model: Any, outputs: int) -> str:
    if type(model).__name__ == "HistGradientBoostingRegressor":
        return _LINKS.get(model.loss, "identity")
    return "logistic" if outputs == 1 else "softmax"


def _original_features(model: Any) -> NDArray[np.int64]:
    """The user's feature at each position of the prepared table: its preprocessor puts categorical ones first."""
    categorical = getattr(model, "is_categorical_", None)
    if getattr(model, "_preprocessor", None) is None or categorical is None:
        return np.arange(model.n_features_in_)
    chosen = np.asarray(categorical, dtype=bool)
    return np.concatenate([np.flatnonzero(chosen), np.flatnonzero(~chosen)])


class _Prepared:
    """Rows as the estimator itself prepares them before its trees."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __call__(self, rows: Any) -> NDArray[Any]:
        return np.asarray(self._model._preprocess_X(rows, reset=False), dtype=np.float64)  # noqa: SLF001 - scikit-learn has no public name for it


def _tree(predictor: Any, known: Any, place: Any, slot: int, book: ColumnBook) -> TreeArrays:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    categorical = nodes["is_categorical"].astype(bool) & ~leaf
    numeric = ~leaf & ~categorical
    missing_left = nodes["missing_go_to_left"].astype(bool)
    column = np.full(len(nodes), -1, dtype=np.int32)
    column[numeric] = book.columns(nodes["feature_idx"][numeric])
    splits = {}
    for node in np.flatnonzero(categorical):
        position = int(nodes["feature_idx"][node])
        left = _bits(predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
        right = _bits(known[place[position]]) & ~left
        missing = int(missing_left[node])
        table = np.where(left, 1, np.where(right, 0, missing)).astype(np.uint8)
        column[node] = book.column(position, CODES, _CODES)
        splits[int(node)] = CategorySplit(table, beyond=missing, invalid=missing, missing=missing)
    return TreeArrays(
        column=column,
        threshold=np.where(numeric, nodes["num_threshold"], 0.0),
        nan_left=missing_left,
        left=np.where(leaf, -1, nodes["left"].astype(np.int64)),
        right=np.where(leaf, -1, nodes["right"].astype(np.int64)),
        cover=nodes["count"].astype(np.float64),
        values=np.where(leaf, nodes["value"], 0.0)[:, None],
        slot=slot,
        categories=splits,
    )


def _bits(words: Any) -> NDArray[np.bool_]:
    return np.unpackbits(np.ascontiguousarray(words, dtype="<u4").view(np.uint8), bitorder="little").astype(np.bool_)
