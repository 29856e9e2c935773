"""Rows in which many players matter: the best ranking found by descent, attained if it can be."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.allocation.sparse.descent import Budget, Descent
from taylorpoda.allocation.sparse.precedence import respecting
from taylorpoda.allocation.sparse.repair import Repair

if TYPE_CHECKING:
    from taylorpoda.allocation.sparse.objective import Objective
    from taylorpoda.allocation.sparse.potentials import Reached
    from taylorpoda.allocation.sparse.problem import RowProblem

_WORK = 10_000_000  # entries that all passes may touch where no limit is given
_OVERHEAD = 12_000  # entries that could be touched in the time a pass takes besides
_LEAST_PASSES = 20
_TRIED = 3  # of the best rankings found, before they are repaired


def search(problem: RowProblem) -> Reached | None:
    """The best attainable attribution found of the players that matter, or None if there is none but Shapley's."""
    options, objective, game = problem.options, problem.objective, problem.game
    assert objective is not None  # noqa: S101 - a wide row has one
    deadline = None if options.time_limit is None else time.monotonic() + options.time_limit
    usual = _usual(objective)
    unlimited = options.node_limit is None and deadline is None
    budget = Budget(usual if unlimited else options.node_limit, deadline)
    if budget.over:
        return None
    attainment, order = problem.attainment, problem.precedence
    if order is None:
        return None
    if problem.only_ranking is not None:
        return attainment.attain(problem.only_ranking)
    known = order if order.any() else None
    before = order.T if known is not None and objective.exclusion else known
    ranking = np.argsort(-abs(game.shapley), kind="stable")
    start = objective.joining(ranking if not order.any() else respecting(ranking, order))
    found = Descent(objective, before, budget, usual).run(start)
    for best in found[:_TRIED]:
        reached = attainment.attain(attainment.spaced(objective.joining(best.players), known))
        if reached is not None:
            return reached
    return Repair(objective, attainment, before).run(start, found[0].players)


def _usual(objective: Objective) -> int:
    """Passes where no limit is given."""
    entries = sum(len(game.members) + game.n_players**2 for game in objective.games)
    return max(_LEAST_PASSES, _WORK // (entries + _OVERHEAD))
