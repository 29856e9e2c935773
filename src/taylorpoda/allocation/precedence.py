"""Who must be ranked before whom, whatever the shares: pairs decided in closed form, ties by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.allocation.boundary import FIXED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.boundary import Polytopes

_ROUNDING = 1e-10  # in units of the game, on top of that of g; margins are larger


def fixed_players(polytopes: Polytopes, margin: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whose interval is at most two margins wide, or as wide as rounding makes it: (rows,) margins -> (rows, n)."""
    narrow: NDArray[np.bool_] = polytopes.upper - polytopes.lower <= FIXED * margin[:, None]
    return narrow | polytopes.rigid | polytopes.null


def precedence(polytopes: Polytopes, margin: NDArray[np.float64], fixed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Pairs that every admissible ranking has in the same order.

    The projection of the admissible set on two players is given by their intervals and the two limits on their sum;
    over it |a_j| - |a_i| is largest where a_i is as near to 0 as it can be. If even there it is less than the
    margin, i comes before j. Two fixed players are ordered by value, then index; null players come last, by index.

    Args:
        polytopes: The admissible sets of the rows.
        margin: Shape (rows,).
        fixed: Shape (rows, n).

    Returns:
        Shape (rows, n, n), transitive: [r, i, j] where i must come before j. Where that contradicts itself some
        player comes before itself, and there is no admissible ranking.
    """
    n_rows, n_players = polytopes.shapley.shape
    index = np.arange(n_players)
    single = np.left_shift(1, index)
    full = (1 << n_players) - 1
    g = polytopes.boundary
    pair = single[:, None] | single[None, :]
    most_pair = g[:, pair]
    least_pair = g[:, full, None, None] - g[:, full ^ pair]
    small = np.clip(0.0, polytopes.lower, polytopes.upper)
    most = np.minimum(polytopes.upper[:, None, :], most_pair - small[:, :, None])
    least = np.maximum(polytopes.lower[:, None, :], least_pair - small[:, :, None])
    lead = np.maximum(most, -least) - abs(small)[:, :, None]
    # Rounding forbids nothing: a lead adds up at most four entries of g.
    before = lead < (margin - _ROUNDING - 4.0 * polytopes.rounding)[:, None, None]
    place = np.empty((n_rows, n_players), dtype=np.intp)
    np.put_along_axis(place, np.argsort(-abs(polytopes.shapley), axis=1, kind="stable"), index[None, :], axis=1)
    both = fixed[:, :, None] & fixed[:, None, :]
    before = np.where(both, place[:, :, None] < place[:, None, :], before)
    null = polytopes.null
    before |= null[:, None, :] & ~null[:, :, None]
    before &= ~(null[:, :, None] & ~null[:, None, :])
    nulls = null[:, :, None] & null[:, None, :]
    before = np.where(nulls, index[:, None] < index[None, :], before)
    before[:, index, index] = False
    return _closed(before)


def _closed(before: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The transitive closure, in about log2(n) matrix products."""
    while True:
        longer = before | ((before[:, :, :, None] & before[:, None, :, :]).any(axis=2))
        if np.array_equal(longer, before):
            return before
        before = longer
