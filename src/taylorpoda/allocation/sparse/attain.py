"""Is a ranking attainable in a wide game, and by which attribution near to the Shapley values?

The nearest vector that respects the order, the intervals and the sum is a quadratic program with as many rows as there
are players. Whether it is admissible is decided by potentials; rows of the base polytope are added when they are
violated, and kept for the next question.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import daqp
import numpy as np

from taylorpoda.allocation.boundary import FIXED
from taylorpoda.allocation.sparse.potentials import Potentials
from taylorpoda.allocation.sparse.spacing import spaced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.potentials import Reached
    from taylorpoda.allocation.sparse.reduced import Reduced

_FREE = 1e30
_EQUALITY = 5
_SOLVED = 1
_PRIMAL_TOLERANCE = 1e-11
_SLACK = 1e-11  # relative to the scale
_MORE = 1.25  # times the margin
_ROUNDS = 30


class Attainment:
    """The questions about one game; inside, everything is divided by its scale.

    Args:
        game: The game.
        margin: How far apart ranked neighbors are kept, relative to the scale.
        others: Whether there are players that cannot matter, who are ranked below all others.
    """

    def __init__(self, game: Reduced, margin: float, *, others: bool) -> None:
        self.game = game
        self.scale = game.scale or 1.0
        self.margin = margin * self.scale
        lower, upper = game.ends
        self._lower, self._upper = lower / self.scale, upper / self.scale
        self._center = game.shapley / self.scale
        self._delta = margin
        self.fixed = upper - lower <= FIXED * self.margin
        self._others = others
        self._total = (game.full - game.base) / self.scale
        self._potentials = Potentials(game)
        self._cuts = np.zeros((0, game.n_players))
        self._limits = np.zeros(0)
        self.asked = 0

    def signs(self, ranking: NDArray[np.int64]) -> list[NDArray[np.float64]]:
        """Signs worth trying for a ranking: those of the Shapley values, then those that help the sum."""
        may_rise, may_fall = self._upper > _SLACK, self._lower < -_SLACK
        own = np.where(np.where(may_rise & may_fall, self._center >= 0, ~may_fall), 1.0, -1.0)
        toward = 1.0 if self._total >= 0 else -1.0
        helping = np.where(may_rise & may_fall, toward, own)
        # A player ranked higher than its size would have it must grow; it had better grow toward the total.
        size = abs(self._center)[ranking]
        below = np.maximum.accumulate(size[::-1])[::-1]
        mixed = own.copy()
        grown = ranking[size < 0.5 * below]
        mixed[grown] = helping[grown]
        tried = [own, mixed, helping]
        return [signs for place, signs in enumerate(tried) if not any(np.array_equal(signs, t) for t in tried[:place])]

    def attain(self, ranking: NDArray[np.int64]) -> Reached | None:
        """An admissible attribution with this ranking, near to the Shapley values; None if none was found."""
        for signs in self.signs(ranking):
            reached = self._with_signs(ranking, signs[ranking])
            if reached is not None:
                return reached
        return None

    def spaced(self, ranking: NDArray[np.int64], before: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        """The ranking, changed where players that can only be small would leave no room for the margins."""
        smallest = np.clip(0.0, self._lower, self._upper)
        gap = np.where(self.fixed, 0.0, _MORE * self._delta)
        return spaced(ranking, abs(smallest), np.maximum(self._upper, -self._lower), gap, before)

    def plausible(self, ranking: NDArray[np.int64]) -> bool:
        """Whether nothing that is known so far speaks against a ranking; much cheaper than to attain it."""
        self.asked += 1
        return any(self._nearest(ranking, signs[ranking]) is not None for signs in self.signs(ranking))

    def _with_signs(self, ranking: NDArray[np.int64], signs: NDArray[np.float64]) -> Reached | None:
        for _ in range(_ROUNDS):
            self.asked += 1
            solution = self._nearest(ranking, signs)
            if solution is None:
                return None
            reached = self._potentials.reach(solution * self.scale, partial(self._ranked, ranking=ranking))
            if not len(reached.violated):
                return reached if self._ranked(reached.attributions, ranking) else None
            for row in reached.violated:
                self._cuts = np.concatenate([self._cuts, row[None, :].astype(np.float64)])
                self._limits = np.append(self._limits, self._potentials.most(row) / self.scale)
        return None

    def _ranked(self, attributions: NDArray[np.float64], ranking: NDArray[np.int64]) -> bool:
        """Whether attributions are ranked as asked, with margins; two fixed players may tie within rounding."""
        size = abs(attributions)[ranking] / self.scale
        apart = size[:-1] - size[1:] >= np.where(self._both_fixed(ranking), -_SLACK, self._delta)
        above_others = not self._others or self.fixed[ranking[-1]] or size[-1] >= self._delta
        return bool(np.all(apart) and above_others)

    def _nearest(self, ranking: NDArray[np.int64], signs: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The quadratic program, players in ranked order and their signs taken out."""
        n_players = len(ranking)
        lower = np.where(signs > 0, self._lower[ranking], -self._upper[ranking])
        upper = np.where(signs > 0, self._upper[ranking], -self._lower[ranking])
        lower = np.minimum(np.maximum(lower, 0.0), upper)
        if self._others and not self.fixed[ranking[-1]]:
            lower[-1] = min(max(lower[-1], _MORE * self._delta), upper[-1])
        # Intervals that differ by rounding only must not exclude each other.
        gaps = self._gaps(ranking)
        order_rows = np.eye(n_players)[:-1] - np.eye(n_players, k=1)[:-1]
        matrix = np.concatenate([order_rows, self._cuts[:, ranking] * signs, signs[None, :]])
        above = np.concatenate([upper + _SLACK, np.full(len(gaps), _FREE), self._limits, [self._total]])
        below = np.concatenate([lower - _SLACK, gaps, np.full(len(self._limits), -_FREE), [self._total]])
        sense = np.zeros(len(above), dtype=np.int32)
        sense[-1] = _EQUALITY
        solution, _, flag, _ = daqp.solve(
            np.eye(n_players),
            -self._center[ranking] * signs,
            matrix,
            above,
            below,
            sense,
            primal_tol=_PRIMAL_TOLERANCE,
        )
        if flag != _SOLVED:
            return None
        result = np.empty(n_players)
        result[ranking] = solution * signs
        return result

    def _gaps(self, ranking: NDArray[np.int64]) -> NDArray[np.float64]:
        """How far apart neighbors are asked to be, a little more than they must: two fixed players may tie."""
        return np.where(self._both_fixed(ranking), -_SLACK, _MORE * self._delta)

    def _both_fixed(self, ranking: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Neighbors that are both fixed, shape (k - 1,)."""
        return np.asarray(self.fixed[ranking[:-1]] & self.fixed[ranking[1:]])
