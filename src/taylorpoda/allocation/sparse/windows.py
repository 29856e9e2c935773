"""Every window of a few neighbors in an order, put in its own best order by the dynamic program of the lattice.

Who joins before and after a window stays as it is, so a window's coalitions are those before it and a subset of its
own players: a small game whose dividends are the sums of the row's dividends that the window completes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.allocation.lattice import cheapest_order, cost_to_go, forbid
from taylorpoda.dividends.dense import values_from

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.objective import Objective
    from taylorpoda.allocation.sparse.reduced import Reduced

WIDTH = 10
_EQUAL = 1e-12


def reordered(
    objective: Objective, order: NDArray[np.int64], before: NDArray[np.bool_] | None, width: int, offset: int
) -> NDArray[np.int64]:
    """The order with the windows from `offset` on each in its best order.

    Args:
        objective: What orders cost.
        order: Shape (k,), in which players join.
        before: Who must join before whom, or None.
        width: Players of a window.
        offset: Where the first window begins.
    """
    count = (len(order) - offset) // width
    if count < 1:
        return order
    tables = np.array([_window_values(game, order, width, offset, count) for game in objective.games])
    costs = objective.guided(tables)
    if offset + count * width == len(order):
        costs[-1, -1] = 0.0  # all players: met by every order
    windows = order[offset : offset + count * width].reshape(count, width)
    if before is not None:
        turned = before[windows[:, :, None], windows[:, None, :]]
        costs = forbid(costs, turned)
    to_go = cost_to_go(costs)
    now = np.sum(costs[:, (2 << np.arange(width)) - 1], axis=1)
    slack = _EQUAL * np.max(np.where(np.isfinite(costs), abs(costs), 0.0), axis=1)
    better = to_go[:, 0] < now - slack
    if not np.any(better):
        return order
    preference = np.broadcast_to(np.arange(width, 0, -1.0), (count, width))
    best, _ = cheapest_order(to_go, np.zeros(count), preference)
    result = order.copy()
    chosen = np.where(better[:, None], np.take_along_axis(windows, best, axis=1), windows)
    result[offset : offset + count * width] = chosen.ravel()
    return result


def _window_values(game: Reduced, order: NDArray[np.int64], width: int, offset: int, count: int) -> NDArray[np.float64]:
    """The values of what comes before each window and every subset of its players, shape (count, 2**width)."""
    starts = offset + width * np.arange(count)
    if not len(game.values):
        return np.full((count, 1 << width), game.base)
    places, last = game.last_ranks(order)
    steps = np.bincount(last + 1, weights=game.values, minlength=len(order) + 1)
    reached = game.base + np.cumsum(steps)
    completed_in = (last - offset) // width
    same = (places - offset) // width == completed_in[game.owner]
    bits = np.where(same, np.left_shift(1, (places - offset) % width), 0)
    subset = np.add.reduceat(bits, game.starts)
    inside = (completed_in >= 0) & (completed_in < count)
    cells = (completed_in[inside] << width) + subset[inside]
    local = np.bincount(cells, weights=game.values[inside], minlength=count << width).astype(np.float64)
    tables = local.reshape(count, 1 << width)
    tables[:, 0] += reached[starts]
    return np.asarray(values_from(tables))
