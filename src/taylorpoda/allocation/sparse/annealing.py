"""A walk among orders of joining that cools down: one player at a time goes where chance and cost send it.

A step takes the player at a random place and prices all places near it exactly, from its own coalitions alone. It goes
where cost minus heat times a Gumbel draw is least, that is, to every place with the probability Gibbs gives it. All
draws are made beforehand. Where numba is installed the steps are compiled; the numbers are the same without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.objective import Objective
    from taylorpoda.allocation.sparse.reduced import Reduced

NEAR = 25  # places a step looks at on either side
CHUNK = 4000  # steps between two exact sums of the values along the order
_NOISE = 8192
_HOT, _COLD = 1.0, 0.1  # heat at first and at last, in mean changes of cost from one coalition to the next


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
        self._coalitions = _coalitions_of_players(self._game)
        self._waits = _neighbors(before, self._game.n_players)
        self._generator = generator
        self._noise = generator.gumbel(size=_NOISE + 2 * NEAR + 1)

    @property
    def steps_of_a_pass(self) -> int:
        """Steps that take about as long as one pass over the dividends."""
        return (len(self._game.members) + self._game.n_players**2 + 12_000) // 20

    def heat(self, order: NDArray[np.int64]) -> float:
        """The mean change of cost from one coalition to the next."""
        return float(np.mean(abs(np.diff(self._objective.along(order))))) if len(order) > 2 else 0.0

    def cooled(
        self, order: NDArray[np.int64], steps: int, more: Callable[[int], bool]
    ) -> tuple[NDArray[np.int64], float]:
        """The best order met on one walk, and its cost.

        Args:
            order: Where the walk begins.
            steps: How many it may take.
            more: Asked before every chunk whether so many steps may be taken.
        """
        best, least = order, float(np.sum(self._objective.along(order)))
        heat, players = self.heat(order), order.astype(np.int64)
        walk = _walk()
        for begin in range(0, steps, CHUNK):
            count = min(CHUNK, steps - begin)
            if not more(count):
                break
            done = (begin + np.arange(count)) / steps
            spots = self._generator.integers(0, len(order), size=count)
            offsets = self._generator.integers(0, _NOISE, size=count)
            heats = heat * _HOT * (_COLD / _HOT) ** done
            places = np.empty(len(order), dtype=np.int64)
            places[players] = np.arange(len(order))
            met = players.copy()
            draws = spots, heats, offsets, self._noise
            reached = self._game.along(players)
            price = self._objective.price()
            walk(players, places, reached, met, self._coalitions, self._waits, price, draws, NEAR)
            cost = float(np.sum(self._objective.along(met)))
            if cost < least:
                best, least = met, cost
        return best, least


def _walk() -> Callable[..., None]:
    try:
        import numba  # noqa: F401 - only whether it is there
    except ImportError:
        return walk
    from taylorpoda.allocation.sparse import kernels_annealing

    return kernels_annealing.walk


def _coalitions_of_players(game: Reduced) -> tuple[NDArray[Any], ...]:
    """What is alone a player's, where its coalitions begin, their dividends, where their others begin, the others."""
    several = np.flatnonzero(game.sizes[game.owner] > 1)
    entries = several[np.argsort(game.members[several], kind="stable")]
    first = np.searchsorted(game.members[entries], np.arange(game.n_players + 1))
    coalitions = game.owner[entries]
    sizes = game.sizes[coalitions]
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    everyone = np.repeat(game.starts[coalitions] - ends + sizes, sizes) + np.arange(total)
    others = game.members[everyone[everyone != np.repeat(entries, sizes)]]
    bounds = np.concatenate([[0], np.cumsum(sizes - 1)]).astype(np.int64)
    return game.dividends.singletons(), first.astype(np.int64), game.values[coalitions], bounds, others


