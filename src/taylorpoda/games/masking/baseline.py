"""Absent features take the value of one baseline row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.games.masking.base import HybridMasking, MaskingContext, Measured, StandIns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.tables.base import Table


class Baseline:
    """masking="baseline": the background must be one row.

    Attributes:
        measured: How well it did on held-out rows, if that is known.
    """

    name = "baseline"
    measured: Measured | None = None

    def fit(self, context: MaskingContext) -> SharedDonors:
        """Take the one background row as the baseline."""
        if context.background.n_rows != 1:
            msg = (
                f'masking="baseline" needs a background of exactly one row, got {context.background.n_rows}; '
                'pass that row, or use masking="marginal" to average over all of them.'
            )
            raise ValueError(msg)
        return SharedDonors(self.name, context.background, context.weights, self.measured)


class SharedDonors(HybridMasking):
    """The same weighted donor rows for every coalition of every row.

    Identical donor rows count once, with their weights added.
    """

    def __init__(
        self, name: str, donors: Table, weights: NDArray[np.float64], measured: Measured | None = None
    ) -> None:
        self.name = name
        self.measured = measured
        codes = donors.player_codes(np.zeros(donors.n_columns, dtype=np.intp))
        _, first, group = np.unique(codes, return_index=True, return_inverse=True)
        keep = np.sort(first)
        place = np.argsort(np.argsort(first))
        merged = np.zeros(len(first))
        np.add.at(merged, place[group.reshape(-1)], weights)
        used = merged > 0
        self.donors = donors.take(keep[used])
        self._stand_ins = StandIns(self.donors, np.arange(self.donors.n_rows), merged[used])

    def stand_ins(self, rows: Table, row: int, columns: NDArray[np.bool_]) -> StandIns:  # noqa: ARG002 - the seam's
        """All donors, whatever the row and the coalition."""
        return self._stand_ins

    def rows_per_coalition(self) -> int:
        """One hybrid row per donor."""
        return self.donors.n_rows
