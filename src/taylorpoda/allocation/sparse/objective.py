"""What a ranking costs, written for an order in which players join: one form for inclusion and for exclusion.

An inclusion utility values the m largest players, an exclusion utility what is left without them. Read from its end, a
ranking for exclusion is an order of joining too: the coalitions valued are then the first k - m of it. Either way a
utility is a sum of c(v(P)) over the coalitions P met while players join; nobody and all are met by every order, so only
those between count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.allocation.sparse.reduced import reduced
from taylorpoda.utilities.builtin import squared_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.reduced import Reduced
    from taylorpoda.allocation.sparse.scoring import RowTerms

_HALF = 0.5  # all that guides may add up to, where a label is worth 1


class Objective:
    """The cost of orders of joining for one row.

    Args:
        game: The row's game among the players that matter.
        terms: What its coalitions add to the utility, for a utility that is pointwise.

    Attributes:
        games: The games whose values are read: the row's own, or those of all classes.
        exclusion: Whether rankings are read from their end.
    """

    def __init__(self, game: Reduced, terms: RowTerms) -> None:
        self.terms = terms
        self.exclusion = terms.utility.side == "exclusion"
        self._sign = -1.0 if terms.utility.higher_is_better else 1.0
        self.games = [game]
        if terms.competing:
            self.games = [
                reduced(rival, game.players, rival.base_value, rival.full_value, others_present=self.exclusion)
                for rival in terms.rivals
            ]
        self._labels = terms.utility.needs_target
        self._reach = 2.0 * game.scale or 1.0
        self._weight = _HALF / (game.n_players + 1)

    def joining(self, ranking: NDArray[np.int64]) -> NDArray[np.int64]:
        """From a ranking to the order of joining, and back."""
        return ranking[::-1] if self.exclusion else ranking

    def cost(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """What coalitions cost: values of shape (games, ...) -> (...)."""
        return self._sign * self.terms.of_values(values if self.terms.competing else values[0])

    def guided(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The cost, and where labels are compared a hint of how far the label is from the right one.

        All hints together are worth less than one label.
        """
        cost = self.cost(values)
        if not self._labels:
            return cost
        return cost + self._weight * np.clip(self._shortfall(values) / self._reach, 0.0, 1.0)

    def _shortfall(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        terms = self.terms
        if terms.competing:
            others = np.delete(values, int(terms.target), axis=0)
            lead = values[int(terms.target)] - np.max(others, axis=0)
        else:
            lead = (values[0] - terms.threshold) * (1.0 if terms.target == 1 else -1.0)
        return -lead if terms.utility.higher_is_better else lead

    def price(self) -> tuple[int, float, float, float, bool, float, float, float]:
        """`guided` for one game as numbers: kind (0 error, 1 square, 2 label), sign, f(x); then what hints need."""
        terms = self.terms
        kind = 2 if self._labels else 1 if terms.utility.pointwise is squared_error else 0
        wanted = bool(terms.target == 1)
        toward = (1.0 if wanted else -1.0) * (-1.0 if terms.utility.higher_is_better else 1.0)
        return kind, self._sign, terms.full, float(terms.threshold), wanted, toward, self._reach, self._weight

    def slope(self) -> float:
        """About how much a unit of value is worth."""
        game = self.games[0]
        step = game.scale or 1.0
        away = np.array([[game.full, game.full + step]] * len(self.games))
        ends = self.guided(away)
        return float(abs(ends[1] - ends[0]) / step)

    def along(self, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """The guided costs of the first 1, ..., k - 1 players of an order of joining."""
        reached = np.array([game.along(order) for game in self.games])
        return self.guided(reached[:, 1:-1])
