"""From pairs (A, B) of deep trees to dividends: w goes to A with every subset of B, the sign by the subset's size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.memory import human_bytes
from taylorpoda.dividends.sparse import SparseDividends, sum_of
from taylorpoda.dividends.sparse_coalitions import Coalitions

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from taylorpoda.dividends.trees.layout import Layout

_ENTRIES = 1 << 18
_BYTES_PER_DIVIDEND = 128


def expand_pairs(
    layout: Layout,
    leaf_values: NDArray[np.float64],
    trees: NDArray[np.intp],
    n_players: int,
    n_outputs: int,
    walk: Callable[[NDArray[np.intp], tuple[Any, ...]], int],
    max_bytes: int,
) -> list[SparseDividends]:
    """The dividends of one row in some trees.

    Args:
        layout: The trees.
        leaf_values: Leaf values per unit of background weight.
        trees: Which trees.
        n_players: How many players.
        n_outputs: How many outputs.
        walk: Lists the pairs of some trees in the arrays given and says how many there are.
        max_bytes: What the dividends may take.

    Returns:
        One container per output.

    Raises:
        ValueError: If they would take more.
    """
    room = _ENTRIES
    parts: list[list[SparseDividends]] = [[] for _ in range(n_outputs)]
    kept = 0
    paths = _Paths(layout)
    for tree in trees:
        while True:
            listed = (np.empty(room, np.int32), np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room))
            count = walk(np.array([tree]), listed)
            if count <= room:
                break
            room = 2 * count
        leaf, only_x, only_b, weight = (array[:count] for array in listed)
        needed = float(np.exp2(np.bitwise_count(only_b)).sum()) * _BYTES_PER_DIVIDEND
        if needed + kept * _BYTES_PER_DIVIDEND > max_bytes:
            msg = (
                f"one row's dividends need more than {human_bytes(max_bytes)} in trees this deep; "
                'give more max_memory, or use policy="shapley", which needs no dividends.'
            )
            raise ValueError(msg)
        slot = int(layout.slots[tree])
        coalitions, node, amounts = paths.expand(leaf, only_x, only_b, weight, n_players)
        for output in range(layout.width):
            values = amounts * leaf_values[node, output]
            parts[slot + output].append(sum_of([SparseDividends(coalitions, values)]))
        kept = sum(len(part) for part in parts[slot])
        if len(parts[slot]) > 8:
            for output in range(layout.width):
                parts[slot + output] = [sum_of(parts[slot + output])]
    nothing = SparseDividends.from_sets([[]], [0.0], n_players)
    return [sum_of([nothing, *part]) for part in parts]


class _Paths:
    """The players on the path to each leaf, found when asked for."""

    def __init__(self, layout: Layout) -> None:
        from taylorpoda.dividends.trees import kernels_layout

        self._players, self._start = kernels_layout.path_players(layout.above, layout.bit, layout.player, layout.starts)

    def expand(
        self, leaf: NDArray[Any], only_x: NDArray[Any], only_b: NDArray[Any], weight: NDArray[Any], n_players: int
    ) -> tuple[Coalitions, NDArray[Any], NDArray[np.float64]]:
        """All coalitions of some pairs, the leaf each comes from and its signed weight; repeats are not merged."""
        from taylorpoda.dividends.trees import kernels_layout

        members, indptr, node, amounts = kernels_layout.expand(
            leaf, only_x, only_b, weight, self._players, self._start, np.bitwise_count(only_x), np.bitwise_count(only_b)
        )
        return Coalitions(n_players, indptr, members), node, amounts
