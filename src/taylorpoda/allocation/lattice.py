"""The dynamic program over the lattice of coalitions: what a ranking can cost at best from any prefix on."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BATCHED = 11  # up to this many players rows are processed side by side; above it one row fills the cache
_SPLIT = 18  # above this many players the lattice is cut into a high and a low half to keep gathers contiguous

Level = tuple["NDArray[np.intp]", "NDArray[np.intp]"]


@lru_cache(maxsize=16)
def levels(n_players: int) -> tuple[Level, ...]:
    """The coalitions of each size, and where their supersets of one player more are found in the next level.

    Returns:
        For each size k the subset indices in ascending order, shape (C(n, k),), and an array of shape (n - k, C(n, k))
        of positions in level k + 1.
    """
    sizes = np.zeros(1, dtype=np.intp)
    for _ in range(n_players):
        sizes = np.concatenate([sizes, sizes + 1])
    by_size = np.argsort(sizes, kind="stable")
    ends = np.searchsorted(sizes[by_size], np.arange(n_players + 2))
    position = np.empty(1 << n_players, dtype=np.intp)
    for size in range(n_players + 1):
        position[by_size[ends[size] : ends[size + 1]]] = np.arange(ends[size + 1] - ends[size])
    result = []
    for size in range(n_players + 1):
        coalitions = by_size[ends[size] : ends[size + 1]]
        absent = np.nonzero(coalitions[:, None] >> np.arange(n_players) & 1 ^ 1)[1]
        supersets = coalitions[:, None] | 1 << absent.reshape(len(coalitions), n_players - size)
        result.append((coalitions, np.ascontiguousarray(position[supersets].T)))
    return tuple(result)


def cost_to_go(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The smallest sum of costs along a chain of coalitions from S to N, S included.

    W(S) = c(S) + min over i outside S of W(S + i), and W(N) = c(N). The cost of the empty coalition is not read: W at 0
    is what the best ranking of all costs.

    Args:
        costs: Shape (rows, 2**n); infinity forbids a coalition.

    Returns:
        W, same shape.
    """
    n_rows, length = costs.shape
    n_players = length.bit_length() - 1
    if n_players == 0:
        return np.zeros_like(costs)
    if n_players <= _BATCHED:
        result = _along_levels(np.ascontiguousarray(costs.T)).T
    else:
        one_row = _along_levels if n_players <= _SPLIT else _along_two_halves
        result = np.empty_like(costs)
        for row in range(n_rows):
            result[row] = one_row(np.ascontiguousarray(costs[row])[:, None])[:, 0]
    first = result[:, 1 << np.arange(n_players)]
    result = np.ascontiguousarray(result)
    result[:, 0] = np.min(first, axis=1)
    return result


def _along_levels(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Level by level, rows side by side: (2**n, rows) -> (2**n, rows)."""
    n_players = len(costs).bit_length() - 1
    result = np.empty_like(costs)
    above: NDArray[np.float64] | None = None
    for coalitions, supersets in reversed(levels(n_players)):
        total = costs[coalitions]
        if above is not None:
            total += np.minimum.reduce(above.take(supersets, axis=0), axis=0)
        result[coalitions] = total
        above = total
    return result


def _along_two_halves(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same with every coalition as a pair of a high and a low half, so that gathers copy long contiguous runs.

    Blocks hold the coalitions with p high and q low players. A block is kept high-first to step along the high
    players and low-first to step along the low ones.
    """
    n_players = len(costs).bit_length() - 1
    n_high = n_players // 2
    table = costs.reshape(1 << n_high, 1 << (n_players - n_high))
    result = np.empty_like(table)
    high_levels, low_levels = levels(n_high), levels(n_players - n_high)
    above: list[NDArray[np.float64]] = []
    for high, high_supersets in reversed(high_levels):
        current: list[NDArray[np.float64]] = []
        right: NDArray[np.float64] | None = None  # the block with one low player more, low-first
        for q in reversed(range(len(low_levels))):
            low, low_supersets = low_levels[q]
            total = table[high[:, None], low[None, :]]
            steps = []
            if above:
                steps.append(np.minimum.reduce(above[q].take(high_supersets, axis=0), axis=0))
            if right is not None:
                steps.append(np.minimum.reduce(right.take(low_supersets, axis=0), axis=0).T)
            if steps:
                total += steps[0] if len(steps) == 1 else np.minimum(*steps)
            result[high[:, None], low[None, :]] = total
            current.append(total)
            right = np.ascontiguousarray(total.T)
        above = current[::-1]
    return result.reshape(-1, 1)


def cheapest_order(
    to_go: NDArray[np.float64], costs_tolerance: NDArray[np.float64], preference: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """A ranking of least cost for every row; where several players may come next, the one of largest preference.

    Args:
        to_go: W of shape (rows, 2**n).
        costs_tolerance: Shape (rows,): costs closer than this are equal.
        preference: Shape (rows, n).

    Returns:
        The rankings, shape (rows, n), and whether they are the only ones of least cost, shape (rows,). Rows without
        any allowed ranking get one all the same: look at W at 0 first.
    """
    n_rows, n_players = preference.shape
    bits = np.left_shift(1, np.arange(n_players))
    order = np.empty((n_rows, n_players), dtype=np.intp)
    coalition = np.zeros(n_rows, dtype=np.intp)
    every = np.arange(n_rows)
    unique = np.ones(n_rows, dtype=np.bool_)
    slack = costs_tolerance.copy()  # what steps that are not quite the cheapest may still cost together
    for step in range(n_players):
        ahead = to_go[every[:, None], coalition[:, None] | bits]
        ahead[(coalition[:, None] & bits) != 0] = np.inf
        cheapest = np.min(ahead, axis=1)
        open_players = (coalition[:, None] & bits) == 0
        allowed = open_players & (ahead <= (cheapest + slack)[:, None])
        chosen = np.argmax(np.where(allowed, preference, -1.0), axis=1)
        taken = ahead[every, chosen]
        slack -= np.where(np.isfinite(taken), taken, 0.0) - np.where(np.isfinite(taken), cheapest, 0.0)
        unique &= np.sum(allowed, axis=1) == 1
        order[:, step] = chosen
        coalition |= bits[chosen]
    return order, unique


def forbid(costs: NDArray[np.float64], before: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Forbid the coalitions that hold a player without all players that must come before it.

    Args:
        costs: Shape (rows, 2**n).
        before: Shape (rows, n, n): before[r, i, j] where i must come before j; transitive. A player that must come
            before itself means that there is no ranking at all.

    Returns:
        A copy with infinity at the forbidden coalitions.
    """
    n_rows, n_players, _ = before.shape
    restricted = costs.copy()
    implied = (before[:, :, :, None] & before[:, None, :, :]).any(axis=2)
    needed = before & ~implied
    for first, second in zip(*(axis.tolist() for axis in np.nonzero(needed.any(axis=0))), strict=True):
        low, high = min(first, second), max(first, second)
        shape = (n_rows, 1 << (n_players - 1 - high), 2, 1 << (high - low - 1), 2, 1 << low)
        with_second, without_first = (1, 0) if first < second else (0, 1)
        rows = np.flatnonzero(needed[:, first, second])
        restricted.reshape(shape)[rows, :, with_second, :, without_first, :] = np.inf
    restricted[np.diagonal(before, axis1=1, axis2=2).any(axis=1)] = np.inf
    return restricted
