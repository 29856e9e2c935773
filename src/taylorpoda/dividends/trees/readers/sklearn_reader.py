"""scikit-learn: single trees, forests and gradient boosting, from their `tree_` arrays.

scikit-learn casts cells to float32 and compares with a float64 threshold by `<=`; leaves are added in float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.dividends.trees.arithmetic import Float64Sum
from taylorpoda.dividends.trees.columns import ColumnBook, TableEncoder, plain_matrix
from taylorpoda.dividends.trees.ensemble import Ensemble, TreeArrays, UnsupportedTreesError, assemble
from taylorpoda.dividends.trees.readers.origin import check_unchanged

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TREES = ("DecisionTreeRegressor", "ExtraTreeRegressor", "DecisionTreeClassifier", "ExtraTreeClassifier")
_FORESTS = ("RandomForestRegressor", "ExtraTreesRegressor", "RandomForestClassifier", "ExtraTreesClassifier")
_BOOSTED = ("GradientBoostingRegressor", "GradientBoostingClassifier")


def matches(model: Any) -> bool:
    """Whether it is one of scikit-learn's own tree classes; a subclass may predict otherwise."""
    kind = type(model)
    return kind.__module__.startswith("sklearn.") and kind.__name__ in _TREES + _FORESTS + _BOOSTED


def read(model: Any) -> Ensemble:
    """The trees of a fitted estimator.

    Raises:
        UnsupportedTreesError: For classifiers of several targets, and for boosting that starts from another model.
    """
    name = type(model).__name__
    if name in _BOOSTED:
        return _read_boosted(model)
    classifier = name.endswith("Classifier")
    if classifier and model.n_outputs_ > 1:
        msg = "it classifies several targets at once."
        raise UnsupportedTreesError(msg)
    estimators = list(model.estimators_) if name in _FORESTS else [model]
    check_unchanged(*estimators)  # a forest asks each of its trees
    width = int(model.n_classes_) if classifier else int(model.n_outputs_)
    book = ColumnBook()
    trees = [_tree(estimator.tree_, width, book) for estimator in estimators]
    stored = np.concatenate([tree.values for tree in trees])
    for tree in trees:
        tree.values = tree.values / len(trees)
    return assemble(
        trees,
        book,
        base=np.zeros(width),
        n_features=int(model.n_features_in_),
        encoder=TableEncoder(_matrix, tuple(book.entries)),
        arithmetic=Float64Sum(stored, np.zeros(len(trees), dtype=np.int64), np.zeros(width), divisor=len(trees)),
        probabilities=classifier,
        source=name,
    )


def _read_boosted(model: Any) -> Ensemble:
    start = "zero" if isinstance(model.init_, str) else type(model.init_).__name__
    if start not in ("zero", "DummyRegressor", "DummyClassifier"):
        msg = f"it starts from another model (init={start}), so its predictions are not a sum of its leaves alone."
        raise UnsupportedTreesError(msg)
    outputs = model.estimators_.shape[1]
    # The start is a constant; only this method of the estimator's own gives it with the last bit right.
    row = np.zeros((1, model.n_features_in_), dtype=np.float32)
    base = np.array(model._raw_predict_init(row)[0], dtype=np.float64)  # noqa: SLF001 - scikit-learn has no public name for it
    book = ColumnBook()
    trees = []
    for stage in model.estimators_:
        for slot, estimator in enumerate(stage):
            tree = _tree(estimator.tree_, 1, book)
            tree.slot = slot
            trees.append(tree)
    stored = np.concatenate([tree.values for tree in trees])
    for tree in trees:
        tree.values = model.learning_rate * tree.values
    return assemble(
        trees,
        book,
        base=base,
        n_features=int(model.n_features_in_),
        encoder=TableEncoder(_matrix, tuple(book.entries)),
        arithmetic=Float64Sum(stored, np.array([tree.slot for tree in trees]), base, rate=float(model.learning_rate)),
        link=_boosted_link(model, outputs),
        slope=2.0 if getattr(model, "loss", "") == "exponential" else 1.0,
        source=type(model).__name__,
    )


def _boosted_link(model: Any, outputs: int) -> str:
    if type(model).__name__ == "GradientBoostingRegressor":
        return "identity"
    return "logistic" if outputs == 1 else "softmax"


def _tree(tree: Any, width: int, book: ColumnBook) -> TreeArrays:
    left = np.asarray(tree.children_left, dtype=np.int64)
    inner = left >= 0
    column = np.full(len(left), -1, dtype=np.int32)
    column[inner] = book.columns(np.asarray(tree.feature)[inner])
    value = np.asarray(tree.value, dtype=np.float64)
    return TreeArrays(
        column=column,
        threshold=np.where(inner, tree.threshold, 0.0),
        nan_left=np.asarray(tree.missing_go_to_left, dtype=bool),
        left=left,
        right=np.asarray(tree.children_right, dtype=np.int64),
        cover=np.asarray(tree.weighted_n_node_samples, dtype=np.float64),
        values=value.reshape(len(left), -1)[:, :width],
    )


def _matrix(rows: Any) -> NDArray[Any]:
    return plain_matrix(rows, np.float32)
