"""Who must be ranked before whom, whatever the shares: the rule of the dense room, from sparse dividends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.allocation.sparse.reduced import members_together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.reduced import Reduced

_ROUNDING = 1e-10  # relative to the scale; margins are larger


def pair_sums(game: Reduced) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the most that two players can have together, each (k, k); the diagonal means nothing.

    Most: both get all they can but share what is positive for both, and pay for what is negative between them alone.
    """
    several = game.sizes > 1
    lower, upper = game.ends
    gains, losses = np.maximum(game.values, 0.0) * several, np.maximum(-game.values, 0.0) * several
    alone = game.sizes == 2
    most = upper[:, None] + upper[None, :] - members_together(game, gains) - members_together(game, losses * alone)
    least = lower[:, None] + lower[None, :] + members_together(game, losses) + members_together(game, gains * alone)
    return least, most


def precedence(game: Reduced, margin: float, fixed: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Pairs that every admissible ranking has in the same order.

    Args:
        game: The game.
        margin: How far apart ranked neighbors are kept.
        fixed: Shape (k,): whose interval is at most two margins wide; two of them are ordered by value, then index.

    Returns:
        Shape (k, k), transitive: [i, j] where i must come before j. None if that contradicts itself, so that there is
        no ranking with margins at all.
    """
    lower, upper = game.ends
    least, most = pair_sums(game)
    small = np.clip(0.0, lower, upper)
    highest = np.minimum(upper[None, :], most - small[:, None])
    lowest = np.maximum(lower[None, :], least - small[:, None])
    lead = np.maximum(highest, -lowest) - abs(small)[:, None]
    before = lead < margin - _ROUNDING * game.scale
    place = np.empty(game.n_players, dtype=np.int64)
    place[np.argsort(-abs(game.shapley), kind="stable")] = np.arange(game.n_players)
    before = np.where(fixed[:, None] & fixed[None, :], place[:, None] < place[None, :], before)
    np.fill_diagonal(before, val=False)
    while True:
        reached = before.astype(np.float32)
        longer = before | (reached @ reached > 0)
        if np.array_equal(longer, before):
            break
        before = longer
    return None if bool(np.diagonal(before).any()) else before


def respecting(order: NDArray[np.int64], before: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The order that follows a given one as far as precedence allows: always the first player that may come."""
    waiting = np.sum(before, axis=0)
    place = np.empty(len(order))
    place[order] = np.arange(len(order))
    result = np.empty_like(order)
    for step in range(len(order)):
        player = int(np.argmin(np.where(waiting > 0, np.inf, place)))
        result[step] = player
        place[player] = np.inf
        waiting = waiting - before[player]
    return result
