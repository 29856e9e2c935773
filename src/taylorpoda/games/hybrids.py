"""Hybrid rows: built, evaluated once each, and averaged over their donors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.games.coalitions import all_coalitions, describe, members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from taylorpoda.games.masking.base import HybridMasking
    from taylorpoda.games.masking.baseline import SharedDonors
    from taylorpoda.games.models.base import BoundModel
    from taylorpoda.games.players import Players
    from taylorpoda.games.tables.base import Table

Values = tuple["NDArray[np.intp]", "NDArray[np.float64]"]


def listed_values(
    model: BoundModel,
    masking: HybridMasking,
    rows: Table,
    row: int,
    columns: NDArray[np.bool_],
    *,
    batch: int,
    where: Callable[[int], str],
) -> NDArray[np.float64]:
    """Values of coalitions whose donors differ from coalition to coalition; the last one, v(N), is left at 0.

    Returns:
        Shape (coalitions, outputs).
    """
    own = rows.take(np.array([row]))
    per = max(1, masking.rows_per_coalition())
    step = max(1, batch // per)
    values = np.zeros((len(columns), model.n_outputs))
    for start in range(0, len(columns) - 1, step):
        stop = min(start + step, len(columns) - 1)
        known = columns[start:stop]
        stand_ins = masking.stand_ins(rows, row, known)
        index, weights = stand_ins.index, stand_ins.weights
        if stand_ins.shared:
            index = np.broadcast_to(index, (len(known), len(index)))
            weights = np.broadcast_to(weights, index.shape)
        coalition, donor = np.nonzero(weights)  # a donor without weight costs no model row
        mixed = stand_ins.donors.stack(own).mix(
            np.full(len(coalition), stand_ins.donors.n_rows), known[coalition], index[coalition, donor]
        )
        outputs = model(mixed, len(coalition), lambda k, first=start, of=coalition: where(first + int(of[k])))  # type: ignore[misc]
        np.add.at(values, start + coalition, weights[coalition, donor][:, None] * outputs)
    return values


@dataclass(frozen=True)
class _Repeats:
    """Which cells of one explained row repeat the donors': what decides whether hybrid rows can coincide.

    Attributes:
        donors: Shape (donors, n): cells of each player as integers.
        row: Shape (n,): those of the explained row.
        same: Shape (donors, n): player j of the donor has the very cells of the explained row.
        distinct: Shape (n,): no two donors, and no donor and the row, agree on this player.
    """

    donors: NDArray[np.int64]
    row: NDArray[np.int64]
    same: NDArray[np.bool_]
    distinct: NDArray[np.bool_]

    @property
    def impossible(self) -> bool:
        """Whether no two hybrid rows but those of v(N) can be equal."""
        return not bool(self.same.any()) and bool(self.distinct.any())


class SharedDonorTables:
    """Tables of rows whose donors are the same for every coalition (baseline, marginal).

    Equal hybrid rows of one explained row are evaluated once. Whether two can be equal is read off integer codes of
    the cells, so a table of continuous numbers pays next to nothing for the question.
    """

    def __init__(self, model: BoundModel, masking: SharedDonors, players: Players) -> None:
        self._model = model
        self._masking = masking
        self._players = players
        fixed = masking.stand_ins(masking.donors, 0, np.zeros((1, 0), dtype=bool))
        self._weights = fixed.weights
        self._donor_outputs = model(
            masking.donors.copy().native(),
            masking.donors.n_rows,
            lambda k: f"background row {k} (coalition {{}})",
        )
        self.base = self._weights @ self._donor_outputs

    def tasks(
        self, rows: Table, predictions: NDArray[np.float64], batch: int, working: int
    ) -> Iterator[Callable[[], Values]]:
        """Work items, each giving the positions and (rows, outputs, 2**n) values of some explained rows."""
        stacked = self._masking.donors.stack(rows)
        repeats = self._repeats(stacked)
        plain = np.array([repeats(row).impossible for row in range(rows.n_rows)], dtype=bool)
        cost = self._masking.donors.n_rows << self._players.n_players
        group = max(1, batch // cost)
        positions = np.flatnonzero(plain)
        for start in range(0, len(positions), group):
            some = positions[start : start + group]
            yield lambda some=some: (some, self._grid(stacked, some, batch))  # type: ignore[misc]
        for row in np.flatnonzero(~plain):
            yield lambda row=row: (  # type: ignore[misc]
                np.array([row]),
                self._once_each(stacked, int(row), repeats(int(row)), predictions[row], batch, working)[None],
            )

    def _repeats(self, stacked: Table) -> Callable[[int], _Repeats]:
        codes = stacked.codes()
        if self._players.grouped:
            grouped = []
            for player in range(self._players.n_players):
                cells = codes[:, self._players.player_of_column == player]
                grouped.append(np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1))
            codes = np.stack(grouped, axis=1).astype(np.int64)
        donors, rows = np.split(codes, [self._masking.donors.n_rows])
        ordered = np.sort(donors, axis=0)
        distinct = (ordered[1:] != ordered[:-1]).all(axis=0)

        def of(row: int) -> _Repeats:
            same = donors == rows[row]
            return _Repeats(donors, rows[row], same, distinct & ~same.any(axis=0))

        return of

    def _place(self, row: int, coalition: int) -> str:
        present = members(np.array([coalition]), self._players.n_players)[0]
        return f"explained row {row} with coalition {describe(present, self._players.names)}"

    def _grid(self, stacked: Table, positions: NDArray[np.intp], batch: int) -> NDArray[np.float64]:
        """Every coalition with every donor: nothing repeats but v(empty) and v(N), which are known."""
        donors = np.arange(self._masking.donors.n_rows)
        n, k, outputs = self._players.n_players, len(donors), self._model.n_outputs
        tables = np.empty((len(positions), outputs, 1 << n))
        tables[:, :, 0] = self.base
        step = max(1, batch // (k * len(positions)))
        last = (1 << n) - 1
        for start in range(1, last, step):
            stop = min(start + step, last)
            present = self._players.columns_of(all_coalitions(n, start, stop))
            mixed = stacked.mix_grid(k + positions, present, donors)
            c = stop - start

            def where(j: int, first: int = start, c: int = c) -> str:
                return self._place(int(positions[j // (c * k)]), first + j // k % c)

            values = self._model(mixed, len(positions) * c * k, where).reshape(len(positions), c, k, outputs)
            tables[:, :, start:stop] = np.einsum("gcko,k->goc", values, self._weights)
        return tables

    def _once_each(
        self,
        stacked: Table,
        row: int,
        repeats: _Repeats,
        prediction: NDArray[np.float64],
        batch: int,
        working: int,
    ) -> NDArray[np.float64]:
        """One row whose hybrid rows coincide: donors in blocks that fit the memory, each distinct row once a block."""
        n, outputs = self._players.n_players, self._model.n_outputs
        table = np.zeros((outputs, 1 << n))
        block = max(1, working // ((64 + 16 * n + 16 * outputs) << n))
        donors = np.arange(self._masking.donors.n_rows)
        for start in range(0, len(donors), block):
            some = donors[start : start + block]
            values = self._block_values(stacked, row, some, repeats, prediction, batch)
            table += np.einsum("cko,k->oc", values, self._weights[some])
        table[:, 0] = self.base
        return table

    def _block_values(
        self,
        stacked: Table,
        row: int,
        donors: NDArray[np.intp],
        repeats: _Repeats,
        prediction: NDArray[np.float64],
        batch: int,
    ) -> NDArray[np.float64]:
        n, k = self._players.n_players, len(donors)
        every = np.arange(1 << n, dtype=np.int64)
        same = repeats.same[donors] @ (1 << np.arange(n, dtype=np.int64))
        # Cells that agree anyway may count as present: (S, b) is the hybrid row (S | same_b, b).
        canonical = every[:, None] | same[None, :]
        slot = canonical * k + np.arange(k)
        is_row, is_donor = canonical == every[-1], canonical == same[None, :]
        needed = (every[:, None] == canonical) & ~is_row & ~is_donor
        values = np.empty(((1 << n) * k, self._model.n_outputs))
        coalition, local = np.nonzero(needed)
        first, inverse = self._first_of_equals(coalition, donors[local], repeats)
        chosen, owner = coalition[first], donors[local[first]]
        outputs = np.empty((len(chosen), self._model.n_outputs))
        for start in range(0, len(chosen), batch):
            part = slice(start, start + batch)
            known = self._players.columns_of(members(chosen[part], n))
            at = np.full(len(known), self._masking.donors.n_rows + row)
            outputs[part] = self._model(
                stacked.mix(at, known, owner[part]),
                len(known),
                lambda j, first=start: self._place(row, int(chosen[first + j])),  # type: ignore[misc]
            )
        values[slot[coalition, local]] = outputs[inverse]
        values[slot[-1]] = prediction
        not_row = same != every[-1]
        values[(same * k + np.arange(k))[not_row]] = self._donor_outputs[donors[not_row]]
        return values[slot]

    def _first_of_equals(
        self, coalition: NDArray[np.intp], donors: NDArray[np.intp], repeats: _Repeats
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Among needed (coalition, donor) pairs, one of each set of equal hybrid rows, and whose value each takes.

        Rows of different donors differ unless the coalition covers every player on which all donors differ, so only
        those are sorted.
        """
        n = self._players.n_players
        everyone = np.arange(len(coalition))
        must = int(repeats.distinct @ (1 << np.arange(n, dtype=np.int64)))
        suspects = np.flatnonzero((coalition & must) == must)
        if not len(suspects):
            return everyone, everyone
        present = members(coalition[suspects].astype(np.int64), n)
        cells = np.where(present, repeats.row, repeats.donors[donors[suspects]])
        _, first, inverse = np.unique(_pack(cells), return_index=True, return_inverse=True)
        keep = np.ones(len(coalition), dtype=bool)
        keep[suspects] = False
        keep[suspects[first]] = True
        owner = everyone.copy()
        owner[suspects] = suspects[first][inverse.reshape(-1)]
        rank = np.cumsum(keep) - 1
        return np.flatnonzero(keep), rank[owner]


def _pack(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of small integers as one integer each, without collisions: shape (m, n) -> (m,)."""
    packed = np.zeros(len(cells), dtype=np.int64)
    size = 1
    for column in cells.T:
        width = int(column.max()) + 1 if len(column) else 1
        if size * width >= 2**62:
            packed = np.unique(packed, return_inverse=True)[1].reshape(-1).astype(np.int64)
            size = int(packed.max()) + 1
        packed = packed * width + column
        size *= width
    return packed
