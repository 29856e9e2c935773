"""One row: the answer, by the table where few players matter, else by search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from taylorpoda.allocation.sparse.few import solve_table
from taylorpoda.allocation.sparse.rounding import closed
from taylorpoda.allocation.sparse.wide import search

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.problem import RowProblem


@dataclass(frozen=True, eq=False)
class RowSolved:
    """The answer for one row; costs are scores, negated where higher is better.

    Attributes:
        attributions: Shape (n,).
        level: No admissible attribution costs less; None where that is to be computed when somebody asks.
        nearest: Whether, if nothing costs less, none of the same cost is nearer to the Shapley values.
        potentials: Shape (k,): what makes the shares of a wide row; None for even shares or those of a table.
        even: Whether the attributions are the Shapley values.
    """

    attributions: NDArray[np.float64]
    level: float | None
    nearest: bool
    potentials: NDArray[np.float64] | None
    even: bool


def solve_row(problem: RowProblem) -> RowSolved:
    """The answer for one row, never below the Shapley values by the public rule."""
    level, nearest = None, False
    found = potentials = None
    if not len(problem.players):
        level = problem.shapley_cost
    elif problem.few:
        solved = solve_table(problem.game, problem.table_costs, problem.options, others=problem.others)
        level = float(solved.bound[0]) + problem.unavoidable
        nearest = bool(solved.nearest_certified[0])
        found = solved.attributions[0]
    else:
        reached = search(problem)
        if reached is not None:
            found, potentials = reached.attributions, reached.potentials
    if found is not None:
        everyone = problem.whole(found)
        total = problem.terms.full - problem.terms.base
        everyone = closed(everyone, problem.terms.dividends, total)
        if problem.cost(everyone) < problem.shapley_cost - problem.tolerance:
            return RowSolved(everyone, level, nearest, potentials, even=False)
    return RowSolved(problem.shapley.copy(), level, nearest=True, potentials=None, even=True)
