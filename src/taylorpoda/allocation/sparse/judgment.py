"""What is proven about games, and whether attributions reach it: for answers of any policy."""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.allocation.sparse.problem import RowProblem
from taylorpoda.allocation.sparse.rows import solve_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.sparse.context import SparseContext
    from taylorpoda.utilities import Utility


class Judgment:
    """What is proven about rows, and whether attributions reach it; rows counted over all leading axes.

    Args:
        context: The games.
        utility: What judges.
        options: How hard to look where few players matter.
        attributions: What is judged, shape (..., n).
        levels: What no admissible attribution undercuts, for rows where that is known.
    """

    def __init__(
        self,
        context: SparseContext,
        utility: Utility,
        options: Options,
        attributions: NDArray[np.float64],
        levels: list[float | None] | None = None,
    ) -> None:
        self._lead = context.games.lead
        self._n_rows = prod(self._lead)
        self._parts = (context, utility, options)
        self._attributions = attributions.reshape(self._n_rows, context.n_players)
        self._levels = [None] * self._n_rows if levels is None else levels
        self._higher = utility.higher_is_better
        self._additive = utility.additive

    @cached_property
    def _rows(self) -> NDArray[np.float64]:
        """Cost, level, tolerance, ceiling of every row, shape (rows, 4)."""
        found = np.empty((self._n_rows, 4))
        for row, level in enumerate(self._levels):
            problem = RowProblem(*self._parts, row)
            known = self._level_of(problem) if level is None else level
            cost = problem.cost(self._attributions[row])
            found[row] = cost, min(known, cost), problem.tolerance, min(problem.ceiling(), cost)
        return found

    @staticmethod
    def _level_of(problem: RowProblem) -> float:
        if not problem.few:
            return problem.wide_bound()
        level = solve_row(problem).level
        assert level is not None  # noqa: S101 - a row with a table has one
        return level

    @property
    def _certain(self) -> NDArray[np.bool_]:
        if not self._additive:
            return np.zeros(self._n_rows, dtype=np.bool_)
        return self._rows[:, 0] <= self._rows[:, 1] + self._rows[:, 2]

    def bound(self) -> Any:
        """Shape (...); infinite where nothing can be proven."""
        if not self._additive:
            return self._score(np.full(self._n_rows, -np.inf))
        return self._score(np.where(self._certain, self._rows[:, 0], self._rows[:, 1]))

    def ceiling(self) -> Any:
        """Shape (...); infinite where no ranking is judged."""
        return self._score(self._rows[:, 3] if self._additive else np.full(self._n_rows, -np.inf))

    def certified(self) -> Any:
        """Whether the attributions reach the bound, shape (...)."""
        return self._certain.reshape(self._lead)[()]

    def _score(self, cost: NDArray[np.float64]) -> Any:
        return (0.0 - cost if self._higher else cost).reshape(self._lead)[()]
