"""Games of a tree ensemble: exact attributions and dividends of any row, without a model call."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.dividends.sparse import SparseDividends, sum_of
from taylorpoda.dividends.sparse_coalitions import Coalitions
from taylorpoda.dividends.trees.budget import choose_tabled, table_bytes, why_not_tabled
from taylorpoda.dividends.trees.catalog import Catalog, build_catalog
from taylorpoda.dividends.trees.layout import Layout, Units, find_units, lay_out
from taylorpoda.dividends.trees.walks import DENSE_PLAYERS, Walks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from taylorpoda.dividends.trees.ensemble import Ensemble

_ROWS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class TreeGame:
    """The value functions of an ensemble: marginal over a background, or path-dependent.

    The marginal one is the weighted mean over the background rows of the leaf sum; absent features take the background
    row's cells. The path-dependent one follows both branches of a split on an absent feature, in proportion to the
    training weight that reached them.

    Attributes:
        layout: The trees, laid out for the players.
        base: Shape (outputs,): what every coalition gets besides the leaves.
        n_players: How many players.
        background: Columns of the background rows, (columns, background rows), or None for path-dependent.
        weights: Their weights, shape (background rows,); they need not sum to 1.
        max_memory: Bytes that tables may take.
        n_jobs: Threads for rows; None or 1 for the caller's own.
    """

    layout: Layout
    base: NDArray[np.float64]
    n_players: int
    background: NDArray[np.float64] | None
    weights: NDArray[np.float64]
    max_memory: int
    n_jobs: int | None = None

    @property
    def n_outputs(self) -> int:
        """How many outputs."""
        return len(self.base)

    @cached_property
    def _units(self) -> Units:
        return find_units(self.layout)

    @cached_property
    def tabled(self) -> NDArray[np.bool_]:
        """Which trees have tables."""
        return choose_tabled(table_bytes(self.layout, self._units), self.max_memory)

    @cached_property
    def _tabled_trees(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.tabled)

    @cached_property
    def _paired_trees(self) -> NDArray[np.intp]:
        return np.flatnonzero(~self.tabled)

    @cached_property
    def _leaf_values(self) -> NDArray[np.float64]:
        """Leaf values per unit of background weight, so that counts of rows stay whole numbers."""
        return self.layout.values / (1.0 if self.background is None else self.weights.sum())

    @cached_property
    def _walks(self) -> Walks:
        return Walks(self.layout, self._leaf_values, self.n_players, self.n_outputs, self.background, self.weights)

    @cached_property
    def _leaf_start(self) -> NDArray[np.int64]:
        """Where the patterns of each leaf of the tabled trees begin."""
        layout = self.layout
        tabled = np.repeat(self.tabled, np.diff(layout.starts))
        sizes = np.where(layout.leaves & tabled, np.left_shift(np.int64(1), np.minimum(layout.above, 62)), 0)
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def _patterns(self) -> NDArray[np.float64]:
        """The weight of the background rows of every pattern at every leaf of the tabled trees."""
        from taylorpoda.dividends.trees import kernels_tables

        layout, counts = self.layout, np.zeros(self._leaf_start[-1])
        kernels_tables.count_patterns(
            self.background, self.weights, *layout.splits(), layout.depth, layout.side, layout.bit, layout.starts,
            self._tabled_trees, self._leaf_start, layout.levels, counts,
        )  # fmt: skip
        return counts

    @cached_property
    def _counts(self) -> NDArray[np.float64]:
        """C(q) of every leaf of the tabled trees."""
        from taylorpoda.dividends.trees import kernels_tables

        layout, chosen, leaf_start = self.layout, self._tabled_trees, self._leaf_start
        if self.background is None:
            counts = np.zeros(leaf_start[-1])
            kernels_tables.product_counts(
                self._walks.shares, layout.depth, layout.above, layout.bit, layout.starts, layout.levels, chosen,
                leaf_start, counts,
            )  # fmt: skip
            return counts
        counts = self._patterns()
        kernels_tables.superset_sums(counts, leaf_start, layout.bit, layout.starts, chosen)
        return counts

    def prepare(self) -> None:
        """Make the tables for attributions now rather than at the first row."""
        if len(self._tabled_trees):
            self._shapley_tables  # noqa: B018 - computed once, on access

    @cached_property
    def _shapley_tables(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        return self._tables(occlusion=False)

    @cached_property
    def _occlusion_tables(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        return self._tables(occlusion=True)

    def _tables(self, *, occlusion: bool) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        from taylorpoda.dividends.trees import kernels_shapley

        layout, units = self.layout, self._units
        chosen = self.tabled[units.tree]
        sizes = np.where(chosen, units.entries * layout.width, 0)
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        counts, leaf_start = self._counts, self._leaf_start
        tables = np.empty(start[-1])
        everyone = np.flatnonzero(chosen)

        def fill(first: int, last: int) -> None:
            kernels_shapley.unit_tables(
                counts, leaf_start, self._leaf_values, layout.end, layout.depth, layout.above, layout.bit,
                layout.player, units.node, units.bits, units.start, units.players, start, everyone[first:last],
                occlusion, tables,
            )  # fmt: skip

        self._in_threads(fill, len(everyone), 64)
        return tables, start

    def _in_threads(self, task: Callable[[int, int], None], count: int, least: int) -> None:
        """Run a task over ranges of 0 .. count, in threads where the user asked for them."""
        jobs = max(1, min(self.n_jobs or 1, count // least))
        ends = np.linspace(0, count, jobs + 1).astype(np.int64)
        if jobs == 1:
            task(0, count)
            return
        with ThreadPoolExecutor(jobs) as pool:
            for done in [pool.submit(task, int(first), int(last)) for first, last in pairwise(ends)]:
                done.result()

    def full(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """v(N): the float64 sum of the leaves, shape (rows, outputs)."""
        return self._sum_of_leaves(columns)

    @cached_property
    def empty(self) -> NDArray[np.float64]:
        """v(empty), shape (outputs,)."""
        if self.background is None:
            nobody = np.zeros((1, self.n_players), dtype=np.bool_)
            return self.values(np.zeros((max(1, int(self.layout.column.max(initial=0)) + 1), 1)), 0, nobody)[:, 0]
        share = self.weights / self.weights.sum()
        return np.asarray(share @ self._sum_of_leaves(self.background))

    def _sum_of_leaves(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        from taylorpoda.dividends.trees import kernels_route

        layout = self.layout
        result = np.tile(self.base, (columns.shape[1], 1))
        kernels_route.add_leaves(
            columns, *layout.splits(), layout.values, layout.end, layout.bit, layout.starts, layout.slots, result
        )
        return result

    def attributions(self, columns: NDArray[np.float64], *, occlusion: bool = False) -> NDArray[np.float64]:
        """Shapley values, or OCC-1, of rows: shape (rows, outputs, players)."""
        rows = columns.shape[1]
        result = np.empty((rows, self.n_outputs, self.n_players))

        def explain(first: int, last: int) -> None:
            for begin in range(first, last, _ROWS_AT_ONCE):
                end = min(begin + _ROWS_AT_ONCE, last)
                result[begin:end] = self._block(columns, begin, end, occlusion=occlusion)

        self.prepare()
        self._in_threads(explain, rows, 32)
        return result

    def _block(self, columns: NDArray[np.float64], first: int, last: int, *, occlusion: bool) -> NDArray[np.float64]:
        from taylorpoda.dividends.trees import kernels_shapley

        layout, units = self.layout, self._units
        result = np.zeros((self.n_outputs, self.n_players, last - first))
        if len(self._tabled_trees):
            tables, start = self._occlusion_tables if occlusion else self._shapley_tables
            kernels_shapley.look_up(
                np.ascontiguousarray(columns[:, first:last]), 0, last - first, *layout.splits(), layout.end,
                layout.depth, layout.side, layout.above, layout.bit, layout.starts, units.kind, units.start,
                units.players, units.bits, units.of_node, start, tables, layout.slots, layout.width,
                self._tabled_trees, layout.levels, result,
            )  # fmt: skip
        by_row = np.ascontiguousarray(np.moveaxis(result, 2, 0))
        if len(self._paired_trees):
            self._walks.add_attributions(self._paired_trees, columns, first, last, by_row, occlusion=occlusion)
        return by_row

    @cached_property
    def _catalog(self) -> Catalog:
        # Sums and differences of whole numbers of rows are exact, so counts are as good as patterns and at hand.
        # Of other weights they leave rounding where a dividend is zero; patterns are never added up, so none is left.
        whole = self.background is None or bool((self.weights == np.rint(self.weights)).all())
        return build_catalog(
            self.layout,
            self._tabled_trees,
            self._counts if whole else self._patterns(),
            self._leaf_start,
            self._leaf_values,
            self.n_players,
            self.max_memory // 4,
            summed=whole,
        )

    def dividends(self, columns: NDArray[np.float64], row: int) -> list[SparseDividends]:
        """All dividends of one row that are not zero, one container per output, with v(empty) first.

        Raises:
            ValueError: If they do not fit the memory; or if there is no background, and the trees are too deep.
        """
        if self.background is None and len(self._paired_trees) and self.n_players > DENSE_PLAYERS:
            why = why_not_tabled(self.layout, self._units, self.max_memory)
            msg = (
                "without a background the dividends of a row come from tables alone (or from all coalitions of up to "
                f"{DENSE_PLAYERS} players), but of these trees {why}. "
                'Ways out: a background, shallower or fewer trees, or policy="shapley", which needs no dividends.'
            )
            raise ValueError(msg)
        tabled = [self._listed(values) for values in self._tabled_dividends(columns, row)]
        if not len(self._paired_trees):
            return tabled
        paired = self._walks.dividends(self._paired_trees, columns, row, self.max_memory // 2)
        return [sum_of(list(both)).nonzero() for both in zip(tabled, paired, strict=True)]

    def _listed(self, values: NDArray[np.float64]) -> SparseDividends:
        """The coalitions of the catalog that have a dividend, and the empty one."""
        from taylorpoda.dividends.trees import kernels_dividends

        known = self._catalog.coalitions
        indptr, members, amounts = kernels_dividends.kept(values, known.indptr, known.members)
        return SparseDividends(Coalitions(known.n_players, indptr, members), amounts)

    def _tabled_dividends(self, columns: NDArray[np.float64], row: int) -> NDArray[np.float64]:
        from taylorpoda.dividends.trees import kernels_dividends

        layout, catalog = self.layout, self._catalog
        result = np.zeros((1, self.n_outputs, len(catalog.coalitions)))
        kernels_dividends.row_dividends(
            columns, row, row + 1, *layout.splits(), layout.depth, layout.side, layout.above, layout.bit, layout.repeat,
            layout.starts, layout.slots, self._tabled_trees, catalog.node_start, catalog.tables, layout.width,
            catalog.id_start, catalog.ids, catalog.sign, layout.levels, result,
        )  # fmt: skip
        result[0, :, 0] += catalog.empty + self.base
        return np.asarray(result[0])

    def dense_dividends(self, columns: NDArray[np.float64], row: int) -> NDArray[np.float64]:
        """All 2**n dividends of one row, shape (outputs, 2**n); for few players."""
        return np.stack([game.to_dense() for game in self.dividends(columns, row)])

    def values(self, columns: NDArray[np.float64], row: int, coalitions: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Values of coalitions of one row by walking the trees: (m, players) -> (outputs, m)."""
        given = self._walks.values(np.arange(self.layout.n_trees), columns, row, coalitions)
        return np.asarray(given + self.base[:, None])


