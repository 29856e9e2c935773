"""Players that can only be small need room: a ranking with margins has them near its end, however it was found.

Whoever has j players below it must have a size of at least j margins. In a game of hundreds of players that rules out
places that no pair of players rules out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def spaced(
    ranking: NDArray[np.int64],
    smallest: NDArray[np.float64],
    largest: NDArray[np.float64],
    gap: NDArray[np.float64],
    before: NDArray[np.bool_] | None,
) -> NDArray[np.int64]:
    """The ranking that follows a given one from its end as far as sizes and margins allow.

    Args:
        ranking: Shape (k,).
        smallest: Shape (k,): the least size of every player.
        largest: Shape (k,): its largest size.
        gap: Shape (k,): how much larger than the next one each player has to be.
        before: Who must be ranked before whom, or None.
    """
    n_players = len(ranking)
    rank = np.empty(n_players, dtype=np.int64)
    rank[ranking] = np.arange(n_players)
    followers = np.zeros(n_players, dtype=np.int64) if before is None else np.sum(before, axis=1)
    hurry = np.argsort(largest, kind="stable")  # those who can be placed last only come first
    result = np.empty_like(ranking)
    need = 0.0
    for place in range(n_players - 1, -1, -1):
        room = largest[hurry] - need - np.cumsum(gap[hurry])
        tight = np.flatnonzero(room < gap[hurry])  # no room for another one below
        waiting = hurry[: tight[0] + 1] if len(tight) else hurry
        ready = waiting[followers[waiting] == 0]
        if not len(ready):
            ready = hurry[followers[hurry] == 0]
        player = int(ready[np.argmax(rank[ready])])
        result[place] = player
        need = max(need, float(smallest[player])) + float(gap[player])
        hurry = hurry[hurry != player]
        if before is not None:
            followers = followers - before[:, player]
    return result