def _neighbors(before: NDArray[np.bool_] | None, n_players: int) -> tuple[NDArray[np.int64], ...]:
    """Who must join before each player, and who after it, in compressed rows."""
    allowed = np.zeros((n_players, n_players), dtype=np.bool_) if before is None else before
    rows: list[NDArray[np.int64]] = []
    for waits in (allowed.T, allowed):
        rows += [np.concatenate([[0], np.cumsum(np.sum(waits, axis=1))]).astype(np.int64), np.nonzero(waits)[1]]
    return tuple(rows)


def walk(
    players: NDArray[np.int64],
    places: NDArray[np.int64],
    reached: NDArray[np.float64],
    best: NDArray[np.int64],
    rivals: Any,
    waits: Any,
    price: Any,
    draws: Any,
    near: int,
) -> None:
    """Take steps, in place.

    Args:
        players: Shape (k,): the order.
        places: Shape (k,): the place of every player.
        reached: Shape (k + 1,): the values along the order.
        best: Shape (k,): receives the best order met.
        rivals: Of `_coalitions_of_players`.
        waits: Of `_neighbors`.
        price: Of `Objective.price`.
        draws: Places, heats and where to begin in the noise, each (steps,), and the noise.
        near: How far a step looks.
    """
    single, first, values, ends, others = rivals
    starts_before, before, starts_after, after = waits
    noise = draws[3]
    count = len(players)
    balance = lowest = 0.0
    for place, heat, offset in zip(*(part.tolist() for part in draws[:3]), strict=True):
        player = int(players[place])
        low, high = max(place - near, 0), min(place + near, count - 1)
        low = int(np.max(places[before[starts_before[player] : starts_before[player + 1]]] + 1, initial=low))
        high = int(np.min(places[after[starts_after[player] : starts_after[player + 1]]] - 1, initial=high))
        own = slice(first[player], first[player + 1])
        begins = ends[own]
        steps = np.zeros(count + 1)
        if len(begins):
            others_at = places[others[begins[0] : ends[own.stop]]]
            last = np.maximum.reduceat(others_at, begins - begins[0])
            last += last < place
            steps += np.bincount(np.append(0, last), np.append(single[player], values[own]), count + 1)
        else:
            steps[0] = single[player]
        gain = np.cumsum(steps)
        earlier, later = np.arange(low, place)[::-1], np.arange(place + 1, high + 1)
        up = _costs(reached[earlier] + gain[earlier], price) - _costs(reached[earlier + 1], price)
        down = _costs(reached[later + 1] - gain[later], price) - _costs(reached[later], price)
        to = np.concatenate([[place], earlier, later])
        totals = np.concatenate([[0.0], np.cumsum(up), np.cumsum(down)])
        choice = int(np.argmin(totals - heat * noise[offset + near + (to - place)]))
        chosen = int(to[choice])
        if chosen == place:
            continue
        if chosen < place:
            # The value before a place is read before it is written: one step of the loop feeds none of the others.
            reached[chosen + 1 : place + 1] = reached[chosen:place] + gain[chosen:place]
            players[chosen + 1 : place + 1] = players[chosen:place].copy()
        else:
            reached[place + 1 : chosen + 1] = reached[place + 2 : chosen + 2] - gain[place + 1 : chosen + 1]
            players[place:chosen] = players[place + 1 : chosen + 1].copy()
        players[chosen] = player
        places[players] = np.arange(count)
        balance += totals[choice]
        if balance < lowest:
            lowest = balance
            best[:] = players


def _costs(values: NDArray[np.float64], price: Any) -> NDArray[np.float64]:
    """`Objective.guided` of the values of one game, operation by operation as the compiled steps have it."""
    kind, sign, full, threshold, wanted, toward, reach, weight = price
    if kind == 2:
        hint = np.minimum(np.maximum((values - threshold) * toward / reach, 0.0), 1.0)
        return np.asarray(sign * ((values > threshold) == wanted) + weight * hint)
    away = abs(values - full)
    return np.asarray(sign * (away * away) if kind == 1 else sign * away)
