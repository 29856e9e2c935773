"""Absent features taken from background rows that resemble the explained row in the present ones."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.games.masking.base import HybridMasking, MaskingContext, StandIns
from taylorpoda.games.masking.cells import CellReader
from taylorpoda.games.masking.covariance import Moments
from taylorpoda.games.masking.likeness import (
    gower_squares,
    kernel_weights,
    mahalanobis_squares,
    mismatch_costs,
    tilted,
    whiteners,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.tables.base import Table

_NEIGHBOURS = 100
_BANDWIDTH = 0.3
# Arrays of coalitions x background rows are built in parts of at most this many cells.
_CHUNK_CELLS = 2**19
# What one cell of them takes in all, in bytes.
_CELL_BYTES = 96
_WORKING_SHARE = 4


class Neighbours:
    """masking="neighbours": kernel-weighted background rows, whole rows as they are.

    How alike two rows are is judged on the features a coalition knows: complete numbers by Mahalanobis distance,
    categories and columns with missing cells one by one as in Gower's. The weights are then tilted, by as little as
    it takes, so that the neighbors agree with the explained row in the mean of every known number: without that, rows
    near the edge of the data would borrow from one side only.

    Args:
        neighbours: Rows with the largest weights that are kept for each coalition.
        bandwidth: Of the kernel, in units of the distance of one feature's standard deviation.

    Example:
        >>> import numpy as np
        >>> import taylorpoda as tp
        >>> rows = np.random.default_rng(0).normal(size=(200, 3))
        >>> rule = tp.masking.Neighbours(neighbours=50)
        >>> explainer = tp.Explainer(lambda x: x[:, 0] * x[:, 1], rows, masking=rule)
    """

    name = "neighbours"

    def __init__(self, neighbours: int = _NEIGHBOURS, bandwidth: float = _BANDWIDTH) -> None:
        try:
            self.neighbours = operator.index(neighbours)
        except TypeError:
            msg = f"neighbours={neighbours!r} has type {type(neighbours).__name__}; allowed: an integer >= 1."
            raise TypeError(msg) from None
        if self.neighbours < 1:
            msg = f"neighbours={neighbours} is not allowed; allowed: an integer >= 1."
            raise ValueError(msg)
        if not isinstance(bandwidth, int | float) or not 0 < bandwidth < np.inf:
            msg = f"bandwidth={bandwidth!r} is not allowed; allowed: a number above 0."
            raise ValueError(msg)
        self.bandwidth = float(bandwidth)

    def fit(self, context: MaskingContext) -> NearRows:
        """Read the background."""
        return NearRows(context, self.neighbours, self.bandwidth)


class NearRows(HybridMasking):
    """Background rows weighted by how alike they are to the explained row, coalition by coalition."""

    name = "neighbours"
    depends_on_row = True

    def __init__(self, context: MaskingContext, neighbours: int, bandwidth: float) -> None:
        background, weights = context.background, context.weights
        used = np.flatnonzero(weights > 0)
        self._donors = background.take(used)
        self._weights = weights[used]
        self._keep = min(neighbours, len(used))
        self._bandwidth = bandwidth
        self._reader = CellReader.of(background)
        self._cells = self._reader.read(self._donors)
        # What differs nowhere tells nothing. Complete numbers have a covariance; the rest is compared cell by cell.
        self._costs = mismatch_costs(self._cells, self._weights)
        complete = ~self._reader.categorical & np.isfinite(self._cells).all(axis=0) & (self._costs > 0)
        self._numeric = np.flatnonzero(complete)
        self._single = np.flatnonzero(~complete & (self._costs > 0))
        self._moments = Moments.of(self._cells[:, self._numeric], self._weights)
        self._standard = self._moments.standardize(self._cells[:, self._numeric])
        gappy = np.where(np.isfinite(self._cells), self._cells, np.nan)[:, self._single]
        self._scales = np.where(self._reader.categorical[self._single], 0.0, _spread(gappy))
        within = context.max_memory // _WORKING_SHARE // _CELL_BYTES
        self._step = max(1, min(_CHUNK_CELLS, within) // len(used))
        self.coalitions_at_once = max(1, within // len(used))

    def stand_ins(self, rows: Table, row: int, columns: NDArray[np.bool_]) -> StandIns:
        """The nearest background rows of every coalition, with their weights."""
        own = self._reader.read(rows.take(np.array([row])))[0]
        scores = self._moments.standardize(own[self._numeric])
        # A number that is missing here is missing in no background row: it singles none of them out.
        known = columns[:, self._numeric] & np.isfinite(scores)
        offsets = self._standard - np.where(np.isfinite(scores), scores, 0.0)
        single = gower_squares(self._cells[:, self._single], own[self._single], self._scales, self._costs[self._single])
        # A coalition that knows nothing averages over the whole background, so then all rows are listed.
        nothing = np.logical_not(known.any(axis=1) | columns[:, self._single].any(axis=1))
        keep = len(self._cells) if nothing.any() else self._keep
        index = np.empty((len(columns), keep), dtype=np.intp)
        weights = np.empty((len(columns), keep))
        for start in range(0, len(columns), self._step):
            part = slice(start, start + self._step)
            compared = columns[part][:, self._single]
            count = np.maximum(known[part].sum(axis=1) + compared.sum(axis=1), 1)
            near = self._near(known[part], offsets, compared @ single.T, count)
            index[part], weights[part] = near if keep == self._keep else self._listed(*near, nothing[part])
        return StandIns(self._donors, index, weights)

    def rows_per_coalition(self) -> int:
        """One hybrid row per neighbor."""
        return self._keep

    def describe(self) -> dict[str, Any]:
        """What provenance says."""
        return {**super().describe(), "bandwidth": self._bandwidth}

    def _near(
        self,
        known: NDArray[np.bool_],
        offsets: NDArray[np.float64],
        single: NDArray[np.float64],
        count: NDArray[np.int64],
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Positions and weights of the nearest rows, shape (m, k) each.

        Args:
            known: Shape (m, numbers): the numbers each coalition knows.
            offsets: Standardized numbers of the background minus the explained row's, shape (r, numbers).
            single: What the columns compared one by one add to squared distances, shape (m, r).
            count: How many features each coalition knows, shape (m,).
        """
        roots = whiteners(self._moments.correlation, known)
        squares = mahalanobis_squares(offsets, np.matmul(roots, roots.transpose(0, 2, 1))) + single
        weights = kernel_weights(squares / count[:, None], self._weights, self._bandwidth)
        index = np.sort(np.argpartition(-weights, self._keep - 1, axis=1)[:, : self._keep], axis=1)
        kept = np.take_along_axis(weights, index, axis=1)
        kept /= kept.sum(axis=1, keepdims=True)
        return index, tilted(kept, np.matmul(offsets[index], roots))

    def _listed(
        self, index: NDArray[np.intp], weights: NDArray[np.float64], nothing: NDArray[np.bool_]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The same over all background rows, which coalitions that know nothing weight as the background does."""
        every = np.zeros((len(index), len(self._cells)))
        np.put_along_axis(every, index, weights, axis=1)
        every[nothing] = self._weights
        return np.broadcast_to(np.arange(len(self._cells)), every.shape), every


def _spread(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviations of columns with gaps; 0 where fewer than two numbers differ."""
    spread = np.zeros(cells.shape[1])
    for j, column in enumerate(cells.T):
        present = column[np.isfinite(column)]
        spread[j] = present.std() if len(present) > 1 else 0.0
    return spread
