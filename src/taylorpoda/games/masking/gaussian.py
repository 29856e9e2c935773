"""Absent features drawn from the normal distribution of the background, given the present ones."""

from __future__ import annotations

import operator
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.seeds import resolve_seed
from taylorpoda.games.masking.base import HybridMasking, MaskingContext, StandIns
from taylorpoda.games.masking.cells import CellReader
from taylorpoda.games.masking.covariance import Moments, conditional_means, conditional_roots
from taylorpoda.games.masking.draws import normal_draws

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.tables.base import Table

_DRAWS = 64
# What is kept of the factors of coalitions between rows.
_CACHE_BYTES = 2**26

Factors = tuple["NDArray[np.float64]", "NDArray[np.float64]"]


class Gaussian:
    """masking="gaussian": the closed-form conditional normal distribution.

    The covariance is shrunk by as much as makes left-out background rows likeliest. Draws come in opposite pairs
    and are the same for every row and coalition, so answers repeat and a linear model's are exact. Values drawn for
    integer and boolean columns are moved to the nearest value the background has.

    Args:
        draws: Hybrid rows per coalition, an even number.
        seed: Seed of the draws; None for the explainer's.

    Example:
        >>> import numpy as np
        >>> import taylorpoda as tp
        >>> rows = np.random.default_rng(0).normal(size=(200, 3))
        >>> explainer = tp.Explainer(lambda x: x @ [1.0, 2.0, 3.0], rows, masking=tp.masking.Gaussian(draws=32))
    """

    name = "gaussian"

    def __init__(self, draws: int = _DRAWS, seed: int | None = None) -> None:
        self.draws = check_draws(draws)
        self.seed = None if seed is None else resolve_seed(seed, "seed")

    def fit(self, context: MaskingContext) -> ConditionalDraws:
        """Learn mean and covariance from the background."""
        reader = CellReader.of(context.background)
        cells = reader.numbers(context.background, self.name, "the background")
        transform = Standardized(cells, context.weights, whole_columns(reader))
        seed = context.seed if self.seed is None else self.seed
        return ConditionalDraws(self.name, reader, transform, context.background, self.draws, seed)


class Standardized:
    """Cells in standard deviations from the mean, and back.

    Args:
        cells: Background cells, shape (r, n).
        weights: Shape (r,).
        whole: Shape (n,): columns whose drawn values are moved to the nearest one seen.
    """

    def __init__(self, cells: NDArray[np.float64], weights: NDArray[np.float64], whole: NDArray[np.bool_]) -> None:
        self.moments = Moments.of(cells, weights)
        self._seen = {int(j): np.unique(cells[weights > 0, j]) for j in np.flatnonzero(whole)}

    def forward(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cells (..., n) to normal scores."""
        return self.moments.standardize(cells)

    def back(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Normal scores (..., n) to cells."""
        cells = self.moments.mean + self.moments.scale * scores
        for j, seen in self._seen.items():
            cells[..., j] = nearest(cells[..., j], seen)
        return cells


class ConditionalDraws(HybridMasking):
    """Draws from a conditional normal distribution behind a transform of the cells (gaussian and copula)."""

    depends_on_row = True

    def __init__(self, name: str, reader: CellReader, transform: Any, background: Table, draws: int, seed: int) -> None:
        self.name = name
        self._reader = reader
        self._transform = transform
        self._background = background
        self._correlation: NDArray[np.float64] = transform.moments.correlation
        self._normal = normal_draws(draws, reader.n_columns, seed)
        self._dtypes = [np.asarray(background.column(j)).dtype for j in range(reader.n_columns)]
        self._cache: OrderedDict[bytes, Factors] = OrderedDict()
        self._cached = 0
        self._read: tuple[Table, NDArray[np.float64]] | None = None

    def stand_ins(self, rows: Table, row: int, columns: NDArray[np.bool_]) -> StandIns:
        """Fresh donor rows for every coalition: its conditional mean plus the shared draws times its root."""
        means, roots = self._factors(columns)
        scores = self._transform.forward(self._cells(rows)[row])
        centers = np.matmul((scores * columns)[:, None, :], means)
        drawn = centers + np.matmul(self._normal, roots.transpose(0, 2, 1))
        k = len(self._normal)
        donors = self._table(self._transform.back(drawn).reshape(-1, columns.shape[1]))
        index = np.arange(len(columns) * k).reshape(len(columns), k)
        return StandIns(donors, index, np.full(index.shape, 1.0 / k))

    def rows_per_coalition(self) -> int:
        """One hybrid row per draw."""
        return len(self._normal)

    def describe(self) -> dict[str, Any]:
        """What provenance says."""
        return {**super().describe(), "shrinkage": self._transform.moments.intensity}

    def _cells(self, rows: Table) -> NDArray[np.float64]:
        kept = self._read
        if kept is None or kept[0] is not rows:
            kept = (rows, self._reader.numbers(rows, self.name, "X"))
            self._read = kept
        return kept[1]

    def _factors(self, columns: NDArray[np.bool_]) -> Factors:
        key = columns.tobytes()
        found = self._cache.get(key)
        if found is not None:
            return found
        means = conditional_means(self._correlation, columns)
        factors = (means, conditional_roots(self._correlation, columns, means))
        size = 2 * means.nbytes
        if self._cached + size <= _CACHE_BYTES:
            self._cache[key] = factors
            self._cached += size
        return factors

    def _table(self, cells: NDArray[np.float64]) -> Table:
        """Rows in the background's container; numbers are rounded to its floating-point types, where they must."""
        for j, dtype in enumerate(self._dtypes):
            if dtype.kind == "f" and dtype.itemsize < 8:
                cells[:, j] = cells[:, j].astype(dtype)
        return self._background.read(cells, "the drawn rows")


def nearest(values: NDArray[np.float64], seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest of the sorted values seen."""
    middle = (seen[1:] + seen[:-1]) / 2
    return np.asarray(seen[np.searchsorted(middle, values)])


def whole_columns(reader: CellReader) -> NDArray[np.bool_]:
    """Which columns hold something other than floating-point numbers."""
    return np.array([column.whole for column in reader.columns], dtype=bool)


def check_draws(draws: object) -> int:
    """A positive even number of draws."""
    try:
        number = operator.index(draws)  # type: ignore[arg-type]
    except TypeError:
        msg = f"draws={draws!r} has type {type(draws).__name__}; allowed: an even integer >= 2."
        raise TypeError(msg) from None
    if number < 2 or number % 2:
        msg = f"draws={number} is not allowed; allowed: an even integer >= 2, because draws come in opposite pairs."
        raise ValueError(msg)
    return number
