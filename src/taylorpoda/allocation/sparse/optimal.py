"""policy="optimal" on sparse dividends: proven where few players matter, else the best found and a valid bound."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.allocation.result import Allocation
from taylorpoda.allocation.solving import EQUAL_COSTS
from taylorpoda.allocation.sparse.bounds import cost_bound
from taylorpoda.allocation.sparse.few import FEW, pointwise_costs, solve_table, table_shares
from taylorpoda.allocation.sparse.linear import intervals_of
from taylorpoda.allocation.sparse.objective import Objective
from taylorpoda.allocation.sparse.reduced import players_that_matter, reduced
from taylorpoda.allocation.sparse.rounding import closed
from taylorpoda.allocation.sparse.rows import RowSolved
from taylorpoda.allocation.sparse.scoring import RowTerms, score_rows
from taylorpoda.allocation.sparse.share_view import even_view
from taylorpoda.allocation.sparse.wide import potential_shares, search

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.sparse.context import SparseContext
    from taylorpoda.allocation.sparse.share_view import SparseShareView
    from taylorpoda.utilities import Utility


class RowProblem:
    """One row of an additive utility.

    Args:
        context: The games.
        utility: What judges.
        options: Margin and limits.
        row: Which game.
    """

    def __init__(self, context: SparseContext, utility: Utility, options: Options, row: int) -> None:
        games = context.games
        self.options = options
        self.terms = RowTerms(context, utility, row)
        self.sign = -1.0 if utility.higher_is_better else 1.0
        self.shapley = np.reshape(games.shapley, (-1, games.n_players))[row]
        self.n_players = games.n_players
        dividends = self.terms.dividends
        whole = utility.pointwise is None  # a stage of one's own may tell all coalitions apart
        self.players = np.arange(games.n_players) if whole else players_that_matter(dividends)
        self.game = reduced(dividends, self.players, self.terms.base, self.terms.full, others_present=False)
        self.objective = None if whole else Objective(self.game, self.terms)

    @property
    def few(self) -> bool:
        """Whether the table of the players that matter is made."""
        return self.objective is None or len(self.players) <= FEW

    def cost(self, attributions: NDArray[np.float64]) -> float:
        """By the public rule."""
        return self.sign * self.terms.score(attributions)

    @cached_property
    def _tail(self) -> tuple[float, float]:
        """What every ranking costs once all who matter are placed, and the largest single cost along one."""
        others = np.setdiff1d(np.arange(self.n_players), self.players)
        ranking = self.players[np.argsort(-abs(self.game.shapley), kind="stable")]
        along = self.sign * self.terms.along(np.concatenate([ranking, others]))
        return float(np.sum(along[len(self.players) :])), float(np.max(abs(along), initial=0.0))

    @cached_property
    def table_costs(self) -> NDArray[np.float64]:
        """c of all coalitions of the players that matter, where they are few."""
        if self.objective is None:
            return self.sign * self.terms.table
        return pointwise_costs(self.objective)

    def whole(self, attributions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Attributions of all players; the sum exact."""
        everyone = np.zeros(self.n_players)
        everyone[self.players] = attributions
        return everyone

    def ceiling(self) -> float:
        """No ranking costs less."""
        if self.few:
            from taylorpoda.allocation.lattice import cost_to_go

            return float(cost_to_go(self.table_costs[None, :])[0, 0]) + self._tail[0]
        return cost_bound(self.objective, None) + self._tail[0] + self._last

    @property
    def _last(self) -> float:
        """The one cost that the search leaves out: all who matter, or for exclusion none of them."""
        assert self.objective is not None  # noqa: S101 - only asked of pointwise utilities
        others = np.setdiff1d(np.arange(self.n_players), self.players)
        ranking = self.players[np.argsort(-abs(self.game.shapley), kind="stable")]
        along = self.sign * self.terms.along(np.concatenate([ranking, others]))
        return float(along[len(self.players) - 1])
