"""First orders to improve on, one player at a time from either end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.objective import Objective
    from taylorpoda.allocation.sparse.reduced import Reduced


class _Coming:
    """Values of one game while players join."""

    def __init__(self, game: Reduced) -> None:
        self._game = game
        self._missing = game.sizes.copy()
        self._sum = np.bincount(game.owner, weights=game.members, minlength=len(game.values)).astype(np.int64)
        self._indptr, self._coalitions = _by_player(game)
        self.value = game.base
        self.step = game.dividends.singletons()

    def take(self, player: int) -> None:
        self.value += float(self.step[player])
        mine = self._coalitions[self._indptr[player] : self._indptr[player + 1]]
        self._missing[mine] -= 1
        self._sum[mine] -= player
        last = mine[self._missing[mine] == 1]
        self.step += np.bincount(self._sum[last], weights=self._game.values[last], minlength=len(self.step))


class _Going:
    """Values of one game while players leave."""

    def __init__(self, game: Reduced) -> None:
        self._game = game
        self._alive = np.ones(len(game.values), dtype=np.bool_)
        self._indptr, self._coalitions = _by_player(game)
        self.value = game.full
        self.step = -game.by_player(game.spread)

    def take(self, player: int) -> None:
        self.value += float(self.step[player])
        mine = self._coalitions[self._indptr[player] : self._indptr[player + 1]]
        mine = mine[self._alive[mine]]
        self._alive[mine] = False
        game, sizes = self._game, self._game.sizes[mine]
        ends = np.cumsum(sizes)
        entries = np.repeat(game.starts[mine] - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)
        self.step += np.bincount(game.members[entries], weights=game.spread[entries], minlength=len(self.step))


def _by_player(game: Reduced) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The coalitions of every player, in compressed rows."""
    order = np.argsort(game.members, kind="stable")
    counts = np.bincount(game.members, minlength=game.n_players)
    return np.concatenate([[0], np.cumsum(counts)]), game.owner[order]


def greedy_order(
    objective: Objective, before: NDArray[np.bool_] | None, *, leaving: bool, boldness: float
) -> NDArray[np.int64]:
    """An order of joining in which the next player is always the one that costs least right then.

    Args:
        objective: What orders cost.
        before: Who must join before whom, or None.
        leaving: From the end: who leaves next.
        boldness: How much of a player's step is taken off its cost; large steps are easier to make early.
    """
    followers = [(_Going if leaving else _Coming)(game) for game in objective.games]
    n_players = objective.games[0].n_players
    bonus = boldness * objective.slope()
    waits = np.zeros((n_players, n_players), dtype=np.bool_) if before is None else before.T if leaving else before
    waiting = np.sum(waits, axis=0)
    placed = np.zeros(n_players)
    order = np.empty(n_players, dtype=np.int64)
    for step in range(n_players):
        steps = np.array([follower.step for follower in followers])
        values = np.array([follower.value for follower in followers])[:, None] + steps
        price = objective.guided(values) - bonus * abs(steps[0]) + placed
        price[waiting > 0] = np.inf
        player = int(np.argmin(price))
        order[step] = player
        placed[player] = np.inf
        waiting -= waits[player]
        for follower in followers:
            follower.take(player)
    return order[::-1] if leaving else order
