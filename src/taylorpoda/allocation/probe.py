"""Is a signed ranking attainable, and which attainable vector is nearest to the Shapley values?

The question is a small quadratic program: the nearest vector in the base polytope that respects the order. Rows of
the polytope are added only when a solution violates them; what one question of a game learns, the next ones keep.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import daqp
import numpy as np

from taylorpoda.allocation.refutation import EQUALITY, FREE, refuted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_SOLVED = 1
_INFEASIBLE = -1
_PRIMAL_TOLERANCE = 1e-11  # of the solver, in units of the game
_SLACK = 1e-11  # how far rows that may hold with equality are relaxed, so that rounding never empties them
_HAIR = 3e-11  # what keeps fixed players in order that have some play
_LEVEL_WEIGHT = 1e-2  # any positive weight makes the level of a set question unique


class UndecidedError(Exception):
    """The solver gave neither a solution nor a proof that there is none."""


class Probe:
    """The questions about one game, in units of about its scale.

    A question is put with its players in ranked order and their signs taken out, so that its rows depend on nothing
    but how many players are ranked.

    Args:
        center: Shape (n,): what solutions should be near to, the Shapley values.
        lower: Shape (n,).
        upper: Shape (n,).
        boundary: Shape (2**n,): g.
        margin: How far apart ranked neighbors are kept.
        tolerance: How far rounding may carry a sum over g.
        rounding: More than what rounding does to g itself.
        fixed: Shape (n,): two fixed players are kept in order without a margin.
        rigid: Shape (n,): whose interval is a number.
    """

    def __init__(
        self,
        center: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        boundary: NDArray[np.float64],
        margin: float,
        tolerance: float,
        rounding: float,
        fixed: NDArray[np.bool_],
        rigid: NDArray[np.bool_],
    ) -> None:
        n_players = len(center)
        self.center = center
        self.lower = lower
        self.upper = upper
        self.boundary = boundary
        self.margin = margin
        self.tolerance = tolerance
        self.fixed = fixed
        self.rigid = rigid
        self.solved = 0
        self._total = float(boundary[-1])
        self._rounding = rounding
        self._any_fixed = bool(fixed.any())
        # Everything by sign, so that one lookup turns it: row 0 as it is, row 1 with the sign taken out.
        self._ends = np.stack([lower, -upper, upper, -lower]).reshape(2, 2, n_players)
        low_bits = n_players // 2
        self._low_bits = low_bits
        self._low, self._high = _members(low_bits), _members(n_players - low_bits)
        self._cuts = np.empty((0, n_players))
        self._cut_limits = np.empty(0)
        self._cut_sets: set[int] = set()

    def nearest(self, order: Sequence[int], signs: Sequence[float]) -> NDArray[np.float64] | None:
        """The attainable vector nearest to the center whose signed ranking starts like this, or None.

        Raises:
            UndecidedError: If the solver fails.
        """
        n_players, depth = len(self.center), len(order)
        placed, sign = _all_players(order, signs, n_players)
        turned = (sign < 0).astype(np.intp)
        lower, upper = self._ends[0, turned, placed], self._ends[1, turned, placed]
        # Cut at zero for the players ranked; never empty where only rounding says so.
        np.minimum(np.maximum(lower[:depth], 0.0), upper[:depth], out=lower[:depth])
        rows = _order_rows(n_players, depth)
        limits = self._with_ties(placed, depth) if self._any_fixed else np.full(len(rows), self.margin)
        linear = -self.center[placed] * sign
        while True:
            cuts = self._cuts[:, placed] * sign if len(self._cuts) else self._cuts
            matrix = np.concatenate([rows, cuts, sign[None, :]])
            turned_solution = self._solve(_identity(n_players), linear, matrix, limits, lower, upper)
            if turned_solution is None:
                return None
            solution = np.empty(n_players)
            solution[placed] = turned_solution * sign
            if not self.separate(solution):
                return solution

    def _with_ties(self, placed: NDArray[np.intp], depth: int) -> NDArray[np.float64]:
        """The margins of the rows where some players are fixed.

        Numbers may tie; where two fixed players have some play, their order must survive rounding.
        """
        before, after = _order_pairs(len(placed), depth)
        before, after = placed[before], placed[after]
        tie = np.where(self.rigid[before] & self.rigid[after], -_SLACK, min(_HAIR, self.margin))
        return np.where(self.fixed[before] & self.fixed[after], tie, self.margin)

    def set_attainable(self, order: Sequence[int], signs: Sequence[float]) -> bool:
        """Whether these players, with these signs, can be the largest ones in any order among themselves.

        Raises:
            UndecidedError: If the solver fails.
        """
        n_players = len(self.center)
        lower, upper = self._signed_bounds(order, signs)
        # Nobody's level is higher than the end of an interval.
        lower, upper = np.append(lower, 0.0), np.append(upper, max(np.max(abs(lower)), np.max(abs(upper))))
        inside, sign = np.array(order), np.array(signs)
        outside = np.ones(n_players, dtype=np.bool_)
        outside[inside] = False
        below, above = np.flatnonzero(outside & (self.upper > 0)), np.flatnonzero(outside & (self.lower < 0))
        depth, n_below = len(inside), len(below)
        # The last column is the level that the players inside reach and those outside do not exceed.
        rows = np.zeros((depth + n_below + len(above), n_players + 1))
        rows[np.arange(depth), inside] = sign
        rows[np.arange(depth, depth + n_below), below] = -1.0
        rows[np.arange(depth + n_below, len(rows)), above] = 1.0
        rows[:depth, -1] = -1.0
        rows[depth:, -1] = 1.0
        # Relaxed by as much as a chain of rigid players may be in any order of theirs.
        limits = np.full(len(rows), -n_players * _SLACK)
        limits[:depth] += np.where(self.fixed[inside], 0.0, self.margin)
        objective = np.ones(n_players + 1)
        objective[-1] = _LEVEL_WEIGHT
        linear = np.append(-self.center, 0.0)
        total = np.append(np.ones(n_players), 0.0)[None, :]
        while True:
            cuts = np.concatenate([self._cuts, np.zeros((len(self._cuts), 1))], axis=1)
            matrix = np.concatenate([rows, cuts, total])
            solution = self._solve(np.diag(objective), linear, matrix, limits, lower, upper)
            if solution is None:
                return False
            if not self.separate(solution[:-1]):
                return True

    def separate(self, vector: NDArray[np.float64]) -> bool:
        """Whether a vector with the right sum violates the polytope; the row it violates most is kept."""
        sums = np.add.outer(self._high @ vector[self._low_bits :], self._low @ vector[: self._low_bits]).ravel()
        sums -= self.boundary
        worst = int(sums.argmax())
        if sums[worst] <= self.tolerance:
            return False
        if worst in self._cut_sets:
            msg = "a row that the solver was given is violated"
            raise UndecidedError(msg)
        self._cut_sets.add(worst)
        row = (worst >> np.arange(len(vector)) & 1).astype(np.float64)
        self._cuts = np.concatenate([self._cuts, row[None, :]])
        self._cut_limits = np.append(self._cut_limits, self.boundary[worst])
        return True

    def _signed_bounds(
        self, order: Sequence[int], signs: Sequence[float]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The intervals, cut at zero for the players placed; never empty where only rounding says so."""
        lower, upper = self.lower.copy(), self.upper.copy()
        for player, sign in zip(order, signs, strict=True):
            if sign > 0:
                lower[player] = min(max(lower[player], 0.0), upper[player])
            else:
                upper[player] = max(min(upper[player], 0.0), lower[player])
        return lower, upper

    def _solve(
        self,
        objective: NDArray[np.float64],
        linear: NDArray[np.float64],
        matrix: NDArray[np.float64],
        limits: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
    ) -> NDArray[np.float64] | None:
        n_rows, first_cut, last = len(limits), len(upper) + len(limits), len(upper) + len(matrix) - 1
        above, below = np.empty(last + 1), np.empty(last + 1)
        above[: len(upper)], below[: len(upper)] = upper, lower
        above[len(upper) : first_cut], below[len(upper) : first_cut] = FREE, limits
        above[first_cut:last], below[first_cut:last] = self._cut_limits, -FREE
        above[last] = below[last] = self._total
        self.solved += 1
        solution, _, flag, _ = daqp.solve(
            objective, linear, matrix, above, below, _sense(last), primal_tol=_PRIMAL_TOLERANCE
        )
        if flag == _SOLVED:
            found: NDArray[np.float64] = solution
            return found
        if flag == _INFEASIBLE and refuted(objective, linear, matrix, above, below, self._rounding):
            return None
        msg = f"the solver stopped with flag {flag} on {n_rows} rows, and nothing is proven"
        raise UndecidedError(msg)


