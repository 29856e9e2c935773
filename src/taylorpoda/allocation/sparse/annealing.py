"""A walk among orders of joining that cools down: one player at a time goes where chance and cost send it.

A step takes the player at a random place and prices all places near it exactly, from its own coalitions alone. It goes
where cost minus heat times a Gumbel draw is least, that is, to every place with the probability Gibbs gives it. What is
at stake differs a thousandfold between the first places and the last, so heat is in proportion to the unrest around a
place, and more steps are taken where there is more of it. All draws are made beforehand. Where numba is installed the
steps are compiled; the numbers are the same without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.allocation.sparse import annealing_steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.objective import Objective
    from taylorpoda.allocation.sparse.reduced import Reduced

NEAR = 40  # places a step looks at on either side while there is heat
CHUNK = 8000  # steps between two exact sums of the values along the order
_NOISE = 8192
_HOT, _COLD = 1.0, 0.2  # heat at first and at last, in units of the unrest around a place
_AROUND = 50  # places on either side that make up the unrest around one
_ANYWHERE = 0.1  # share of the steps whose place is any place
_SWIFTER = 65  # numbers that a step goes through in the time in which a pass goes through one
_CALM = 1e-9  # of the mean unrest: no place is colder


class Annealing:
    """Walks for one row whose cost is read off one game.

    Args:
        objective: What orders cost.
        before: Who must join before whom, or None.
        generator: Of the draws.
    """

    def __init__(self, objective: Objective, before: NDArray[np.bool_] | None, generator: np.random.Generator) -> None:
        self._objective = objective
        self._game = objective.games[0]
        self._coalitions = coalitions_of_players(self._game)
        self._waits = neighbors(before, self._game.n_players)
        self._generator = generator
        self._noise = generator.gumbel(size=_NOISE + 2 * NEAR + 1)

    @property
    def steps_of_a_pass(self) -> int:
        """Steps that take about as long as one pass over the dividends."""
        n_players = self._game.n_players
        of_a_pass = len(self._game.members) + n_players**2 + 12_000
        of_a_step = len(self._coalitions[3]) / n_players + 5 * NEAR
        return max(1, int(_SWIFTER * of_a_pass / of_a_step))

    def unrest(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean change of cost from one coalition to the next around every place, shape (k,); nowhere zero.

        Args:
            costs: Shape (k - 1,): those of the first 1, ..., k - 1 players.
        """
        count = len(costs) + 1
        if count < 3:
            return np.ones(count)
        change = abs(np.diff(costs))
        so_far = np.concatenate([[0.0], np.cumsum(change)])
        place = np.arange(count)
        low, high = np.maximum(place - 1 - _AROUND, 0), np.minimum(place + _AROUND, len(change))
        low = np.minimum(low, high - 1)
        around = (so_far[high] - so_far[low]) / (high - low)
        return np.asarray(np.maximum(around, _CALM * (so_far[-1] / len(change)) + 1e-300))

    def cooled(
        self, order: NDArray[np.int64], steps: int, more: Callable[[int], bool]
    ) -> tuple[NDArray[np.int64], float]:
        """The best order met on one walk, and its cost.

        Args:
            order: Where the walk begins.
            steps: How many it may take.
            more: Asked before every chunk whether so many steps may be taken.
        """
        best, players = order, order.astype(np.int64)
        least = np.inf
        for begin in range(0, steps, CHUNK):
            count = min(CHUNK, steps - begin)
            if not more(count):
                break
            reached = self._game.along(players)
            costs = self._objective.guided(reached[None, 1:-1])
            if not begin:
                least = float(np.sum(costs))
            unrest = self.unrest(costs)
            liking = np.sqrt(unrest)
            upto = np.cumsum((1.0 - _ANYWHERE) * liking / np.sum(liking) + _ANYWHERE / len(order))
            spots = np.searchsorted(upto[:-1], self._generator.random(count), side="right")
            done = (begin + np.arange(count)) / steps
            met, change = self._walked(players, reached, spots, unrest[spots] * _HOT * (_COLD / _HOT) ** done)
            if np.sum(costs) + change < least:
                best, least = met, float(np.sum(costs)) + change
        return best, self._cost(best)

    def settled(
        self, order: NDArray[np.int64], steps: int, more: Callable[[int], bool]
    ) -> tuple[NDArray[np.int64], float]:
        """The order after steps without heat, each to the best of the places near, and its cost."""
        best = order.astype(np.int64)
        for begin in range(0, steps, CHUNK):
            count = min(CHUNK, steps - begin)
            if not more(count):
                break
            spots = self._generator.integers(0, len(order), size=count)
            best, _ = self._walked(best.copy(), self._game.along(best), spots, np.zeros(count))
        return best, self._cost(best)

    def _walked(
        self,
        players: NDArray[np.int64],
        reached: NDArray[np.float64],
        spots: NDArray[np.int64],
        heats: NDArray[np.float64],
    ) -> tuple[NDArray[np.int64], float]:
        """Take steps in place; the best order met, and how much less than at first it costs."""
        offsets = self._generator.integers(0, _NOISE, size=len(spots))
        places = np.empty(len(players), dtype=np.int64)
        places[players] = np.arange(len(players))
        met = players.copy()
        draws = spots, heats, offsets, self._noise
        price = self._objective.price()
        change = _walk()(players, places, reached, met, self._coalitions, self._waits, price, draws, NEAR)
        return met, change

    def _cost(self, order: NDArray[np.int64]) -> float:
        return float(np.sum(self._objective.along(order)))


def _walk() -> Callable[..., float]:
    try:
        import numba  # noqa: F401 - only whether it is there
    except ImportError:
        return annealing_steps.walk
    from taylorpoda.allocation.sparse import kernels_annealing

    return kernels_annealing.walk


def coalitions_of_players(game: Reduced) -> tuple[NDArray[Any], ...]:
    """Where each player's coalitions of several begin, their dividends, where their other members begin, and those.

    A player's coalitions come by size. Made size by size, so that little is needed besides the result.
    """
    several = np.flatnonzero(game.sizes[game.owner] > 1)
    entries = several[np.lexsort((game.sizes[game.owner[several]], game.members[several]))]
    first = np.searchsorted(game.members[entries], np.arange(game.n_players + 1))
    coalitions = game.owner[entries]
    bounds = np.concatenate([[0], np.cumsum(game.sizes[coalitions] - 1)]).astype(np.int64)
    rank = np.empty(len(game.members), dtype=np.int64)
    rank[entries] = np.arange(len(entries))
    others = np.empty(bounds[-1], dtype=np.uint32)
    for size in np.unique(game.sizes[game.sizes > 1]).tolist():
        places = game.starts[game.sizes == size][:, None] + np.arange(size)
        members = game.members[places].astype(np.uint32)
        for own in range(size):
            to = bounds[rank[places[:, own]]][:, None] + np.arange(size - 1)
            others[to] = np.delete(members, own, axis=1)
    return first.astype(np.int64), game.values[coalitions], bounds, others


def neighbors(before: NDArray[np.bool_] | None, n_players: int) -> tuple[NDArray[np.int64], ...]:
    """Who must join before each player, and who after it, in compressed rows."""
    allowed = np.zeros((n_players, n_players), dtype=np.bool_) if before is None else before
    rows: list[NDArray[np.int64]] = []
    for waits in (allowed.T, allowed):
        rows += [np.concatenate([[0], np.cumsum(np.sum(waits, axis=1))]).astype(np.int64), np.nonzero(waits)[1]]
    return tuple(rows)
