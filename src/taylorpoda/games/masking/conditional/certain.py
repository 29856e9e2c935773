"""Coalitions that leave nothing open: all that varies is known, so the expectation is the model's own answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.masking.base import MaskingContext
    from taylorpoda.games.models.base import BoundModel
    from taylorpoda.games.players import Players
    from taylorpoda.games.tables.base import Table

_BATCH_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Certain:
    """Values of coalitions that know every player that varies in the background.

    The absent players are the same in every background row, so the conditional expectation is the model on one hybrid
    row. A network would get it nearly right, and a column that never varies and that the model ignores would earn a
    little of what the network gets wrong.

    Attributes:
        model: The bound model.
        players: How columns make players.
        constants: One background row.
        telling: The players that vary.
        silent: Those that do not.
    """

    model: BoundModel
    players: Players
    constants: Table
    telling: NDArray[np.intp]
    silent: NDArray[np.intp]

    @classmethod
    def of(cls, context: MaskingContext, telling: NDArray[np.intp]) -> Certain | None:
        """None where all players vary, or one that told nothing in training does vary here."""
        silent = np.setdiff1d(np.arange(context.players.n_players), telling)
        used = np.flatnonzero(context.weights > 0)
        if not len(silent):
            return None
        codes = context.background.take(used).player_codes(context.players.player_of_column)[:, silent]
        if (codes != codes[0]).any():
            return None
        return cls(context.model, context.players, context.background.take(used[:1]), telling, silent)

    def fill(self, rows: Table, coalitions: NDArray[np.bool_], values: NDArray[np.float64]) -> None:
        """Write the values of these coalitions into `values`, shape (rows, coalitions, outputs)."""
        place = np.flatnonzero(coalitions[:, self.telling].all(axis=1) & coalitions.any(axis=1))
        if not len(place) or not rows.n_rows:
            return
        stacked = self.constants.stack(rows)
        codes = stacked.player_codes(self.players.player_of_column)[:, self.silent]
        # Cells as they are in the background may count as absent: one model row serves all such coalitions.
        foreign = codes[1:] != codes[0]
        present = coalitions[place][:, self.silent] & foreign[:, None, :]
        row = np.repeat(np.arange(rows.n_rows), len(place))
        hybrids, which = np.unique(np.column_stack([row, present.reshape(len(row), -1)]), axis=0, return_inverse=True)
        known = np.zeros((len(hybrids), self.players.n_players), dtype=bool)
        known[:, self.telling] = True
        known[:, self.silent] = hybrids[:, 1:]
        outputs = np.concatenate(
            [
                self._ask(stacked, hybrids[start : start + _BATCH_ROWS, 0], known[start : start + _BATCH_ROWS])
                for start in range(0, len(hybrids), _BATCH_ROWS)
            ]
        )
        values[:, place] = outputs[which.reshape(-1)].reshape(rows.n_rows, len(place), -1)

    def _ask(self, stacked: Table, row: NDArray[np.intp], known: NDArray[np.bool_]) -> NDArray[np.float64]:
        mixed = stacked.mix(1 + row, self.players.columns_of(known), np.zeros(len(row), dtype=np.intp))
        return self.model(mixed, len(row), lambda k: f"row {row[k]} of a batch without columns that never vary")
