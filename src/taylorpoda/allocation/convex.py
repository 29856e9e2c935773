"""Convex utilities of the attributions themselves: solved to a proven gap by a level bundle method.

Every point evaluated gives a plane that lies below the utility everywhere. The lowest point of all planes over the
admissible set is a lower bound; the next point is the one nearest to the best so far where the planes promise half of
the gap. Rows of the admissible set are added when they are violated, as in the search for rankings.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import daqp
import numpy as np
from scipy.optimize import linprog

from taylorpoda._support.arrays import to_numpy
from taylorpoda.allocation.admissible import AdmissibleSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_GAP = 1e-7  # relative to the utility: a smaller gap counts as none
_SMALL = 1e-2  # a utility near zero is measured by this share of the gain over Shapley
_EXACT = 1e-10
_ROUNDS = 500
_FREE = 1e30
_EQUALITY = 5
_PROMISE = 0.5


class ConvexSearch:
    """The minimum of a convex function over the admissible set of one game.

    Args:
        values: Shape (2**n,).
        start: Shape (n,): an admissible attribution, the Shapley values.
        cost: The function.
        gradient: A subgradient of it, shape (n,) -> (n,).
        rounds: How many points to evaluate, None for the default.
        deadline: On the clock of time.monotonic, or None.

    Attributes:
        best: The best admissible attribution found.
        value: Its cost.
        bound: No admissible attribution costs less.
        proven: Whether the two agree.
    """

    def __init__(
        self,
        values: NDArray[np.float64],
        start: NDArray[np.float64],
        cost: Callable[[NDArray[np.float64]], float],
        gradient: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        rounds: int | None,
        deadline: float | None,
    ) -> None:
        self._set = AdmissibleSet(values)
        self._unit = self._set.scale or 1.0
        self._lower, self._upper = self._set.lower / self._unit, self._set.upper / self._unit
        self._boundary = self._set.boundary / self._unit
        self._cost, self._gradient = cost, gradient
        self._rounds = _ROUNDS if rounds is None else rounds
        self._deadline = deadline
        self._cuts: list[int] = []
        self._slopes: list[NDArray[np.float64]] = []
        self._offsets: list[float] = []
        self.best = start
        self.value = self._start_value = cost(start)
        self.bound = self._lowest = -np.inf
        self._size = 1.0
        self._lowest_point = start / self._unit
        self.proven = False
        self._evaluate(start / self._unit)

    def run(self) -> None:
        """Until the gap is closed or a limit is reached."""
        if self._set.scale == 0.0 or self._set.n_players < 2:
            self.bound, self.proven = self.value, True
            return
        for _ in range(self._rounds):
            self._raise_bound()
            gain = self._start_value - self.value
            self.proven = self.value - self.bound <= _GAP * max(abs(self.value), _SMALL * gain)
            if self.proven or (self._deadline is not None and time.monotonic() > self._deadline):
                return
            self._evaluate(self._next())

    def _evaluate(self, point: NDArray[np.float64]) -> None:
        attributions = point * self._unit
        value, slope = self._cost(attributions), self._gradient(attributions) * self._unit
        # In units of the first slope, whatever those of the utility are.
        if not self._slopes:
            self._size = float(np.max(abs(slope))) or 1.0
        slope = slope / self._size
        self._slopes.append(slope)
        self._offsets.append((value - self._start_value) / self._size - float(slope @ point))
        if value < self.value:
            self.best, self.value = attributions, value

    def _rows(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The rows of the admissible set met so far, and what their sums may be at most."""
        cuts = np.array(self._cuts, dtype=np.intp)
        return (cuts[:, None] >> np.arange(len(self._lower)) & 1).astype(np.float64), self._boundary[cuts]

    def _raise_bound(self) -> None:
        """The lowest point of the planes over the rows met so far; the rows it violates are added."""
        n_players = len(self._lower)
        steep = np.maximum(np.max(abs(np.array(self._slopes)), axis=1), 1.0)
        planes = np.column_stack([np.array(self._slopes), -np.ones(len(self._slopes))]) / steep[:, None]
        while True:
            rows, limits = self._rows()
            result = linprog(
                np.append(np.zeros(n_players), 1.0),
                A_ub=np.concatenate([planes, np.column_stack([rows, np.zeros(len(rows))])]),
                b_ub=np.concatenate([-np.array(self._offsets) / steep, limits]),
                A_eq=np.append(np.ones(n_players), 0.0)[None, :],
                b_eq=self._boundary[-1:],
                bounds=[*zip(self._lower, self._upper, strict=True), (None, None)],
                method="highs",
                options={"primal_feasibility_tolerance": _EXACT, "dual_feasibility_tolerance": _EXACT},
            )
            if result.x is None or result.fun is None:
                return
            self._lowest = max(self._lowest, float(result.fun))
            self.bound = self._start_value + self._lowest * self._size
            self._lowest_point = result.x[:-1]
            if not self._separate(self._lowest_point):
                return

    def _next(self) -> NDArray[np.float64]:
        """The admissible point nearest to the best one where all planes lie below the level.

        Where rounding keeps the solver from it, the lowest point of the planes, which converges too, if slowly.
        """
        reached = (self.value - self._start_value) / self._size
        level = self._lowest + _PROMISE * (reached - self._lowest)
        slopes = np.array(self._slopes)
        size = np.maximum(np.linalg.norm(slopes, axis=1), np.finfo(np.float64).tiny)
        limits = (level - np.array(self._offsets)) / size
        while True:
            rows, most = self._rows()
            matrix = np.concatenate([slopes / size[:, None], rows, np.ones((1, len(self._lower)))])
            above = np.concatenate([self._upper, limits, most, self._boundary[-1:]])
            below = np.concatenate([self._lower, np.full(len(matrix) - 1, -_FREE), self._boundary[-1:]])
            sense = np.zeros(len(above), dtype=np.int32)
            sense[-1] = _EQUALITY
            point, _, flag, _ = daqp.solve(
                np.eye(len(self._lower)), -self.best / self._unit, matrix, above, below, sense, primal_tol=1e-11
            )
            if flag != 1:
                return self._lowest_point
            found: NDArray[np.float64] = point
            if not self._separate(found):
                return found

    def _separate(self, point: NDArray[np.float64]) -> bool:
        half = len(point) // 2
        low = _members(half) @ point[:half]
        excess = np.add.outer(_members(len(point) - half) @ point[half:], low).ravel() - self._boundary
        worst = int(np.argmax(excess))
        if excess[worst] <= 1e-9 or worst in self._cuts:
            return False
        self._cuts.append(worst)
        return True


def _members(n_players: int) -> NDArray[np.float64]:
    return (np.arange(1 << n_players)[:, None] >> np.arange(n_players) & 1).astype(np.float64)


def number(result: Any) -> float:
    """What a user's function returned for one row, as a number."""
    return float(np.asarray(to_numpy(result), dtype=np.float64).reshape(()))
