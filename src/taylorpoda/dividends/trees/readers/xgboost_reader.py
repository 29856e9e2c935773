"""XGBoost: boosters and their scikit-learn interface, from the model's own JSON.

XGBoost compares float32 with `<`, sends members of a category set right and codes beyond the set left, and
adds leaves in float32, tree by tree, to a float32 base margin.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.dividends.trees.columns import (
    CODES,
    ColumnBook,
    TableEncoder,
    category_codes,
    is_category,
    is_pandas,
    numbers_of,
    plain_matrix,
)
from taylorpoda.dividends.trees.ensemble import (
    CategorySplit,
    Ensemble,
    TreeArrays,
    UnsupportedTreesError,
    assemble,
    below,
)
from taylorpoda.dividends.trees.readers.origin import check_unchanged, is_own

if TYPE_CHECKING:
    from numpy.typing import NDArray

_IDENTITY = ("reg:squarederror", "reg:linear", "reg:squaredlogerror", "reg:pseudohubererror", "reg:absoluteerror")
_LINKS = {
    **dict.fromkeys(_IDENTITY, "identity"),
    "reg:quantileerror": "identity",
    "reg:expectileerror": "identity",
    "binary:logitraw": "identity",
    "rank:pairwise": "identity",
    "rank:ndcg": "identity",
    "rank:map": "identity",
    "binary:logistic": "logistic",
    "reg:logistic": "logistic",
    "count:poisson": "exp",
    "reg:gamma": "exp",
    "reg:tweedie": "exp",
    "survival:cox": "exp",
    "survival:aft": "exp",
    "multi:softprob": "softmax",
    "multi:softmax": "argmax",
    "binary:hinge": "step",
}
_SEVERAL = ("reg:quantileerror", "reg:expectileerror")  # outputs that belong in an order
_LOG_LINKED_BASE = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")


def matches(model: Any) -> bool:
    """Whether it is a booster or has one."""
    return is_own(model, "xgboost", "Booster", "XGBModel")


def read(model: Any) -> Ensemble:
    """The trees that the model's predict uses: up to the best iteration where the scikit-learn interface stopped early.

    Raises:
        UnsupportedTreesError: For dart and linear boosters.
    """
    wrapped = hasattr(model, "get_booster")
    booster = model.get_booster() if wrapped else model
    check_unchanged(booster)
    content = json.loads(booster.save_raw("json"))["learner"]
    gradient = content["gradient_booster"]
    # Newer versions save what was trained with dropout as 'gbtree', with a weight for every tree.
    kind = "dart" if gradient.get("model", {}).get("weight_drop") else gradient["name"]
    if kind != "gbtree":
        msg = (
            f"the booster is {kind!r}; only 'gbtree' adds its leaves the same way in every call "
            "(dart rescales trees and rounds differently in its own predict paths, gblinear has no trees)."
        )
        raise UnsupportedTreesError(msg)
    forest = gradient["model"]
    count = _trees_used(model if wrapped else None, forest)
    objective = content["objective"]["name"]
    book = ColumnBook()
    trees = [
        _tree(raw, int(slot), book) for raw, slot in zip(forest["trees"][:count], forest["tree_info"], strict=False)
    ]
    base = _base_margins(content["learner_model_param"], objective)
    n_features = int(content["learner_model_param"]["num_feature"])
    missing = float(getattr(model, "missing", np.nan)) if getattr(model, "missing", None) is not None else np.nan
    matrix = _Matrix(missing, _categories(forest.get("cats")))
    stored = [np.asarray(tree.values, dtype=np.float32) for tree in trees] or [np.zeros((0, 1), dtype=np.float32)]
    return assemble(
        trees,
        book,
        base=base.astype(np.float64),
        n_features=n_features,
        encoder=TableEncoder(matrix, tuple(book.entries)),
        arithmetic=Float32Sum(np.concatenate(stored), np.array([tree.slot for tree in trees]), base),
        link=_link(objective, booster, len(base), n_features),
        source=f"{type(model).__name__}, objective {objective}",
    )


def _link(objective: str, booster: Any, outputs: int, n_features: int) -> str:
    """What predict does to the margins."""
    if objective in _SEVERAL and outputs > 1 and _rearranges(booster, outputs, n_features):
        return "ordering"
    return _LINKS.get(objective, "unknown")


def _rearranges(booster: Any, outputs: int, n_features: int) -> bool:
    """Whether predict puts the outputs of a row in order, which depends on the version: asked with sums that fall.

    On rows whose sums rise already nothing shows, so the check of predictions to the bit may not see it.
    """
    import xgboost

    falling = np.linspace(1e30, -1e30, outputs, dtype=np.float32)[None]
    row = xgboost.DMatrix(np.full((1, n_features), np.nan, dtype=np.float32), base_margin=falling)
    plain, margin = (booster.predict(row, output_margin=raw, validate_features=False) for raw in (False, True))
    return not np.array_equal(plain, margin)


def _trees_used(wrapper: Any, forest: dict[str, Any]) -> int:
    """How many trees predict adds up."""
    total = len(forest["trees"])
    if wrapper is None:
        return total
    try:
        best = int(wrapper.best_iteration)
    except AttributeError:
        return total
    ends = forest.get("iteration_indptr")
    if ends is not None:
        return int(ends[min(best + 1, len(ends) - 1)])
    per_round = total // max(wrapper.get_booster().num_boosted_rounds(), 1)
    return min(total, (best + 1) * per_round)


def _base_margins(parameters: dict[str, Any], objective: str) -> NDArray[np.float32]:
    """The base score of each output as a margin, in XGBoost's float32 steps."""
    text = parameters["base_score"]
    score = np.atleast_1d(np.array(json.loads(text) if text.startswith("[") else float(text), dtype=np.float32))
    outputs = max(int(parameters.get("num_class", 0)), int(parameters.get("num_target", 1)), 1)
    score = np.broadcast_to(score, (outputs,)).copy() if len(score) != outputs else score
    one = np.float32(1)
    if objective in ("binary:logistic", "reg:logistic"):
        return -_log32(one / score - one)
    if objective in _LOG_LINKED_BASE:
        return _log32(score)
    return score


