"""policy="optimal" on sparse dividends: proven where few players matter, else the best found and a valid bound."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.allocation.result import Allocation
from taylorpoda.allocation.sparse.custom import allocate_custom
from taylorpoda.allocation.sparse.few import table_shares
from taylorpoda.allocation.sparse.judgment import Judgment
from taylorpoda.allocation.sparse.linear import intervals_of
from taylorpoda.allocation.sparse.potentials import Potentials
from taylorpoda.allocation.sparse.problem import RowProblem
from taylorpoda.allocation.sparse.rows import solve_row
from taylorpoda.allocation.sparse.scoring import score_rows
from taylorpoda.allocation.sparse.share_view import even_view, view_of_game

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.sparse.context import SparseContext
    from taylorpoda.allocation.sparse.rows import RowSolved
    from taylorpoda.allocation.sparse.share_view import SparseShareView
    from taylorpoda.utilities import Utility


def allocate_optimal(context: SparseContext, utility: Utility, options: Options) -> Allocation:
    """The best admissible attribution of every row; the best found where too many players matter to prove it."""
    if not utility.additive:
        return allocate_custom(context, utility, options)
    games = context.games
    rows = [solve_row(RowProblem(context, utility, options, row)) for row in range(prod(games.lead))]
    shape = (*games.lead, games.n_players)
    attributions = np.array([row.attributions for row in rows], dtype=np.float64).reshape(shape)
    proof = SparseOptimalProof(context, utility, options, attributions, rows)
    return Allocation(attributions, np.asarray(games.base)[()], "optimal", utility.name, proof)


@dataclass(frozen=True, eq=False)
class SparseOptimalProof:
    """What stands behind an optimal allocation of sparse games; bounds of wide rows are computed when asked for.

    Attributes:
        context: The games and the target.
        utility: What was optimized.
        options: Margin and limits.
        attributions: Shape (..., n).
        rows: What was found, by flat row number.
    """

    context: SparseContext
    utility: Utility
    options: Options
    attributions: NDArray[np.float64]
    rows: list[RowSolved]

    def score(self) -> Any:
        """By the public rule, from the attributions as returned."""
        return score_rows(self.context, self.utility, self.attributions)[()]

    def shapley_score(self) -> Any:
        """By the public rule."""
        return score_rows(self.context, self.utility, self.context.games.shapley)[()]

    @cached_property
    def _judgment(self) -> Judgment:
        levels = [row.level for row in self.rows]
        return Judgment(self.context, self.utility, self.options, self.attributions, levels)

    def bound(self) -> Any:
        """The score where certified, else what is proven, shape (...)."""
        return self._judgment.bound()

    def ceiling(self) -> Any:
        """What no ranking can beat, whether anybody attains it or not, shape (...)."""
        return self._judgment.ceiling()

    def certified(self) -> Any:
        """Whether the attributions reach the bound, shape (...)."""
        return self._judgment.certified()

    def nearest_certified(self) -> Any:
        """Shape (...); of wide rows only the Shapley values themselves are."""
        near = np.array([row.nearest for row in self.rows], dtype=np.bool_).reshape(self.context.games.lead)
        return np.asarray(self.certified() & near)[()]

    def intervals(self) -> tuple[Any, Any]:
        """In closed form."""
        return intervals_of(self.context)

    def shares(self, row: int) -> SparseShareView:
        """Even ones for the Shapley values, else of potentials, or of vertices where few players matter."""
        solved = self.rows[row]
        if solved.even:
            return even_view(self.context.games.dividends(row))
        problem = RowProblem(self.context, self.utility, self.options, row)
        if solved.potentials is not None:
            shares = Potentials(problem.game).shares(solved.potentials)
            return view_of_game(problem.terms.dividends, problem.game, shares)
        return table_shares(problem.terms.dividends, problem.game, solved.attributions[problem.players])
