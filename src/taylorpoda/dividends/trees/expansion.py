"""From pairs (A, B) of deep trees to dividends: w goes to A with every subset of B, the sign by the subset's size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taylorpoda._support.memory import human_bytes
from taylorpoda.dividends.sparse import SparseDividends, sum_of
from taylorpoda.dividends.sparse_coalitions import Coalitions, bits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from taylorpoda.dividends.trees.layout import Layout

_ENTRIES = 1 << 16
_BYTES_PER_DIVIDEND = 128
_PARTS = 8  # containers that wait to be merged


class Pairs(NamedTuple):
    """Pairs (A, B) at the leaves of one tree.

    Attributes:
        leaf: The leaf of each.
        only_x: A, as bits.
        only_b: B, as bits.
        weight: Weight of the background row.
        players: Bit k is players[first_player + k].
        first_player: Where each pair's players start.
    """

    leaf: NDArray[np.int32]
    only_x: NDArray[np.uint64]
    only_b: NDArray[np.uint64]
    weight: NDArray[np.float64]
    players: NDArray[np.int32]
    first_player: NDArray[np.int64]


def listed(walk: Callable[[tuple[Any, ...]], int], columns: int = 0) -> tuple[NDArray[Any], ...]:
    """What a walk lists, in arrays that are made larger until all of it fits.

    Args:
        walk: Lists pairs in the arrays given and says how many there are, or -1 if they cannot be listed.
        columns: Players to list for each pair, 0 for none.

    Raises:
        ValueError: If they cannot be listed.
    """
    room = _ENTRIES if not columns else _ENTRIES >> 4
    while True:
        arrays: tuple[NDArray[Any], ...] = (
            np.empty(room, np.int32), np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room)
        )  # fmt: skip
        arrays += (np.empty((room, columns), np.int32),) if columns else ()
        count = walk(arrays)
        if count < 0:
            msg = (
                f"rows part over more than {columns} features on one path of these trees, so their dividends are more "
                'than can be listed; use policy="shapley", which needs no dividends.'
            )
            raise ValueError(msg)
        if count <= room:
            return tuple(array[:count] for array in arrays)
        room = count


def merged_pairs(pairs: Pairs) -> Pairs:
    """Background rows that part from the explained one over the same players at a leaf count once."""
    order = np.lexsort((pairs.only_b, pairs.only_x, pairs.leaf))
    leaf, only_x, only_b = pairs.leaf[order], pairs.only_x[order], pairs.only_b[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (np.diff(leaf) != 0) | (only_x[1:] != only_x[:-1]) | (only_b[1:] != only_b[:-1])
    first = np.flatnonzero(new)
    weight = np.add.reduceat(pairs.weight[order], first) if len(first) else pairs.weight
    return Pairs(leaf[first], only_x[first], only_b[first], weight, pairs.players, pairs.first_player[order][first])


def expand_pairs(
    trees: Iterable[tuple[int, Pairs]],
    layout: Layout,
    leaf_values: NDArray[np.float64],
    n_players: int,
    n_outputs: int,
    max_bytes: int,
) -> list[SparseDividends]:
    """The dividends of one row in some trees.

    Args:
        trees: Each tree with its pairs.
        layout: All trees.
        leaf_values: Leaf values per unit of background weight.
        n_players: How many players.
        n_outputs: How many outputs.
        max_bytes: What the dividends may take.

    Returns:
        One container per output.

    Raises:
        ValueError: If they would take more.
    """
    parts: list[list[SparseDividends]] = [[] for _ in range(n_outputs)]
    for tree, pairs in trees:
        kept = sum(len(part) for waiting in parts for part in waiting)
        needed = float(np.exp2(bits_of(pairs.only_b), dtype=np.float64).sum()) + kept
        if needed * _BYTES_PER_DIVIDEND > max_bytes:
            msg = (
                f"one row's dividends need more than {human_bytes(max_bytes)} in trees this deep; "
                'give more max_memory, or use policy="shapley", which needs no dividends.'
            )
            raise ValueError(msg)
        coalitions, node, amounts = _expanded(pairs, n_players)
        for output in range(layout.width):
            waiting = parts[layout.slots[tree] + output]
            waiting.append(sum_of([SparseDividends(coalitions, amounts * leaf_values[node, output])]))
            if len(waiting) > _PARTS:
                waiting[:] = [sum_of(waiting)]
    nothing = SparseDividends.from_sets([[]], [0.0], n_players)
    return [sum_of([nothing, *part]) for part in parts]


def _expanded(pairs: Pairs, n_players: int) -> tuple[Coalitions, NDArray[Any], NDArray[np.float64]]:
    """All coalitions of some pairs, the leaf each comes from and its signed weight; repeats are not merged."""
    from taylorpoda.dividends.trees import kernels_layout

    members, indptr, node, amounts = kernels_layout.expand(*pairs, bits_of(pairs.only_x), bits_of(pairs.only_b))
    return Coalitions(n_players, indptr, members), node, amounts
