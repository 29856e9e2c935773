"""The games of one call: a table and what is derived from it, each thing once and only when asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

from taylorpoda._support.arrays import to_numpy
from taylorpoda.allocation.intervals import admissible_intervals
from taylorpoda.dividends.dense import harsanyi, like, shapley_of
from taylorpoda.utilities import Context

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Games:
    """One or many games over the same players, given by their table.

    Attributes:
        context: The checked table of shape (..., 2**n), with target and threshold.
    """

    context: Context

    @property
    def values(self) -> Any:
        """The table."""
        return self.context.values

    @property
    def lead(self) -> tuple[int, ...]:
        """The leading axes."""
        return tuple(self.values.shape[:-1])

    @property
    def n_players(self) -> int:
        """How many players."""
        return self.context.n_players

    @property
    def xp(self) -> Any:
        """The array namespace of the table."""
        return array_api_compat.array_namespace(self.values)

    @cached_property
    def dividends(self) -> Any:
        """The Harsanyi dividends, shape (..., 2**n)."""
        return harsanyi(self.values)

    @cached_property
    def shapley(self) -> Any:
        """The Shapley values, shape (..., n)."""
        return shapley_of(self.values)

    @cached_property
    def intervals(self) -> tuple[Any, Any]:
        """Lower and upper end of every player's admissible interval, each (..., n)."""
        return admissible_intervals(self.dividends)

    @property
    def total(self) -> Any:
        """v(N) - v(empty), shape (...)."""
        return self.context.full_value - self.context.base_value

    def closed(self, attributions: Any) -> Any:
        """Take out the rounding error of the sum, where there is freedom: in proportion to the intervals' widths.

        Args:
            attributions: Shape (..., n) or, with one more axis, (..., candidates, n).

        Returns:
            Attributions that sum to v(N) - v(empty) to the last digits; players that share nothing stay
            exact.
        """
        xp = self.xp
        lower, upper = self.intervals
        width, total = upper - lower, self.total
        if attributions.ndim > self.values.ndim:
            width, total = width[..., None, :], total[..., None]
        sum_of_widths = xp.sum(width, axis=-1)
        weight = width / xp.where(sum_of_widths > 0, sum_of_widths, xp.ones_like(sum_of_widths))[..., None]
        for _ in range(2):
            attributions = attributions + (total - xp.sum(attributions, axis=-1))[..., None] * weight
        return attributions

    def closed_rows(self, attributions: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same for a numpy array of shape (rows, n), rows counted over all leading axes."""
        shaped = like(attributions.reshape(*self.lead, self.n_players), self.values)
        return np.asarray(to_numpy(self.closed(shaped)).reshape(attributions.shape), dtype=np.float64)


def per_row_product(rows: Any, matrix: Any) -> Any:
    """Vector times matrix for every row: (..., k), (..., k, m) -> (..., m).

    One product per row, never one matrix product over all rows: the bits of a row must not depend on how
    many others there are.
    """
    xp = array_api_compat.array_namespace(rows)
    product = xp.matmul(rows[..., None, :], matrix)
    return product[..., 0, :]


def flat_row(array: Any, row: int, axes: int = 1) -> Any:
    """Row `row`, counted over all leading axes, of a numpy array whose last `axes` axes belong to the row."""
    lead, tail = array.shape[: array.ndim - axes], array.shape[array.ndim - axes :]
    return np.reshape(array, (prod(lead), *tail))[row]


def double(context: Context) -> Context:
    """A numpy table in float64; tensors stay as they are, where they are."""
    if not isinstance(context.values, np.ndarray) or context.values.dtype == np.float64:
        return context
    return Context(context.values.astype(np.float64), context.target, context.threshold, context.labels)
