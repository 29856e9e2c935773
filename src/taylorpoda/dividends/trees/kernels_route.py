"""Compiled: where rows go in the trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.dividends.trees.compiling import compiled, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray


@inlined
def goes_left(cell: float, threshold: float, flags: int, start: int, lookup: Any) -> bool:
    """Whether a cell goes left at a split."""
    if flags & 2:
        return lookup[start + int(cell)] != 0
    if cell <= threshold:
        return True
    return (flags & 1) != 0 and cell != cell  # noqa: PLR0124 - NaN


@compiled
def leaves_of(
    columns: Any,
    column: Any,
    threshold: Any,
    flags: Any,
    lookup_start: Any,
    lookup: Any,
    left: Any,
    right: Any,
    roots: Any,
) -> NDArray[np.int32]:
    """The leaf of every row in every tree: columns (columns, rows) -> (rows, trees)."""
    rows = columns.shape[1]
    result = np.empty((rows, len(roots)), np.int32)
    for tree in range(len(roots)):
        for row in range(rows):
            node = roots[tree]
            while left[node] >= 0:
                cell = columns[column[node], row]
                node = (
                    left[node]
                    if goes_left(cell, threshold[node], flags[node], lookup_start[node], lookup)
                    else right[node]
                )
            result[row, tree] = node
    return result


@compiled
def add_leaves(
    columns: Any,
    column: Any,
    threshold: Any,
    flags: Any,
    lookup_start: Any,
    lookup: Any,
    values: Any,
    end: Any,
    bit: Any,
    starts: Any,
    slots: Any,
    result: Any,
) -> None:
    """Add every row's leaf values to `result`, (rows, outputs), tree by tree, for trees in preorder."""
    for tree in range(len(starts) - 1):
        for row in range(columns.shape[1]):
            node = starts[tree]
            while bit[node] >= 0:
                left = goes_left(columns[column[node], row], threshold[node], flags[node], lookup_start[node], lookup)
                node = node + 1 if left else end[node + 1]
            for slot in range(values.shape[1]):
                result[row, slots[tree] + slot] += values[node, slot]
