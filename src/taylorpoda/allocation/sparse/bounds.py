"""What no order of joining can undercut: a bound for games whose coalitions are too many to list.

For every m the values of all coalitions of m players lie in a range, and the least cost in that range bounds the m-th
term of every order. The first two and the last two terms are bounded together and exactly, by listing players and
pairs. What has to be added up afterward is proven in docs/theory/wide.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.allocation.sparse.ranges import Choices, value_ranges
from taylorpoda.allocation.sparse.reduced import difference, members_together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.objective import Objective
    from taylorpoda.allocation.sparse.reduced import Reduced

_ROUNDING = 1e-11  # relative to all dividends together: how far the sum of some of them may be off


class _Judged:
    """The games whose ranges decide what coalitions cost: the row's own, or the target's lead over every rival."""

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self.games: list[Reduced] = objective.games
        if objective.terms.competing:
            target = int(objective.terms.target)
            rivals = [game for place, game in enumerate(objective.games) if place != target]
            self.games = [difference(objective.games[target], rival) for rival in rivals]
        self._slack = np.array(
            [_ROUNDING * (abs(game.base) + abs(game.full) + np.sum(abs(game.values))) for game in self.games]
        )

    def least(self, lowest: NDArray[np.float64], highest: NDArray[np.float64]) -> NDArray[np.float64]:
        """The least cost of coalitions whose values lie between two ends: (games, ...) -> (...)."""
        slack = self._slack.reshape(-1, *(1,) * (lowest.ndim - 1))
        lowest, highest = lowest - slack, highest + slack
        terms = self._objective.terms
        if terms.competing:
            if terms.utility.higher_is_better:
                return -np.all(highest >= 0, axis=0).astype(np.float64)
            return 1.0 - np.any(lowest <= 0, axis=0)
        # Errors fall toward f(x) and rise beyond it, labels change once: the extremes are at three places at most.
        at = np.stack([lowest[0], highest[0], np.clip(terms.full, lowest[0], highest[0])])
        return np.asarray(np.min(self._objective.cost(at[None]), axis=0))


def cost_bound(objective: Objective, before: NDArray[np.bool_] | None) -> float:
    """No order of joining has a lower sum of costs over its first 1, ..., k - 1 players.

    Args:
        objective: What coalitions cost; guides are left out.
        before: Shape (k, k), transitive: who must join before whom; None where all orders are allowed.
    """
    return _bounded(_Judged(objective), Choices(objective.games[0].n_players, before))[0]


def repeated_bound(objective: Objective, repeats: int) -> float:
    """No ranking of all players costs less.

    Args:
        objective: The game among the players that matter.
        repeats: How many others there are: each adds the cost of the coalition before it once more.
    """
    judged = _Judged(objective)
    total, least = _bounded(judged, Choices(objective.games[0].n_players, None))
    ends = np.array([[game.base, game.full] for game in judged.games])
    nobody, everybody = judged.least(ends, ends).tolist()
    last = nobody if objective.exclusion else everybody
    return total + last + repeats * min(nobody, everybody, float(np.min(least, initial=np.inf)))


def _bounded(judged: _Judged, choices: Choices) -> tuple[float, NDArray[np.float64]]:
    """The bound of the sum, and of each of its terms."""
    n_players = len(choices.earliest)
    if n_players < 2:
        return 0.0, np.zeros(0)
    ranges = np.array([value_ranges(game, choices) for game in judged.games])
    least = judged.least(ranges[:, 0], ranges[:, 1])
    # The two ends must not speak of the same coalition.
    front, back = min(2, n_players - 1), min(2, max(n_players - 3, 0))
    total = float(np.sum(least[front : len(least) - back]))
    total += max(_front(judged, choices, front), float(np.sum(least[:front])))
    if back:
        total += max(_back(judged, choices, back), float(np.sum(least[-back:])))
    return total, least


def _front(judged: _Judged, choices: Choices, terms: int) -> float:
    """The first player, or the first two one after the other."""
    ones = np.array([game.base + game.dividends.singletons() for game in judged.games])
    first = np.where(choices.earliest == 0, judged.least(ones, ones), np.inf)
    if terms == 1:
        return float(np.min(first))
    twos = np.array([game.base + _pairs(game) for game in judged.games])
    second = np.where(choices.next_to_each_other(), judged.least(twos, twos), np.inf)
    return float(np.min(first[:, None] + second))


def _back(judged: _Judged, choices: Choices, terms: int) -> float:
    """All but the last player, or all but the last and all but the last two."""
    losses = [game.by_player(game.spread) for game in judged.games]
    ones = np.array([game.full - loss for game, loss in zip(judged.games, losses, strict=True)])
    last = np.where(choices.latest == len(choices.latest) - 1, judged.least(ones, ones), np.inf)
    if terms == 1:
        return float(np.min(last))
    twos = np.array(
        [
            game.full - loss[:, None] - loss[None, :] + members_together(game, game.values)
            for game, loss in zip(judged.games, losses, strict=True)
        ]
    )
    both = np.where(choices.next_to_each_other(front=False), judged.least(twos, twos), np.inf)
    return float(np.min(last[None, :] + both))


def _pairs(game: Reduced) -> NDArray[np.float64]:
    """What two players earn together, shape (k, k); the diagonal means nothing."""
    pairs = game.dividends.pairs()
    alone = np.diagonal(pairs)
    return np.asarray(pairs + alone[:, None] + alone[None, :])
