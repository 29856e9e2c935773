"""The search for an order of low cost among very many players: descent over moves and windows, then a walk or kicks.

Everything is counted in passes over the dividends, never in seconds, unless the caller gave seconds: the same game has
the same answer everywhere. Kicks speak of places, not of players, so renaming the players renames the answer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.allocation.sparse.annealing import Annealing
from taylorpoda.allocation.sparse.greedy import greedy_order
from taylorpoda.allocation.sparse.moves import best_moves, move_gains, moved
from taylorpoda.allocation.sparse.windows import WIDTH, reordered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.objective import Objective

_BOLDNESS = (0.0, 0.5)
_SEED = 7919  # of the kicks; any will do
_NEAR = 30  # how far a small kick carries a player
_EQUAL = 1e-12
_KICK_PASSES = 10
_SETTLED = 14  # steps without heat after a walk, for every player
_BEGIN = 8  # one pass in so many comes before the first walk
_SETTLING = 10  # passes kept for after a walk, of many
_LEAST_PLAN = 20  # passes, where nobody says how many are usual
_STARTS = 3  # of the orders to begin with, the cheapest, that are improved before the first kick


@dataclass(frozen=True, eq=False)
class Order:
    """An order of joining and what it costs, guides included."""

    players: NDArray[np.int64]
    cost: float


class Budget:
    """Passes, and seconds if the caller limits them.

    Args:
        passes: How many, or None for no limit.
        deadline: On the clock of time.monotonic, or None.
    """

    def __init__(self, passes: int | None, deadline: float | None) -> None:
        self.left = passes
        self.spent = 0
        self.deadline = deadline

    def spend(self) -> bool:
        """Whether one more pass may be made."""
        if self.over:
            return False
        self.spent += 1
        if self.left is not None:
            self.left -= 1
        return True

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        late = self.deadline is not None and time.monotonic() > self.deadline
        return late or (self.left is not None and self.left <= 0)


class Descent:
    """Descent from given orders.

    Args:
        objective: What orders cost.
        before: Who must join before whom, or None.
        budget: How long to look.
        usual: Passes of a search without any limit: one limited in seconds begins as that does, so that more time is
            never worse.
    """

    def __init__(
        self, objective: Objective, before: NDArray[np.bool_] | None, budget: Budget, usual: int | None = None
    ) -> None:
        self._objective = objective
        self._before = before
        self._budget = budget
        self._plan = budget.left if budget.left is not None else usual or _LEAST_PLAN
        self._n_players = objective.games[0].n_players
        self._width = min(WIDTH, self._n_players)
        self._generator = np.random.default_rng(_SEED)

    def priced(self, players: NDArray[np.int64]) -> Order:
        """An order with its cost."""
        return Order(players, float(np.sum(self._objective.along(players))))

    def improved(self, start: NDArray[np.int64], most: int | None = None) -> Order:
        """Descend until no single move and no window is better."""
        order, passes, idle = start, 0, 0
        while idle < 2 and (most is None or passes < most) and self._budget.spend():
            cost, change = move_gains(self._objective, order, self._before)
            moves, gain = best_moves(change)
            better = order
            if gain < -_EQUAL * (abs(cost) + 1e-300):
                better = moved(order, moves)
            offset = (passes % 2) * (self._width // 2)
            better = reordered(self._objective, better, self._before, self._width, offset)
            idle = idle + 1 if np.array_equal(better, order) else 0
            order, passes = better, passes + 1
        return self.priced(order)

    def starts(self, ranking: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Orders to descend from: a given one, and greedy ones from either end."""
        made = [
            greedy_order(self._objective, self._before, leaving=leaving, boldness=boldness)
            for leaving in (True, False)
            for boldness in _BOLDNESS
        ]
        return [*made, ranking]

    def run(self, ranking: NDArray[np.int64]) -> list[Order]:
        """The best orders found, best first.

        Args:
            ranking: An order of joining to start from besides the greedy ones.
        """
        first = sorted((self.priced(start) for start in self.starts(ranking)), key=lambda order: order.cost)
        if len(self._objective.games) > 1:
            return self._kicked_about(first)
        found = [] if self._budget.over else [self.improved(first[0].players, self._plan // _BEGIN)]
        found = sorted([*found, *first], key=lambda order: order.cost)
        return [self._annealed(found[0]), *found]

    def _kicked_about(self, first: list[Order]) -> list[Order]:
        """Descents from some orders and, while the budget lasts, from the best one with some players moved."""
        found = []
        for start in first[:_STARTS]:
            if self._budget.over:
                break
            found.append(self.improved(start.players))
        found = sorted([*found, *first], key=lambda order: order.cost)
        best = found[0]
        while not self._budget.over:
            kicked = self.improved(self._kicked(best.players), _KICK_PASSES)
            if kicked.cost < best.cost:
                best = kicked
        return [best, *found]

    def _annealed(self, best: Order) -> Order:
        """The best of walks and descents from the best so far, each walk with twice as many steps as the one before."""
        annealing = Annealing(self._objective, self._before, self._generator)
        left = max(self._plan - self._budget.spent, 1)
        steps = (left - min(_SETTLING, left // 4)) * annealing.steps_of_a_pass
        saved = 0

        def more(count: int) -> bool:
            nonlocal saved
            while saved < count:
                if not self._budget.spend():
                    return False
                saved += annealing.steps_of_a_pass
            saved -= count
            return True

        while not self._budget.over:
            walked, _ = annealing.cooled(best.players, steps, more)
            walked, _ = annealing.settled(walked, _SETTLED * self._n_players, more)
            found = self.improved(walked)
            if found.cost < best.cost:
                best = found
            if self._budget.left is not None:
                break  # one long walk is better than several short ones
            steps *= 2
        return best

    def _kicked(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Some players moved at random: a few anywhere near the front, or several by a few places."""
        result, last = order, self._n_players - 1
        if self._generator.random() < 0.5:
            chances = 1.0 / (np.arange(self._n_players) + 3.0)
            chances /= np.sum(chances)
            count = int(self._generator.integers(1, 4))
            pairs = self._generator.choice(self._n_players, size=(count, 2), p=chances)
        else:
            sources = self._generator.integers(0, self._n_players, size=5)
            ends = np.clip(sources + self._generator.integers(-_NEAR, _NEAR + 1, size=5), 0, last)
            pairs = np.stack([sources, ends], axis=1)
        for source, to in pairs.tolist():
            result = moved(result, [self._legal(result, source, to)])
        return result

    def _legal(self, order: NDArray[np.int64], source: int, to: int) -> tuple[int, int]:
        """The move, cut short at players who must stay on the other side."""
        if self._before is None or source == to:
            return source, to
        player = order[source]
        if to < source:
            blocked = np.flatnonzero(self._before[order[to:source], player])
            return source, to + int(blocked[-1]) + 1 if len(blocked) else to
        blocked = np.flatnonzero(self._before[player, order[source + 1 : to + 1]])
        return source, source + int(blocked[0]) if len(blocked) else to
