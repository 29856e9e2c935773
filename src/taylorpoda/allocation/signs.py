"""One ranking, many signs: which sign patterns could still be nearer to the Shapley values, decided in batches.

Written in ranked order with the signs s taken out, an attribution that respects the ranking is b_1 >= ... >= b_n >= 0,
and its distance to the Shapley values is |b - y| with y_k = s_k phi_k. Two lower bounds leave the polytope and the
margins away:

- without the sum rule: the isotonic regression of y. A sign other than that of phi only makes an entry of y negative,
  so a pattern is at least as far as the pattern with any one of its flips alone;
- with the sum rule s . b = v(N) - v(empty): the value of the Lagrange dual at any multiplier, here a few Newton steps
  from zero. The inner problem is again an isotonic regression, of y - multiplier * s.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEPS = 4


def open_flips(
    size: NDArray[np.float64], flippable: NDArray[np.bool_], distance: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """The flips that do not alone make a ranking too far away.

    Args:
        size: Shape (rows, n): |phi| in ranked order.
        flippable: Shape (rows, n): whose interval allows the sign that phi has not.
        distance: Shape (rows,): the squared distance already attained.

    Returns:
        Shape (rows, n).
    """
    result = np.zeros_like(flippable)
    rows, ranks = np.nonzero(flippable)
    flipped = size[rows]
    flipped[np.arange(len(rows)), ranks] *= -1.0
    fitted = isotonic(flipped)
    result[rows, ranks] = np.sum((fitted - flipped) ** 2, axis=1) < distance[rows]
    return result


def pattern_bounds(
    values: NDArray[np.float64], signs: NDArray[np.float64], total: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A lower bound for the squared distance of every sign pattern.

    Args:
        values: Shape (m, n): phi in ranked order.
        signs: Shape (m, n).
        total: Shape (m,): v(N) - v(empty).

    Returns:
        Shape (m,).
    """
    n_players = values.shape[1]
    target = values * signs
    gap_at_zero = np.sum(values, axis=1) - total
    multiplier = np.zeros(len(values))
    best = np.zeros(len(values))
    for _ in range(_STEPS):
        moved = target - multiplier[:, None] * signs
        fitted = isotonic(moved)
        dual = np.sum((fitted - moved) ** 2, axis=1) + multiplier * (2.0 * gap_at_zero - multiplier * n_players)
        best = np.maximum(best, dual)
        excess = np.sum(fitted * signs, axis=1) - total
        # Blocks of the fit move together: their number is what the excess reacts to.
        slope = _slope(fitted, signs)
        multiplier = multiplier + excess / np.maximum(slope, 1.0 / n_players)
    return best


def isotonic(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest vectors with b_1 >= ... >= b_n >= 0, by the min-max formula: (m, n) -> (m, n)."""
    n_players = values.shape[1]
    length, later = _windows(n_players)
    sums = np.zeros((len(values), n_players + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    means = (sums[:, None, 1:] - sums[:, :-1, None]) / length  # [m, i, j]: the mean of entries i to j
    means += later  # minus infinity where j < i
    best = np.maximum.accumulate(means[:, :, ::-1], axis=2)[:, :, ::-1]  # over j >= k, at [m, i, k]
    best -= later  # ... and plus infinity where k < i, now that the smallest is wanted
    return np.maximum(np.min(best, axis=1), 0.0)


@lru_cache(maxsize=32)
def _windows(n_players: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, last = np.arange(n_players)[:, None], np.arange(n_players)[None, :]
    return np.maximum(last - first + 1, 1).astype(np.float64), np.where(last < first, -np.inf, 0.0)


def _slope(fitted: NDArray[np.float64], signs: NDArray[np.float64]) -> NDArray[np.float64]:
    """How fast s . b falls with the multiplier: per block of equal entries (sum of signs)^2 / length, none at zero."""
    starts = np.ones(fitted.shape, dtype=np.bool_)
    starts[:, 1:] = fitted[:, 1:] < fitted[:, :-1]
    running = np.cumsum(signs, axis=1)
    n_players = fitted.shape[1]
    place = np.maximum.accumulate(np.where(starts, np.arange(n_players), 0), axis=1)
    ends = np.ones(fitted.shape, dtype=np.bool_)
    ends[:, :-1] = starts[:, 1:]
    within = running - np.take_along_axis(running - signs, place, axis=1)
    length = np.arange(n_players) - place + 1
    return np.sum(np.where(ends & (fitted > 0), within * within / length, 0.0), axis=1)


@lru_cache(maxsize=16)
def subsets(n_flips: int) -> NDArray[np.bool_]:
    """All patterns of some flips but the empty one: (2**n_flips - 1, n_flips)."""
    return (np.arange(1, 1 << n_flips)[:, None] >> np.arange(n_flips) & 1).astype(np.bool_)
