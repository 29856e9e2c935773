"""One row of an additive utility without the players that cannot matter to it, and what is known of it cheaply."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.allocation.lattice import cost_to_go
from taylorpoda.allocation.solving import EQUAL_COSTS
from taylorpoda.allocation.sparse.attain import Attainment
from taylorpoda.allocation.sparse.bounds import cost_bound, repeated_bound
from taylorpoda.allocation.sparse.few import FEW, least_repeated, pointwise_costs
from taylorpoda.allocation.sparse.objective import Objective
from taylorpoda.allocation.sparse.precedence import precedence
from taylorpoda.allocation.sparse.reduced import players_that_matter, reduced
from taylorpoda.allocation.sparse.scoring import RowTerms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.sparse.context import SparseContext
    from taylorpoda.utilities import Utility


class RowProblem:
    """One row; costs are scores, negated where higher is better.

    Args:
        context: The games.
        utility: What judges, additive.
        options: Margin and limits.
        row: Which game.

    Attributes:
        players: Those that matter: who has a dividend to speak of.
        game: The game among them.
        objective: What orders cost; None for a user's own stage, which may tell all coalitions apart.
    """

    def __init__(self, context: SparseContext, utility: Utility, options: Options, row: int) -> None:
        games = context.games
        self.options = options
        self.terms = RowTerms(context, utility, row)
        self.sign = -1.0 if utility.higher_is_better else 1.0
        self.shapley = np.reshape(games.shapley, (-1, games.n_players))[row]
        self.n_players = games.n_players
        dividends = self.terms.dividends
        whole = utility.pointwise is None
        self.players = np.arange(games.n_players) if whole else players_that_matter(dividends)
        if not whole and len(self.players) > FEW:
            # Numbered by size, so that the search breaks its ties in the same way whatever the players are called.
            self.players = self.players[np.argsort(-abs(self.shapley[self.players]), kind="stable")]
        self.game = reduced(dividends, self.players, self.terms.base, self.terms.full, others_present=False)
        self.objective = None if whole else Objective(self.game, self.terms)

    @property
    def few(self) -> bool:
        """Whether the table of the players that matter is made."""
        return self.objective is None or len(self.players) <= FEW

    @property
    def others(self) -> bool:
        """Whether there are players that do not matter."""
        return len(self.players) < self.n_players

    def cost(self, attributions: NDArray[np.float64]) -> float:
        """By the public rule."""
        return self.sign * self.terms.score(attributions)

    @cached_property
    def shapley_cost(self) -> float:
        """By the public rule."""
        return self.cost(self.shapley)

    def whole(self, attributions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Attributions of all players: those that do not matter have their Shapley values, mostly zero."""
        everyone = self.shapley.copy()
        everyone[self.players] = attributions
        return everyone

    @cached_property
    def _along(self) -> NDArray[np.float64]:
        """What the coalitions of a ranking cost in which all who matter come first."""
        others = np.setdiff1d(np.arange(self.n_players), self.players)
        others = others[np.argsort(-abs(self.shapley[others]), kind="stable")]
        ranking = self.players[np.argsort(-abs(self.game.shapley), kind="stable")]
        return self.sign * self.terms.along(np.concatenate([ranking, others]))

    @property
    def unavoidable(self) -> float:
        """What is added to every ranking from the coalition of all who matter on; that one's part not in tables."""
        place = len(self.players)
        return float(np.sum(self._along[place if self.few else max(place - 1, 0) :]))

    @cached_property
    def table_costs(self) -> NDArray[np.float64]:
        """What the coalitions of the players that matter cost, shape (2**k,), where they are few."""
        if self.terms.table is not None:
            return self.sign * self.terms.table
        assert self.objective is not None  # noqa: S101 - without a table the utility is pointwise
        return pointwise_costs(self.objective)

    @cached_property
    def tolerance(self) -> float:
        """Costs closer than this are equal."""
        if self.few:
            return EQUAL_COSTS * float(np.max(abs(self.table_costs)))
        ends = self.sign * self.terms.along(np.argsort(-abs(self.shapley), kind="stable"))
        return EQUAL_COSTS * float(np.max(abs(np.concatenate([ends, self._along])), initial=0.0))

    @cached_property
    def attainment(self) -> Attainment:
        """The questions about rankings, for a wide row."""
        return Attainment(self.game, self.options.margin, others=self.others)

    @cached_property
    def precedence(self) -> NDArray[np.bool_] | None:
        """Who must be ranked before whom, shape (k, k); None if no ranking with margins is admissible."""
        return precedence(self.game, self.attainment.margin, self.attainment.fixed)

    @cached_property
    def only_ranking(self) -> NDArray[np.int64] | None:
        """The one ranking of a wide row that precedence leaves, or None if it leaves several or none."""
        before = self.precedence
        if before is None or np.sum(before) < before.size // 2 - len(before) // 2:
            return None
        return np.argsort(-np.sum(before, axis=1), kind="stable")

    def ceiling(self) -> float:
        """No ranking costs less, wherever it puts the players that do not matter."""
        if self.terms.table is not None:
            return float(cost_to_go(self.table_costs[None, :])[0, 0])
        objective = self.objective
        assert objective is not None  # noqa: S101 - without a table the utility is pointwise
        if self.terms.competing:  # a player may matter to another class alone
            matter = [players_that_matter(rival) for rival in self.terms.rivals]
            players = np.unique(np.concatenate([self.players, *matter]))
            game = reduced(self.terms.dividends, players, self.terms.base, self.terms.full, others_present=False)
            objective = Objective(game, self.terms)
        return least_of_all(objective, self.n_players)

    def wide_bound(self) -> float:
        """No admissible attribution of a wide row costs less; the Shapley values are one, with margins or without."""
        assert self.objective is not None  # noqa: S101 - a wide row has one
        before = self.precedence
        if before is None:
            return self.shapley_cost
        joining = before.T if self.objective.exclusion else before
        if self.only_ranking is not None:
            least = float(np.sum(self._costs_along(self.only_ranking)))
        else:
            least = cost_bound(self.objective, joining if before.any() else None)
        return min(least + self.unavoidable, self.shapley_cost)

    def _costs_along(self, ranking: NDArray[np.int64]) -> NDArray[np.float64]:
        """What the coalitions of a ranking of the players that matter cost, without the last."""
        assert self.objective is not None  # noqa: S101 - a wide row has one
        reached = np.array([game.along(self.objective.joining(ranking)) for game in self.objective.games])
        return self.objective.cost(reached[:, 1:-1])


def least_of_all(objective: Objective, n_players: int) -> float:
    """The least cost that rankings of all players can have, admissible or not.

    Args:
        objective: The game among the players that matter.
        n_players: How many there are in all; the others change no value, wherever they are ranked.
    """
    players = objective.games[0].n_players
    if players <= FEW:
        return least_repeated(pointwise_costs(objective), n_players - players)
    return repeated_bound(objective, n_players - players)
