"""LightGBM: boosters and their scikit-learn interface, from the model's own text.

LightGBM compares float64 with `<=`, sends members of a category set left and everything else right, and has
three kinds of missing cells per split: none (NaN counts as 0), zero (0 and NaN are missing) and NaN. Leaves
are added in float64, tree by tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.dividends.trees.arithmetic import Float64Sum
from taylorpoda.dividends.trees.columns import (
    CODES,
    NAN_TO_ZERO,
    PLAIN,
    ZERO_TO_NAN,
    ColumnBook,
    TableEncoder,
    category_codes,
    is_category,
    is_pandas,
    numbers_of,
    plain_matrix,
)
from taylorpoda.dividends.trees.ensemble import CategorySplit, Ensemble, TreeArrays, UnsupportedTreesError, assemble
from taylorpoda.dividends.trees.readers.origin import check_unchanged, is_own

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LINKS = {
    **dict.fromkeys(
        (
            "regression",
            "regression_l1",
            "huber",
            "fair",
            "quantile",
            "mape",
            "lambdarank",
            "rank_xendcg",
            "custom",
            "none",
        ),
        "identity",
    ),
    "binary": "logistic",
    "cross_entropy": "logistic",
    "multiclass": "softmax",
    "multiclassova": "logistic",
    "poisson": "exp",
    "gamma": "exp",
    "tweedie": "exp",
}
# The double nearest to the float 1e-35f: LightGBM stores no smaller cell, so it predicts as zero.
_ZERO = float(np.float32(1e-35))
_TREATMENTS = (NAN_TO_ZERO, ZERO_TO_NAN, PLAIN)  # by LightGBM's missing type: none, zero, NaN


def matches(model: Any) -> bool:
    """Whether it is a booster or has one."""
    return is_own(model, "lightgbm", "Booster", "LGBMModel")


def read(model: Any) -> Ensemble:
    """The trees that the model's predict uses: up to the best iteration where training stopped early.

    Raises:
        UnsupportedTreesError: For trees with linear models in their leaves, and where predict leaves trees out.
    """
    options = model.get_params() if hasattr(model, "get_params") else {}
    if options.get("pred_early_stop", False) not in (False, "false"):  # a row may show it that is not checked
        msg = "pred_early_stop lets predict leave out trees once a margin is large, so it is no sum of all leaves."
        raise UnsupportedTreesError(msg)
    booster = model.booster_ if hasattr(model, "booster_") else model
    check_unchanged(booster)
    header, *blocks = booster.model_to_string().split("\nTree=")  # up to the best iteration by itself, as predict
    facts = _lines(header)
    objective, *parameters = facts.get("objective", "custom").split(" ")
    outputs = int(facts["num_tree_per_iteration"])
    book = ColumnBook()
    trees = [_tree(_lines(block.split("\n\n")[0]), number % outputs, book) for number, block in enumerate(blocks)]
    rounds = max(len(trees) // outputs, 1) if "average_output" in header.split("\n") else 1
    leaf_values = np.concatenate([tree.values for tree in trees]) if trees else np.zeros((0, 1))
    slope = next((float(part.split(":")[1]) for part in parameters if part.startswith("sigmoid:")), 1.0)
    arithmetic = Float64Sum(leaf_values, np.array([tree.slot for tree in trees]), np.zeros(outputs))
    sums = assemble(
        trees,
        book,
        base=np.zeros(outputs),
        n_features=int(facts["max_feature_idx"]) + 1,
        encoder=TableEncoder(_Matrix(booster.pandas_categorical), tuple(book.entries), truncate_first=True),
        arithmetic=arithmetic,
        link="square" if "sqrt" in parameters else _LINKS.get(objective, "unknown"),
        slope=slope,
        source=f"{type(model).__name__}, objective {objective}",
    )
    if rounds == 1:
        return sums
    # A forest: predict divides the sum by the rounds, the raw score does not.
    return replace(sums, values=sums.values / rounds, arithmetic=replace(arithmetic, divisor=rounds), raw=sums)


def _lines(block: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in block.split("\n") if "=" in line)


def _tree(facts: dict[str, str], slot: int, book: ColumnBook) -> TreeArrays:
    """One tree: inner nodes first, then the leaves."""
    if int(facts.get("is_linear", 0)):
        msg = "its leaves hold linear models (linear_tree=True), so its predictions are not a sum of leaves."
        raise UnsupportedTreesError(msg)
    leaves = int(facts["num_leaves"])
    inner = leaves - 1

    def numbers(key: str, dtype: Any) -> NDArray[Any]:
        return np.array(facts.get(key, "").split(), dtype=dtype)

    def child(key: str) -> NDArray[np.int64]:
        raw = numbers(key, np.int64)
        return np.concatenate([np.where(raw < 0, inner + ~raw, raw), np.full(leaves, -1)])

    def padded(values: Any, fill: Any) -> NDArray[Any]:
        return np.concatenate([values, np.full(leaves, fill)])

    decision = numbers("decision_type", np.int64)
    categorical = (decision & 1) > 0
    missing = decision >> 2 & 3
    feature, threshold = numbers("split_feature", np.int64), numbers("threshold", np.float64)
    column = np.full(inner, -1, dtype=np.int64)
    for kind, treatment in enumerate(_TREATMENTS):
        chosen = ~categorical & (missing == kind)
        column[chosen] = book.columns(feature[chosen], treatment)
    splits = {}
    bounds, words = numbers("cat_boundaries", np.int64), numbers("cat_threshold", np.uint32)
    for node in np.flatnonzero(categorical):
        which = int(threshold[node])
        bits = np.unpackbits(words[bounds[which] : bounds[which + 1]].view(np.uint8), bitorder="little")
        column[node] = book.column(int(feature[node]), CODES, len(bits))
        splits[int(node)] = CategorySplit(bits, beyond=0, invalid=0, missing=0)
    counts = numbers("leaf_count", np.float64)
    return TreeArrays(
        column=padded(column, -1),
        threshold=padded(np.where(categorical, 0.0, threshold), 0.0),
        nan_left=padded((decision >> 1 & 1 > 0) & (missing > 0), False),  # noqa: FBT003 - a fill value
        left=child("left_child"),
        right=child("right_child"),
        cover=np.concatenate(
            [numbers("internal_count", np.float64), counts if len(counts) else np.full(leaves, np.nan)]
        ),
        values=np.concatenate([np.zeros(inner), numbers("leaf_value", np.float64)])[:, None],
        slot=slot,
        categories=splits,
    )


@dataclass(frozen=True)
class _Matrix:
    """Rows as the float64 numbers LightGBM sees."""

    categories: list[list[Any]] | None

    def __call__(self, rows: Any) -> NDArray[Any]:
        matrix = self._numbers(rows)
        return np.where(np.abs(matrix) <= _ZERO, 0.0, matrix)

    def _numbers(self, rows: Any) -> NDArray[Any]:
        if not is_pandas(rows):
            return plain_matrix(rows, np.float64)
        matrix = np.empty((len(rows), rows.shape[1]))
        known = iter(self.categories or [])
        for position in range(rows.shape[1]):
            series = rows.iloc[:, position]
            matrix[:, position] = (
                category_codes(series, next(known, None)) if is_category(series) else numbers_of(series)
            )
        return matrix