def _log32(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The float32 nearest to the logarithm, which is what the C library gives."""
    with np.errstate(divide="ignore"):
        return np.log(values.astype(np.float64)).astype(np.float32)


def _tree(raw: dict[str, Any], slot: int, book: ColumnBook) -> TreeArrays:
    left = np.array(raw["left_children"], dtype=np.int64)
    right = np.array(raw["right_children"], dtype=np.int64)
    leaf = left < 0
    conditions = np.array(raw["split_conditions"], dtype=np.float32)
    features = np.array(raw["split_indices"], dtype=np.int64)
    column = np.full(len(left), -1, dtype=np.int32)
    categorical = np.array(raw.get("split_type") or np.zeros(len(left)), dtype=np.int64).astype(bool) & ~leaf
    numeric = ~leaf & ~categorical
    column[numeric] = book.columns(features[numeric])
    nan_left = np.array(raw["default_left"], dtype=bool)
    splits = _category_splits(raw, features, nan_left, column, book)
    return TreeArrays(
        column=column,
        threshold=np.where(numeric, below(conditions), 0.0),
        nan_left=nan_left,
        left=left,
        right=np.where(leaf, -1, right),
        cover=np.array(raw.get("sum_hessian", np.full(len(left), np.nan)), dtype=np.float64),
        values=_leaf_values(raw, leaf, right, conditions),
        slot=slot,
        categories=splits,
    )


def _leaf_values(raw: dict[str, Any], leaf: Any, right: Any, conditions: NDArray[np.float32]) -> NDArray[np.float32]:
    width = int(raw["tree_param"].get("size_leaf_vector", 1) or 1)
    if width <= 1:
        return np.where(leaf, conditions, np.float32(0))[:, None]
    values = np.zeros((len(leaf), width), dtype=np.float32)
    if "leaf_weights" in raw:  # one vector per leaf, numbered by the right child
        values[leaf] = np.array(raw["leaf_weights"], dtype=np.float32).reshape(-1, width)[right[leaf]]
    else:
        values[leaf] = np.array(raw["base_weights"], dtype=np.float32).reshape(-1, width)[leaf]
    return values


def _category_splits(
    raw: dict[str, Any], features: Any, nan_left: Any, column: NDArray[np.int32], book: ColumnBook
) -> dict[int, CategorySplit]:
    splits = {}
    nodes, starts, sizes = (raw.get(f"categories{part}") or [] for part in ("_nodes", "_segments", "_sizes"))
    for node, start, size in zip(nodes, starts, sizes, strict=True):
        members = np.array(raw["categories"][start : start + size], dtype=np.int64)
        codes = int(members.max(initial=-1)) + 1
        column[node] = book.column(int(features[node]), CODES, codes)
        table = np.ones(codes, dtype=np.uint8)
        table[members] = 0
        splits[int(node)] = CategorySplit(table, beyond=1, invalid=1, missing=int(nan_left[node]))
    return splits


def _categories(stored: dict[str, Any] | None) -> list[list[Any] | None]:
    """The model's categories by feature where it stores them, in order of their codes."""
    if not stored or not stored.get("enc"):
        return []
    found: list[list[Any] | None] = []
    for entry in stored["enc"]:
        values = entry.get("values", [])
        if "offsets" in entry:
            text = bytes(value & 0xFF for value in values)
            ends = entry["offsets"]
            words = [text[start:end].decode() for start, end in pairwise(ends)]
            found.append(words or None)
        else:
            found.append(list(values) or None)
    return found


@dataclass(frozen=True)
class _Matrix:
    """Rows as the float32 numbers XGBoost sees."""

    missing: float
    categories: list[list[Any] | None]

    def __call__(self, rows: Any) -> NDArray[Any]:
        if not is_pandas(rows):
            return plain_matrix(rows, np.float32, self.missing)
        matrix = np.empty((len(rows), rows.shape[1]), dtype=np.float32)
        for position in range(rows.shape[1]):
            series = rows.iloc[:, position]
            if is_category(series):
                known = self.categories[position] if position < len(self.categories) else None
                matrix[:, position] = category_codes(series, known)
            else:
                with np.errstate(over="ignore"):
                    matrix[:, position] = numbers_of(series)
        return plain_matrix(matrix, np.float32, self.missing)


@dataclass(frozen=True)
class Float32Sum:
    """Leaves added one tree after the other in float32, from the base margin on."""

    leaf_values: NDArray[np.float32]
    slots: NDArray[Any]
    base: NDArray[np.float32]

    def predict(self, leaves: NDArray[np.int32], rows: Any) -> NDArray[Any]:
        """The margins, float32."""
        del rows
        total = np.tile(self.base, (leaves.shape[0], 1))
        width = self.leaf_values.shape[1]
        for tree, slot in enumerate(self.slots):
            total[:, slot : slot + width] += self.leaf_values[leaves[:, tree]]
        return total