def make_game(
    ensemble: Ensemble,
    player_of_feature: NDArray[Any],
    background: Any,
    weights: NDArray[np.float64] | None = None,
    *,
    max_memory: int,
    n_jobs: int | None = None,
) -> TreeGame:
    """Bind an ensemble to players and a background.

    Args:
        ensemble: The trees.
        player_of_feature: Shape (features,): the player of each feature, numbered from 0.
        background: Rows as the model's predict takes them, or None for the path-dependent game.
        weights: One non-negative weight per background row; None for equal ones.
        max_memory: Bytes that tables may take.
        n_jobs: Threads for rows.

    Raises:
        ValueError: If the path-dependent game is asked of a model that does not store its training weights.
    """
    players = np.asarray(player_of_feature, dtype=np.int64)
    columns = None if background is None else ensemble.encoder.encode(background)
    layout = lay_out(ensemble, players, merge_constant=columns is not None)
    if columns is None and bool(np.isnan(layout.cover).any()):
        msg = f"{ensemble.source} does not say how many training rows reached each node; pass a background."
        raise ValueError(msg)
    count = 1 if columns is None else columns.shape[1]
    given = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    return TreeGame(
        layout=layout,
        base=ensemble.base,
        n_players=int(players.max(initial=-1)) + 1,
        background=columns,
        weights=given,
        max_memory=max_memory,
        n_jobs=n_jobs,
    )
