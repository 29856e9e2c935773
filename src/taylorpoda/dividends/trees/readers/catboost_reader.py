"""CatBoost: oblivious and other trees, from the model's own JSON.

CatBoost compares float32 with `>`; a split on a categorical feature hashes or looks up statistics, so its outcome is
asked of CatBoost itself: the bits of an oblivious tree's leaf index are the outcomes of its splits. Splits that look
at several features at once make no game of separate players and are refused. Leaves are added in float64.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.dividends.trees.arithmetic import Float64Sum
from taylorpoda.dividends.trees.columns import ColumnBook, is_pandas, numbers_of
from taylorpoda.dividends.trees.ensemble import Ensemble, TreeArrays, UnsupportedTreesError, assemble
from taylorpoda.dividends.trees.readers.origin import is_own

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXPONENTS = ("Poisson", "Tweedie", "LogLinQuantile")
_LOGISTIC = ("Logloss", "CrossEntropy", "MultiClassOneVsAll", "MultiLogloss", "MultiCrossEntropy")
_UNKNOWN = ("RMSEWithUncertainty",)


def matches(model: Any) -> bool:
    """Whether it is a CatBoost model."""
    return is_own(model, "catboost", "CatBoost")


def read(model: Any) -> Ensemble:
    """The trees of a fitted model.

    Raises:
        UnsupportedTreesError: If a split looks at several features, or at text or embeddings.
    """
    content = _content(model)
    scale, biases = content.get("scale_and_bias", [1.0, [0.0]])
    bias = np.atleast_1d(np.array(biases, dtype=np.float64))
    splits = _Splits(content["features_info"])
    if "oblivious_trees" in content:
        raw_trees = content["oblivious_trees"]
        width = _width(raw_trees, bias)
        trees = [_oblivious(raw, width, splits, number) for number, raw in enumerate(raw_trees)]
    else:
        width = len(bias)
        trees = [_nested(raw, width, splits) for raw in content["trees"]]
    stored = np.concatenate([np.zeros((0, width)), *(tree.values for tree in trees)])
    for tree in trees:
        tree.values = tree.values * scale
    base = np.broadcast_to(bias, (width,)).copy()
    slots = np.zeros(len(trees), dtype=np.int64)
    # A sum of models has no parameters: it is a plain CatBoost, whose predict gives the sum itself.
    parameters = content.get("model_info", {}).get("params", {})
    loss = str(parameters.get("loss_function", {}).get("type", ""))
    return assemble(
        trees,
        splits.book,
        base=base,
        n_features=len(model.feature_names_),
        encoder=_Encoder(model, tuple(splits.book.entries), dict(splits.asked)),
        arithmetic=Float64Sum(stored, slots, np.zeros(width), scale=float(scale), bias=base),
        link=_link(loss),
        source=f"{type(model).__name__}, loss {loss}",
    )


def _content(model: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        try:
            model.save_model(str(path), format="json")
        except Exception as error:  # CatBoost's own error type: infinite borders have no JSON
            msg = f"CatBoost could not export it: {error}"
            raise UnsupportedTreesError(msg) from error
        return dict(json.loads(path.read_text(encoding="utf-8")))


def _link(loss: str) -> str:
    if loss in _EXPONENTS:
        return "exp"
    if loss in _LOGISTIC:
        return "logistic"
    if loss in _UNKNOWN:
        return "unknown"
    return "softmax" if loss == "MultiClass" else "identity"


def _width(raw_trees: list[dict[str, Any]], bias: NDArray[np.float64]) -> int:
    if not raw_trees:
        return len(bias)
    first = raw_trees[0]
    return len(first["leaf_values"]) >> len(first.get("splits") or [])


@dataclass
class _Splits:
    """Gives each split its column; `asked` says which tree and level answers for a categorical split."""

    info: dict[str, Any]
    book: ColumnBook = field(default_factory=ColumnBook)
    asked: dict[int, tuple[int, int]] = field(default_factory=dict)
    _categorical: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.info.get("text_features") or self.info.get("embedding_features"):
            msg = "it reads text or embedding features, which are not single cells."
            raise UnsupportedTreesError(msg)
        self.floats = self.info.get("float_features") or []
        self.categories = self.info.get("categorical_features") or []

    def numeric(self, split: dict[str, Any]) -> tuple[int, float, bool]:
        """Column, border and whether NaN goes left (does not exceed any border)."""
        feature = self.floats[split["float_feature_index"]]
        column = self.book.column(int(feature["flat_feature_index"]))
        return column, float(split["border"]), feature["nan_value_treatment"] != "AsTrue"

    def categorical(self, split: dict[str, Any], tree: int, level: int) -> int:
        """The column of outcomes of a categorical split."""
        key = int(split["split_index"])
        if key not in self._categorical:
            feature = self._only_feature(split)
            column = len(self.book.entries)
            self.book.entries.append((feature, 0, 0))
            self._categorical[key] = column
            self.asked[column] = (tree, level)
        return self._categorical[key]

    def _only_feature(self, split: dict[str, Any]) -> int:
        if split["split_type"] == "OneHotFeature":
            return int(self.categories[split["cat_feature_index"]]["flat_feature_index"])
        elements = self._statistic(split)["elements"]
        if len(elements) != 1 or elements[0]["combination_element"] != "cat_feature_value":
            msg = (
                "a split combines several features (CatBoost's feature combinations); "
                "a model fitted with max_ctr_complexity=1 has none."
            )
            raise UnsupportedTreesError(msg)
        return int(self.categories[elements[0]["cat_feature_index"]]["flat_feature_index"])

    def _statistic(self, split: dict[str, Any]) -> dict[str, Any]:
        """The target statistic a split reads: all borders, one-hot values and statistics are numbered in one line."""
        position = int(split["split_index"])
        position -= sum(len(feature.get("borders") or []) for feature in self.floats)
        position -= sum(len(feature.get("values") or []) for feature in self.categories)
        for statistic in self.info.get("ctrs") or []:
            borders = statistic["borders"]
            if 0 <= position < len(borders):
                if borders[position] == split["border"]:
                    return dict(statistic)
                break
            position -= len(borders)
        msg = f"the split {split} could not be traced to its feature."
        raise UnsupportedTreesError(msg)


def _oblivious(raw: dict[str, Any], width: int, splits: _Splits, number: int) -> TreeArrays:
    """A complete binary tree in heap order. Bit k of the leaf index tells split k's outcome, the last the root's."""
    levels = raw.get("splits") or []
    depth = len(levels)
    inner, leaves = (1 << depth) - 1, 1 << depth
    size = inner + leaves
    column, threshold = np.full(size, -1, dtype=np.int32), np.zeros(size)
    nan_left = np.zeros(size, dtype=bool)
    for level, split in enumerate(levels):
        row = depth - 1 - level
        here = slice((1 << row) - 1, (2 << row) - 1)
        if split["split_type"] == "FloatFeature":
            column[here], threshold[here], nan_left[here] = splits.numeric(split)
        else:
            column[here], threshold[here] = splits.categorical(split, number, level), 0.5
    values = np.zeros((size, width))
    values[inner:] = np.array(raw["leaf_values"], dtype=np.float64).reshape(leaves, width)
    cover = np.full(size, np.nan)
    if len(raw.get("leaf_weights") or []) == leaves:
        cover[inner:] = np.array(raw["leaf_weights"], dtype=np.float64)
        for node in range(inner - 1, -1, -1):
            cover[node] = cover[2 * node + 1] + cover[2 * node + 2]
    children = np.where(np.arange(size) < inner, 2 * np.arange(size) + 1, -1)
    right = np.where(children >= 0, children + 1, -1)
    return TreeArrays(column, threshold, nan_left, children, right, cover, values)


def _nested(raw: dict[str, Any], width: int, splits: _Splits) -> TreeArrays:
    """A tree of grow_policy="Lossguide" or "Depthwise", flattened without recursion."""
    nodes, left, right = [raw], [-1], [-1]
    for position, node in enumerate(nodes):  # the list grows while it is walked
        if "split" in node:
            left[position], right[position] = len(nodes), len(nodes) + 1
            nodes += [node["left"], node["right"]]
            left += [-1, -1]
            right += [-1, -1]
    size = len(nodes)
    column, threshold = np.full(size, -1, dtype=np.int32), np.zeros(size)
    nan_left = np.zeros(size, dtype=bool)
    values, cover = np.zeros((size, width)), np.full(size, np.nan)
    for position in range(size - 1, -1, -1):
        node = nodes[position]
        if left[position] < 0:
            values[position] = np.atleast_1d(np.array(node["value"], dtype=np.float64))
            cover[position] = float(node.get("weight", np.nan))
            continue
        if node["split"]["split_type"] != "FloatFeature":
            msg = f"its trees are not oblivious and split on categories ({node['split']['split_type']})."
            raise UnsupportedTreesError(msg)
        column[position], threshold[position], nan_left[position] = splits.numeric(node["split"])
        cover[position] = cover[left[position]] + cover[right[position]]
    return TreeArrays(column, threshold, nan_left, left, right, cover, values)


@dataclass(frozen=True)
class _Encoder:
    """Numeric cells as float32, categorical splits as outcomes 0 and 1 from CatBoost's own leaf indices."""

    model: Any
    entries: tuple[tuple[int, int, int], ...]
    asked: dict[int, tuple[int, int]]

    def encode(self, rows: Any) -> NDArray[np.float64]:
        """The columns, shape (columns, rows)."""
        columns = np.empty((len(self.entries), len(rows)))
        if self.asked:
            indices = np.asarray(self.model.calc_leaf_indexes(rows), dtype=np.int64)
        for position, (feature, _, _) in enumerate(self.entries):
            if position in self.asked:
                tree, level = self.asked[position]
                columns[position] = indices[:, tree] >> level & 1
            else:
                cells = numbers_of(rows.iloc[:, feature]) if is_pandas(rows) else np.asarray(rows)[:, feature]
                with np.errstate(over="ignore"):
                    columns[position] = cells.astype(np.float32)
        return columns
