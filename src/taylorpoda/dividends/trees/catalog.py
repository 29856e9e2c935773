"""The coalitions the tabled trees can give a dividend, numbered once for all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.memory import human_bytes
from taylorpoda.dividends.sparse_coalitions import Coalitions, bits_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.dividends.trees.layout import Layout

_SEED = 20240917  # of the words that tell coalitions apart; any will do
_BYTES_PER_COALITION = 96


@dataclass(frozen=True, eq=False)
class Catalog:
    """Numbers and tables for the dividends of rows.

    Attributes:
        coalitions: The coalitions; number 0 is the empty one.
        ids: For each split, end to end, the numbers of the coalitions that stay there.
        id_start: Where each split's begin.
        tables: For each split, end to end, its two tables.
        node_start: Where each split's begin.
        empty: Shape (outputs,): the trees' values of nobody.
        sign: (-1)^|s| of every index s of a table.
    """

    coalitions: Coalitions
    ids: NDArray[np.int32]
    id_start: NDArray[np.int64]
    tables: NDArray[np.float64]
    node_start: NDArray[np.int64]
    empty: NDArray[np.float64]
    sign: NDArray[np.float64]


def build_catalog(
    layout: Layout,
    trees: NDArray[np.intp],
    counts: NDArray[np.float64],
    leaf_start: NDArray[np.int64],
    leaf_values: NDArray[np.float64],
    n_players: int,
    max_bytes: int,
    *,
    summed: bool,
) -> Catalog:
    """Number the coalitions of some trees and transform their leaves.

    Args:
        layout: The trees.
        trees: Which of them.
        counts: C(q) of their leaves, or the weight of the background rows of each pattern.
        leaf_start: Where each leaf's begin.
        leaf_values: Leaf values per unit of background weight.
        n_players: How many players.
        max_bytes: What the list of coalitions may take.
        summed: Whether `counts` are C(q), summed over supersets.

    Raises:
        ValueError: If it would take more.
    """
    from taylorpoda.dividends.trees import kernels_dividends

    chosen = np.zeros(layout.n_trees, dtype=np.bool_)
    chosen[trees] = True
    split = ~layout.leaves & np.repeat(chosen, np.diff(layout.starts))
    others = layout.above - layout.repeat
    small = np.where(split, np.left_shift(np.int64(1), np.minimum(others, 62)), 0)
    id_start = np.concatenate([[0], np.cumsum(small)]).astype(np.int64)
    node_start = 2 * layout.width * id_start
    tables, empty = np.empty(node_start[-1]), np.zeros(int(layout.slots.max(initial=0)) + layout.width)
    kernels_dividends.hoist(
        counts, leaf_start, leaf_values, layout.end, layout.above, layout.bit, layout.repeat, layout.starts,
        layout.slots, trees, node_start, summed, tables, empty,
    )  # fmt: skip
    keys = np.random.default_rng(_SEED).integers(0, 2**64, size=(n_players, 2), dtype=np.uint64)
    ids = np.empty(id_start[-1], dtype=np.int32)
    limit = max(1, min(max_bytes // _BYTES_PER_COALITION, 2**31 - 2))
    node, index = kernels_dividends.catalog(
        layout.above, layout.bit, layout.repeat, layout.player, layout.starts, trees, id_start, keys, ids, limit
    )
    if not len(node):
        msg = (
            f"the dividends of these trees are spread over more than {limit} coalitions "
            f'({human_bytes(limit * _BYTES_PER_COALITION)}); give more max_memory, or use policy="shapley".'
        )
        raise ValueError(msg)
    sizes = bits_of(index.astype(np.uint32)) + 1
    sizes[0] = 0
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    members = np.empty(indptr[-1], dtype=np.int32)
    kernels_dividends.members_of(
        node, index, layout.above, layout.bit, layout.repeat, layout.player, layout.starts, indptr, members
    )
    sign = np.where(bits_of(np.arange(small.max(initial=1), dtype=np.uint32)) & 1, -1.0, 1.0)
    return Catalog(Coalitions(n_players, indptr, members), ids, id_start, tables, node_start, empty, sign)
