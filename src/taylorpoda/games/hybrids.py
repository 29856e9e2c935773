"""Hybrid rows: built, evaluated once each, and averaged over their donors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.games.coalitions import describe, members
from taylorpoda.games.donors import DonorBlock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from taylorpoda.games.donors import Coincidences
    from taylorpoda.games.masking.base import HybridMasking
    from taylorpoda.games.masking.baseline import SharedDonors
    from taylorpoda.games.models.base import BoundModel
    from taylorpoda.games.players import Players
    from taylorpoda.games.tables.base import Table

# Comparing donors with one another takes the square of their number.
_LARGEST_BLOCK = 4096
_GATHER = 4096

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
    step = max(1, min(batch // per, masking.coalitions_at_once or len(columns)))
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


class SharedDonorTables:
    """Tables of rows whose donors are the same for every coalition (baseline, marginal).

    Equal hybrid rows of one explained row are evaluated once. Donors stand in blocks that fit the memory; on
    all but the smallest bounds that is one block.
    """

    def __init__(self, model: BoundModel, masking: SharedDonors, players: Players, working: int) -> None:
        self._model = model
        self._donors = masking.donors
        self._players = players
        fixed = masking.stand_ins(masking.donors, 0, np.zeros((1, 0), dtype=bool))
        outputs = model(
            masking.donors.copy().native(), masking.donors.n_rows, lambda k: f"background row {k} (coalition {{}})"
        )
        self.base = fixed.weights @ outputs
        # Per donor and coalition: two copies of the outputs, one listing of pairs and a few flags.
        size = max(1, min(_LARGEST_BLOCK, working // ((40 + 16 * model.n_outputs) << players.n_players)))
        codes = masking.donors.player_codes(players.player_of_column)
        self._blocks = [
            DonorBlock(np.arange(start, stop), fixed.weights[start:stop], outputs[start:stop], codes[start:stop])
            for start in range(0, len(codes), size)
            for stop in [min(start + size, len(codes))]
        ]

        # Found once if what is found about all blocks fits the memory, else anew for every row.
        whole = (4 * len(codes) + 8 * len(self._blocks)) << players.n_players
        self._keep = whole <= working // 2
        self._working = working
        self._kept: dict[int, Coincidences] = {}

    def _coincidences(self, block: DonorBlock) -> Coincidences:
        if not self._keep:
            return block.coincidences(self._working)
        number = int(block.donors[0])
        if number not in self._kept:
            self._kept[number] = block.coincidences(self._working)
        return self._kept[number]

    def tasks(self, rows: Table, predictions: NDArray[np.float64], batch: int) -> Iterator[Callable[[], Values]]:
        """Work items, each giving the positions and (rows, outputs, 2**n) values of some explained rows."""
        stacked = self._donors.stack(rows)
        codes = stacked.player_codes(self._players.player_of_column)
        donors, own = np.split(codes, [self._donors.n_rows])
        bits = 1 << np.arange(self._players.n_players, dtype=np.int64)
        same = [(donors == row) @ bits for row in own]
        distinct = all(block.distinct for block in self._blocks)
        plain = np.array([distinct and not mask.any() for mask in same], dtype=bool)
        group = max(1, batch // (self._donors.n_rows << self._players.n_players))
        positions = np.flatnonzero(plain)
        for start in range(0, len(positions), group):
            some = positions[start : start + group]
            yield lambda some=some: (some, self._grid(stacked, some, batch))  # type: ignore[misc]
        for row in np.flatnonzero(~plain):
            yield lambda row=int(row): (  # type: ignore[misc]
                np.array([row]),
                self._once_each(stacked, row, same[row], predictions[row], batch)[None],
            )

    def _place(self, row: int, coalition: int) -> str:
        present = members(np.array([coalition]), self._players.n_players)[0]
        return f"explained row {row} with coalition {describe(present, self._players.names)}"

    def _grid(self, stacked: Table, positions: NDArray[np.intp], batch: int) -> NDArray[np.float64]:
        """Every coalition with every donor: nothing repeats but v(empty) and v(N), which are known."""
        n, outputs = self._players.n_players, self._model.n_outputs
        tables = np.zeros((len(positions), outputs, 1 << n))
        coalitions = np.arange(1, (1 << n) - 1, dtype=np.int64)
        for block in self._blocks:
            for part, values in self._products(stacked, positions, coalitions, block.donors, batch):
                tables[:, :, 1 + part.start : 1 + part.stop] += np.einsum("gcko,k->goc", values, block.weights)
        tables[:, :, 0] = self.base
        return tables

    def _products(
        self,
        stacked: Table,
        positions: NDArray[np.intp],
        coalitions: NDArray[np.int64],
        donors: NDArray[np.intp],
        batch: int,
    ) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Rows x coalitions x donors in batches: slices of the coalitions with (rows, coalitions, donors, outputs)."""
        g, k = len(positions), len(donors)
        step = max(1, batch // (k * g))
        mix = stacked.grid(self._donors.n_rows + positions, donors)
        for start in range(0, len(coalitions), step):
            some = coalitions[start : start + step]
            present = self._players.columns_of(members(some, self._players.n_players))

            def where(j: int, some: NDArray[np.int64] = some) -> str:
                return self._place(int(positions[j // (len(some) * k)]), int(some[j // k % len(some)]))

            values = self._model(mix(present), g * len(some) * k, where)
            yield slice(start, start + len(some)), values.reshape(g, len(some), k, self._model.n_outputs)

    def _once_each(
        self, stacked: Table, row: int, same: NDArray[np.int64], prediction: NDArray[np.float64], batch: int
    ) -> NDArray[np.float64]:
        """One row whose hybrid rows coincide: each distinct one of a block is evaluated once."""
        n = self._players.n_players
        table = np.zeros((self._model.n_outputs, 1 << n))
        every = np.arange(1 << n, dtype=np.int64)
        for block in self._blocks:
            own = same[block.donors]
            values = self._block_values(stacked, row, block, own, prediction, batch)
            # Cells that agree anyway may count as present: (S, b) is the hybrid row (S | same_b, b).
            tied = np.flatnonzero(own)
            values[:, tied] = values[every[:, None] | own[tied], tied]
            table += np.einsum("cko,k->oc", values, block.weights)
        table[:, 0] = self.base
        return table

    def _block_values(
        self,
        stacked: Table,
        row: int,
        block: DonorBlock,
        same: NDArray[np.int64],
        prediction: NDArray[np.float64],
        batch: int,
    ) -> NDArray[np.float64]:
        """The model on (S, b) for every S that covers same_b, shape (2**n, donors, outputs)."""
        n, k = self._players.n_players, len(same)
        every, local = np.arange(1 << n, dtype=np.int64), np.arange(k)
        coincidences = self._coincidences(block)
        first = coincidences.first
        needed = ((every[:, None] & same) == same) & (first == local)
        values = np.empty((1 << n, k, self._model.n_outputs))
        # Known: the donors themselves, by the first donor that agrees with them where they differ from the row.
        needed[same, first[same, local]] = False
        values[same, first[same, local]] = block.outputs
        needed[-1] = False
        # Donors that share no cell with the row need almost every coalition: as a grid; the rest is listed.
        free = np.flatnonzero(same == 0)
        full = np.flatnonzero(needed[:, free].all(axis=1)) if len(free) else every[:0]
        if len(full):
            for part, products in self._products(stacked, np.array([row]), full, block.donors[free], batch):
                values[full[part][:, None], free] = products[0]
            needed[full[:, None], free] = False
        coalition, donor = np.nonzero(needed)
        values[coalition, donor] = self._listed(stacked, row, coalition, block.donors[donor], batch)
        for start in range(0, len(coincidences.sets), _GATHER):
            some = coincidences.sets[start : start + _GATHER]
            values[some] = values[some[:, None], first[some]]
        values[-1] = prediction
        return values

    def _listed(
        self, stacked: Table, row: int, coalitions: NDArray[np.int64], donors: NDArray[np.intp], batch: int
    ) -> NDArray[np.float64]:
        """The model on hybrid rows given one by one."""
        outputs = np.empty((len(coalitions), self._model.n_outputs))
        for start in range(0, len(coalitions), batch):
            part = slice(start, start + batch)
            known = self._players.columns_of(members(coalitions[part], self._players.n_players))
            at = np.full(len(known), self._donors.n_rows + row)

            def where(j: int, first: int = start) -> str:
                return self._place(row, int(coalitions[first + j]))

            outputs[part] = self._model(stacked.mix(at, known, donors[part]), len(known), where)
        return outputs
