"""Absent features drawn from a Gaussian copula: the background's own margins, tied together by normal scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.seeds import resolve_seed
from taylorpoda.games.masking.cells import CellReader
from taylorpoda.games.masking.covariance import Moments, careful_moments
from taylorpoda.games.masking.gaussian import ConditionalDraws, check_draws, whole_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.masking.base import MaskingContext

_DRAWS = 64
# A column in which most values repeat is drawn by its steps, any other by straight lines between its values.
_REPEATING = 0.5
# No cell is farther out than this many standard normal deviations.
_FARTHEST = 8.0


class Copula:
    """masking="copula": every column keeps its own distribution, dependence is normal.

    Cells become normal scores by their mid-ranks, absent scores are drawn from the closed-form conditional normal
    distribution, and scores become cells again: for columns of integers, booleans or repeating values only cells
    that occur in the background.

    Args:
        draws: Hybrid rows per coalition, an even number.
        seed: Seed of the draws; None for the explainer's.

    Example:
        >>> import numpy as np
        >>> import taylorpoda as tp
        >>> rows = np.random.default_rng(0).exponential(size=(200, 3))
        >>> explainer = tp.Explainer(lambda x: x.sum(axis=1), rows, masking=tp.masking.Copula())
    """

    name = "copula"

    def __init__(self, draws: int = _DRAWS, seed: int | None = None) -> None:
        self.draws = check_draws(draws)
        self.seed = None if seed is None else resolve_seed(seed, "seed")

    def fit(self, context: MaskingContext) -> ConditionalDraws:
        """Learn margins and the correlation of normal scores from the background."""
        reader = CellReader.of(context.background)
        cells = reader.numbers(context.background, self.name, "the background")
        transform = NormalScores(cells, context.weights, whole_columns(reader))
        seed = context.seed if self.seed is None else self.seed
        return ConditionalDraws(self.name, reader, transform, context.background, self.draws, seed)


class NormalScores:
    """Cells to normal scores by weighted mid-ranks, and back.

    Args:
        cells: Background cells, shape (r, n).
        weights: Shape (r,).
        whole: Shape (n,): columns that only ever take values of the background.
    """

    def __init__(self, cells: NDArray[np.float64], weights: NDArray[np.float64], whole: NDArray[np.bool_]) -> None:
        used = weights > 0
        cells, weights = cells[used], weights[used]
        self._margins = [
            Margin.of(column, weights, steps=bool(step)) for column, step in zip(cells.T, whole, strict=True)
        ]
        self.moments = Moments.of(self._scores(cells), weights)

    def forward(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cells (..., n) to standardized normal scores."""
        return self.moments.standardize(self._scores(cells))

    def back(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standardized normal scores (..., n) to cells."""
        normal = self.moments.mean + self.moments.scale * scores
        return np.stack([margin.cell(normal[..., j]) for j, margin in enumerate(self._margins)], axis=-1)

    def _scores(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([margin.score(cells[..., j]) for j, margin in enumerate(self._margins)], axis=-1)


class Margin:
    """The distribution of one column, as its distinct values and their normal scores."""

    def __init__(
        self, values: NDArray[np.float64], cumulative: NDArray[np.float64], scale: float, *, steps: bool
    ) -> None:
        from scipy.special import ndtri  # takes a quarter of a second to import, and only the copula needs it

        self._values = values
        self._upper = cumulative[:-1]
        self._scores = ndtri(cumulative - np.diff(cumulative, prepend=0.0) / 2)
        self._scale = scale
        self._steps = steps

    @classmethod
    def of(cls, column: NDArray[np.float64], weights: NDArray[np.float64], *, steps: bool) -> Margin:
        """Learn one column."""
        values, place = np.unique(column, return_inverse=True)
        mass = np.bincount(place.reshape(-1), weights=weights)
        scale = float(careful_moments(column[:, None], weights)[1][0])
        cumulative = np.cumsum(mass / mass.sum())
        return cls(values, cumulative, scale, steps=steps or len(values) < _REPEATING * len(column))

    def score(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cells to normal scores; beyond the background by the column's own scale."""
        scores = np.interp(cells, self._values, self._scores)
        if self._scale > 0:
            beyond = cells - np.clip(cells, self._values[0], self._values[-1])
            scores = np.clip(scores + beyond / self._scale, -_FARTHEST, _FARTHEST)
        return np.asarray(scores)

    def cell(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Normal scores to cells within the background's range."""
        from scipy.special import ndtr

        if self._steps:
            return np.asarray(self._values[np.searchsorted(self._upper, ndtr(scores))])
        return np.asarray(np.interp(scores, self._scores, self._values))
