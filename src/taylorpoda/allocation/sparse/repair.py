"""When the best rankings found are not attainable: from one that is, toward them, one step at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.allocation.sparse.moves import best_moves, move_gains, moved
from taylorpoda.allocation.sparse.precedence import respecting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.attain import Attainment
    from taylorpoda.allocation.sparse.objective import Objective
    from taylorpoda.allocation.sparse.potentials import Reached

_HALVINGS = 5
_ROUNDS = 6
_QUESTIONS = 60  # of a round


class Repair:
    """Steps from attainable rankings; everything here is an order of joining.

    Args:
        objective: What orders cost.
        attainment: Which rankings are attainable.
        before: Who must join before whom, or None.
    """

    def __init__(self, objective: Objective, attainment: Attainment, before: NDArray[np.bool_] | None) -> None:
        self._objective = objective
        self._attainment = attainment
        self._before = before

    def run(self, start: NDArray[np.int64], goal: NDArray[np.int64]) -> Reached | None:
        """The best attainable attribution met between a start and a goal; None if there is none but the start."""
        best = None
        for _ in range(_ROUNDS):
            order = self._climbed(self._toward(start, goal))
            reached = self._attained(order)
            if reached is not None:
                return reached
        return best

    def _attained(self, order: NDArray[np.int64]) -> Reached | None:
        return self._attainment.attain(self._objective.joining(order))

    def _plausible(self, order: NDArray[np.int64]) -> bool:
        return self._attainment.plausible(self._objective.joining(order))

    def _toward(self, start: NDArray[np.int64], goal: NDArray[np.int64]) -> NDArray[np.int64]:
        """The plausible order nearest to the goal on the way of the players' places, by bisection."""
        here, there = np.argsort(start), np.argsort(goal)
        near, far, best = 0.0, 1.0, start
        for _ in range(_HALVINGS):
            part = (near + far) / 2.0
            order = np.argsort((1.0 - part) * here + part * there, kind="stable")
            if self._before is not None:
                order = respecting(order, self._before)
            if self._plausible(order):
                near, best = part, order
            else:
                far = part
        return best

    def _climbed(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Moves of one player at a time, as many at once as stay plausible."""
        forbidden = np.zeros((len(order), len(order)), dtype=np.bool_)  # [place, player]
        last = self._attainment.asked + _QUESTIONS
        while self._attainment.asked < last:
            cost, change = move_gains(self._objective, order, self._before)
            change[forbidden[:, order]] = np.inf
            moves, gain = best_moves(change)
            if not moves or gain >= -1e-12 * abs(cost):
                break
            moves.sort(key=lambda move: float(change[move[1], move[0]]))
            while moves:
                tried = moved(order, moves)
                if self._plausible(tried):
                    order = tried
                    break
                if len(moves) == 1:
                    forbidden[moves[0][1], order[moves[0][0]]] = True
                moves = moves[: len(moves) // 2]
        return order
