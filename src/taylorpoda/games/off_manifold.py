"""How far rows lie from the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.games.masking.encoding import Encoder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.masking.base import HybridMasking
    from taylorpoda.games.tables.base import Table

_MOST_DONORS = 5000
_MOST_ROWS = 64
_HYBRIDS_PER_ROW = 16


class Manifold:
    """Background rows as points; distances are Euclidean in standard deviations per feature.

    Args:
        background: The data.
        weights: Rows of weight 0 do not count.
        generator: Draws a sample where there are very many rows.
    """

    def __init__(self, background: Table, weights: NDArray[np.float64], generator: np.random.Generator) -> None:
        used = np.flatnonzero(weights > 0)
        if len(used) > _MOST_DONORS:
            used = np.sort(generator.choice(used, _MOST_DONORS, replace=False))
        self._encoder = Encoder.of(background, weights)
        self._points = self._encoder.encode(background.take(used))
        self._generator = generator
        self._background = background

    def distances(self, rows: Table) -> NDArray[np.float64]:
        """From each row to the nearest background row, shape (rows,)."""
        return self._to_points(self._encoder.encode(rows))

    def median(self, rows: Table) -> float:
        """The median distance of rows."""
        return float(np.median(self.distances(rows)))

    def median_of_hybrids(self, masking: HybridMasking, rows: Table, columns: NDArray[np.bool_]) -> float:
        """The median distance of hybrid rows, drawn as often as their donors weigh.

        Args:
            masking: Supplies the donors.
            rows: Explained rows.
            columns: Shape (m, n_columns): what coalitions know.
        """
        found = []
        for row in range(min(rows.n_rows, _MOST_ROWS)):
            some = np.sort(self._generator.choice(len(columns), min(len(columns), _HYBRIDS_PER_ROW), replace=False))
            known = columns[some]
            stand_ins = masking.stand_ins(rows, row, known)
            shape = (len(known), stand_ins.index.shape[-1])
            index = np.broadcast_to(stand_ins.index, shape)
            weights = np.broadcast_to(stand_ins.weights, shape)
            cumulative = np.cumsum(weights, axis=1)
            points = self._generator.random(len(known)) * cumulative[:, -1]
            donor = np.minimum((cumulative <= points[:, None]).sum(axis=1), index.shape[1] - 1)
            own = rows.take(np.array([row]))
            mixed = stand_ins.donors.stack(own).mix(
                np.full(len(known), stand_ins.donors.n_rows), known, index[np.arange(len(known)), donor]
            )
            found.append(self.distances(self._background.read(mixed, "the hybrid rows")))
        return float(np.median(np.concatenate(found)))

    def _to_points(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        size = max(features.shape[1], 1)
        squares = np.square(features).sum(axis=1)[:, None] - 2 * features @ self._points.T
        squares += np.square(self._points).sum(axis=1)
        return np.asarray(np.sqrt(np.maximum(squares.min(axis=1), 0.0) / size))
