"""All ways to move one player elsewhere in an order, priced exactly in one pass over the dividends.

If a player joins earlier, the coalitions in between gain that player: v(P + j) - v(P) is the sum of the dividends whose
last member to join is j and whose last but one is in P. If it joins later they lose it: v(P) - v(P - j) is the sum of
the dividends inside P that hold j. Both are tables over (length of P, player), filled by one count and one running sum.
Moves whose stretches do not overlap do not touch each other's coalitions, so the best set of them is found by a
dynamic program over the positions and made at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.objective import Objective
    from taylorpoda.allocation.sparse.reduced import Reduced


def move_gains(
    objective: Objective, order: NDArray[np.int64], before: NDArray[np.bool_] | None
) -> tuple[float, NDArray[np.float64]]:
    """What every single move would change.

    Args:
        objective: What orders cost.
        order: Shape (k,), in which players join.
        before: Shape (k, k): who must join before whom, or None.

    Returns:
        The cost of the order, and an array of shape (k, k): entry [to, from] is the change of cost when the player at
        place `from` goes to place `to`; infinity where the move is not allowed.
    """
    n_players = len(order)
    parts = [_tables(game, order) for game in objective.games]
    reached = np.array([part[0] for part in parts])
    costs = objective.guided(reached)
    costs[[0, -1]] = 0.0
    so_far = np.cumsum(costs)
    place = np.arange(n_players)
    earlier, later = place[:, None] < place[None, :], place[:, None] > place[None, :]
    joined = objective.guided(np.array([part[0][:-1, None] + part[1] for part in parts]))
    joined[~earlier] = 0.0
    change = np.cumsum(joined[::-1], axis=0)[::-1]
    left = objective.guided(np.array([part[0][1:, None] - part[2] for part in parts]))
    left[~later] = 0.0
    change += np.cumsum(left, axis=0)
    change -= _stretch(so_far)
    np.fill_diagonal(change, 0.0)
    if before is not None:
        change[~_allowed(order, before)] = np.inf
    return float(so_far[-1]), change


def _stretch(so_far: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the coalitions between two places cost now."""
    upto = so_far[:-1]
    difference = upto[None, :] - upto[:, None]
    place = np.arange(len(upto))
    return np.where(place[:, None] < place[None, :], difference, -difference)


def _tables(
    game: Reduced, order: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The values along the order, what joining early adds, and what leaving takes, players in the order of joining."""
    n_players = len(order)
    size = n_players * n_players
    if not len(game.values):
        return np.full(n_players + 1, game.base), *np.zeros((2, n_players, n_players))
    places, last = game.last_ranks(order)
    second = np.maximum.reduceat(np.where(places == last[game.owner], -1, places), game.starts)
    steps = np.bincount(last, weights=game.values, minlength=n_players)
    reached = np.concatenate([[game.base], game.base + np.cumsum(steps)])
    gain = np.bincount((second + 1) * n_players + last, weights=game.values, minlength=size)
    loss = np.bincount(last[game.owner] * n_players + places, weights=game.spread, minlength=size)
    return (
        reached,
        np.cumsum(gain.reshape(n_players, n_players), axis=0),
        np.cumsum(loss.reshape(n_players, n_players), axis=0),
    )


def _allowed(order: NDArray[np.int64], before: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which moves [to, from] pass nobody who must stay on the other side."""
    n_players = len(order)
    place = np.arange(n_players)
    turned = before[np.ix_(order, order)]
    earliest = np.max(np.where(turned, place[:, None] + 1, 0), axis=0)
    latest = np.min(np.where(turned, place[None, :] - 1, n_players - 1), axis=1)
    return (place[:, None] >= earliest[None, :]) & (place[:, None] <= latest[None, :])


def best_moves(change: NDArray[np.float64]) -> tuple[list[tuple[int, int]], float]:
    """The moves (from, to) of most gain whose stretches do not overlap, and their change of cost."""
    n_players = len(change)
    either = np.minimum(change, change.T)
    best = np.zeros(n_players + 1)
    begins = np.full(n_players + 1, -1)
    for end in range(1, n_players + 1):
        totals = best[:end] + either[:end, end - 1]
        begin = int(np.argmin(totals))
        better = totals[begin] < best[end - 1]
        best[end] = totals[begin] if better else best[end - 1]
        begins[end] = begin if better else -1
    chosen = []
    end = n_players
    while end > 0:
        begin = int(begins[end])
        if begin < 0:
            end -= 1
            continue
        low, high = begin, end - 1
        chosen.append((high, low) if change[low, high] <= change[high, low] else (low, high))
        end = begin
    return chosen, float(best[n_players])


def moved(order: NDArray[np.int64], moves: list[tuple[int, int]]) -> NDArray[np.int64]:
    """The order after moves (from, to) whose stretches do not overlap."""
    result = order.copy()
    for source, to in moves:
        if source > to:
            result[to + 1 : source + 1] = order[to:source]
        else:
            result[source:to] = order[source + 1 : to + 1]
        result[to] = order[source]
    return result