def _all_players(
    order: Sequence[int], signs: Sequence[float], n_players: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The ranked players with their signs, then the others as they are."""
    if len(order) == n_players:
        return np.array(order), np.array(signs)
    ranked = set(order)
    others = [player for player in range(n_players) if player not in ranked]
    return np.array([*order, *others]), np.array([*signs, *(1.0 for _ in others)])


@lru_cache(maxsize=512)
def _order_pairs(n_players: int, depth: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Who is before whom in every row of a question, by rank: ranked neighbors, then the last against the others."""
    others = np.tile(np.arange(depth, n_players), 2)
    before = np.concatenate([np.arange(depth - 1), np.full(len(others), depth - 1)])
    return before, np.concatenate([np.arange(1, depth), others])


@lru_cache(maxsize=512)
def _order_rows(n_players: int, depth: int) -> NDArray[np.float64]:
    """Rows that keep `depth` ranked players in order and the others below the last of them, on either side of zero."""
    before, after = _order_pairs(n_players, depth)
    rows = np.zeros((len(before), n_players))
    every = np.arange(len(before))
    rows[every, before] = 1.0
    rows[every, after] = -1.0
    rows[depth - 1 + n_players - depth :, depth:] *= -1.0
    return rows


@lru_cache(maxsize=512)
def _sense(last: int) -> NDArray[np.int32]:
    """Row kinds: all inequalities but the last."""
    sense = np.zeros(last + 1, dtype=np.int32)
    sense[last] = EQUALITY
    return sense


@lru_cache(maxsize=64)
def _identity(n_players: int) -> NDArray[np.float64]:
    return np.eye(n_players)


@lru_cache(maxsize=32)
def _members(n_players: int) -> NDArray[np.float64]:
    return (np.arange(1 << n_players)[:, None] >> np.arange(n_players) & 1).astype(np.float64)
