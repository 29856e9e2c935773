"""Games of trees by walking them: for trees too deep for tables, and for the values of single coalitions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.dividends.dense import harsanyi
from taylorpoda.dividends.sparse import SparseDividends
from taylorpoda.dividends.trees.expansion import Pairs, expand_pairs, listed, merged_pairs
from taylorpoda.dividends.trees.layout import MOST_ON_A_PATH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from taylorpoda.dividends.trees.layout import Layout

DENSE_PLAYERS = 18  # up to here a row's dividends are gathered in a table of 2**n
_NOTHING_LISTED = (np.empty(0, np.int32), np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0))
_NO_PLAYERS_LISTED = (np.empty((0, 0), np.int32),)


@dataclass(frozen=True, eq=False)
class Walks:
    """What walking the trees needs.

    Attributes:
        layout: The trees.
        leaf_values: Leaf values per unit of background weight.
        n_players: How many players.
        n_outputs: How many outputs.
        background: Columns of the background rows, or None for the path-dependent game.
        weights: Their weights.
    """

    layout: Layout
    leaf_values: NDArray[np.float64]
    n_players: int
    n_outputs: int
    background: NDArray[np.float64] | None
    weights: NDArray[np.float64]

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The part of its parent's training weight that each node has."""
        from taylorpoda.dividends.trees import kernels_tables

        layout = self.layout
        return np.asarray(kernels_tables.branch_shares(layout.cover, layout.end, layout.bit))

    @cached_property
    def _wide(self) -> NDArray[np.bool_]:
        """Which trees have more players on a path than a word has bits."""
        return self.layout.per_tree(np.maximum, self.layout.above) > MOST_ON_A_PATH

    def add_attributions(
        self,
        trees: NDArray[np.intp],
        columns: NDArray[np.float64],
        first: int,
        last: int,
        result: NDArray[np.float64],
        *,
        occlusion: bool,
    ) -> None:
        """Add Shapley values, or OCC-1, of rows first .. last in some trees to `result`, (rows, outputs, players)."""
        from taylorpoda.dividends.trees import kernels_pairs

        layout = self.layout
        if self.background is None:
            points, point_weights = _quadrature(int(layout.above.max(initial=0)))
            kernels_pairs.walk_covers(
                occlusion, columns, first, last, *layout.splits(), layout.values, layout.depth, layout.side,
                layout.above, layout.bit, layout.player, self.shares, layout.starts, layout.slots, trees,
                layout.levels, points, point_weights, result,
            )  # fmt: skip
            return
        mode = kernels_pairs.OCCLUSION if occlusion else kernels_pairs.SHAPLEY
        narrow, wide = trees[~self._wide[trees]], trees[self._wide[trees]]
        if len(narrow):
            self._walk(mode, columns, first, last, narrow, result, _NOTHING_LISTED)
        if len(wide):
            self._walk_wide(mode, columns, first, last, wide, result, _NOTHING_LISTED + _NO_PLAYERS_LISTED)

    def _walk(
        self,
        mode: int,
        columns: NDArray[np.float64],
        first: int,
        last: int,
        trees: NDArray[np.intp],
        result: NDArray[np.float64],
        into: tuple[Any, ...],
    ) -> int:
        from taylorpoda.dividends.trees import kernels_pairs

        layout = self.layout
        return int(
            kernels_pairs.walk_pairs(
                mode, columns, first, last, self.background, self.weights, *layout.splits(), self.leaf_values,
                layout.end, layout.depth, layout.side, layout.above, layout.bit, layout.player, layout.starts,
                layout.slots, trees, layout.levels, result, into,
            )
        )  # fmt: skip

    def _walk_wide(
        self,
        mode: int,
        columns: NDArray[np.float64],
        first: int,
        last: int,
        trees: NDArray[np.intp],
        result: NDArray[np.float64],
        into: tuple[Any, ...],
    ) -> int:
        from taylorpoda.dividends.trees import kernels_wide

        layout = self.layout
        return int(
            kernels_wide.walk_wide(
                mode, columns, first, last, self.background, self.weights, *layout.splits(), self.leaf_values,
                layout.end, layout.bit, layout.player, layout.starts, layout.slots, trees, self.n_players,
                layout.levels, result, into,
            )
        )  # fmt: skip

    def dividends(
        self, trees: NDArray[np.intp], columns: NDArray[np.float64], row: int, max_bytes: int
    ) -> list[SparseDividends]:
        """The dividends of one row in some trees, one container per output.

        Raises:
            ValueError: If they take more than `max_bytes`. Without a background there is nothing to list: at most
                `DENSE_PLAYERS` players are for the caller to see to.
        """
        from taylorpoda.dividends.trees import kernels_pairs

        if self.background is None:
            return self._cover_dividends(trees, columns, row)
        if self.n_players <= DENSE_PLAYERS:
            table = np.zeros((1, self.n_outputs, 1 << self.n_players))
            self._walk(kernels_pairs.DENSE, columns, row, row + 1, trees, table, _NOTHING_LISTED)
            return [SparseDividends.from_dense(dividends) for dividends in table[0]]
        pairs = self._pairs(trees, columns, row)
        return expand_pairs(pairs, self.layout, self.leaf_values, self.n_players, self.n_outputs, max_bytes)

    def _cover_dividends(
        self, trees: NDArray[np.intp], columns: NDArray[np.float64], row: int
    ) -> list[SparseDividends]:
        """From the values of all coalitions: below a leaf of the path-dependent game no dividend is zero anyway."""
        index = np.arange(1 << self.n_players)
        everyone = (index[:, None] >> np.arange(self.n_players) & 1).astype(np.bool_)
        return [SparseDividends.from_dense(harsanyi(table)) for table in self.values(trees, columns, row, everyone)]

    def _pairs(self, trees: NDArray[np.intp], columns: NDArray[np.float64], row: int) -> Iterator[tuple[int, Pairs]]:
        from taylorpoda.dividends.trees import kernels_layout, kernels_pairs, kernels_wide

        layout = self.layout
        players, start = kernels_layout.path_players(
            layout.above, layout.bit, layout.player, layout.starts, trees[~self._wide[trees]]
        )
        nowhere = np.zeros((1, 1, 1))
        for tree in trees:
            this = np.array([tree])

            def walk(into: tuple[Any, ...], this: NDArray[np.intp] = this) -> int:
                listing = self._walk_wide if self._wide[this[0]] else self._walk
                return listing(kernels_pairs.LISTED, columns, row, row + 1, this, nowhere, into)

            if self._wide[tree]:
                leaf, only_x, only_b, weight, apart = listed(walk, kernels_wide.MOST_LISTED)
                own = np.arange(len(apart), dtype=np.int64) * kernels_wide.MOST_LISTED
                yield int(tree), Pairs(leaf, only_x, only_b, weight, apart.ravel(), own)
            else:
                leaf, only_x, only_b, weight = listed(walk)
                yield int(tree), merged_pairs(Pairs(leaf, only_x, only_b, weight, players, start[leaf]))

    def values(
        self, trees: NDArray[np.intp], columns: NDArray[np.float64], row: int, coalitions: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """What some trees give to coalitions of one row: (m, players) -> (outputs, m)."""
        from taylorpoda.dividends.trees import kernels_pairs

        layout = self.layout
        present = np.ascontiguousarray(coalitions, dtype=np.bool_)
        result = np.zeros((len(present), self.n_outputs))
        if self.background is None:
            kernels_pairs.coalition_covers(
                row, columns, present, *layout.splits(), layout.values, layout.end, layout.depth, layout.side,
                layout.bit, layout.player, self.shares, layout.starts, layout.slots, trees, layout.levels, result,
            )  # fmt: skip
        else:
            kernels_pairs.coalition_values(
                row, columns, present, self.background, self.weights / self.weights.sum(), *layout.splits(),
                layout.values, layout.end, layout.bit, layout.player, layout.starts, layout.slots, trees, result,
            )  # fmt: skip
        return np.ascontiguousarray(result.T)


def _quadrature(players: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gauss-Legendre points and weights on [0, 1], row k with k points: exact up to degree 2k - 1."""
    most = (players + 1) // 2 + 1
    points, weights = np.zeros((most, most)), np.zeros((most, most))
    for count in range(1, most):
        spots, amounts = np.polynomial.legendre.leggauss(count)
        points[count, :count], weights[count, :count] = (spots + 1) / 2, amounts / 2
    return points, weights
