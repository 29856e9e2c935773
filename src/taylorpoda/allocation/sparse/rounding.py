"""Sums that are exact to the last digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.dividends.sparse import SparseDividends


def closed(attributions: NDArray[np.float64], dividends: SparseDividends, total: float) -> NDArray[np.float64]:
    """Take out the rounding error of the sum, where there is freedom: in proportion to the intervals' widths.

    Args:
        attributions: Shape (..., n).
        dividends: The game.
        total: v(N) - v(empty).

    Returns:
        Attributions that sum to the total to the last digits; players that share nothing stay exact.
    """
    lower, upper = dividends.intervals()
    width = upper - lower
    weight = width / (np.sum(width) or 1.0)
    for _ in range(2):
        attributions = attributions + (total - np.sum(attributions, axis=-1))[..., None] * weight
    return attributions
