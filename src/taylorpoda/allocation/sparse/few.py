"""Rows in which few players matter: solved on their table by the dense room, with its proof."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.allocation.admissible import AdmissibleSet
from taylorpoda.allocation.lattice import cost_to_go
from taylorpoda.allocation.solving import Batch
from taylorpoda.allocation.sparse.potentials import Potentials
from taylorpoda.allocation.sparse.share_view import view_of_game
from taylorpoda.dividends.dense import values_from

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.solving import Solved
    from taylorpoda.allocation.sparse.objective import Objective
    from taylorpoda.allocation.sparse.reduced import Reduced
    from taylorpoda.allocation.sparse.share_view import SparseShareView
    from taylorpoda.dividends.sparse import SparseDividends

FEW = 20
_QUICK = 16  # players of a table on which the dense room may take all the prefixes it likes
_PREFIXES = 200  # for larger ones, where no limit is given: each asks the whole table


def table_of(game: Reduced) -> NDArray[np.float64]:
    """The values of all coalitions of the players that matter, shape (2**k,)."""
    table = np.zeros(1 << game.n_players)
    np.add.at(table, game.dividends.coalitions.indices(), game.values)
    table[0] += game.base
    return np.asarray(values_from(table))


def pointwise_costs(objective: Objective) -> NDArray[np.float64]:
    """What the coalitions of the largest players cost, shape (2**k,)."""
    values = np.array([table_of(game) for game in objective.games])
    return objective.cost(values[:, ::-1] if objective.exclusion else values)


def least_repeated(costs: NDArray[np.float64], repeats: int) -> float:
    """The least cost of a chain of coalitions from one player to all, some of whose coalitions are met repeatedly.

    A player that changes no value adds the cost of the coalition before it once more, the empty one included; it is
    best to have all of them at the same place.

    Args:
        costs: Shape (2**k,).
        repeats: How many times in all.
    """
    upward = costs.copy()
    upward[0] = 0.0
    reached = cost_to_go(upward[None, ::-1])[0, ::-1].copy()
    reached[-1] += costs[-1] if len(costs) > 1 else 0.0  # the lattice leaves the end out at which it begins
    ahead = cost_to_go(costs[None, :])[0] - costs
    ahead[0] += costs[0]
    return float(np.min(reached + ahead + repeats * costs))


def solve_table(game: Reduced, costs: NDArray[np.float64], options: Options, *, others: bool) -> Solved:
    """The dense room's search; attributions of the players of the game, shape (1, k).

    Args:
        game: The players that matter.
        costs: Shape (2**k,).
        options: Margin and limits.
        others: Whether there are players that do not matter: one null player then stands for them, so that all who
            matter are ranked above it. All coalitions with it but the last are none of a ranking; that one costs 0.
    """
    values = table_of(game)
    values[-1] = game.full
    shapley = game.shapley
    if others:
        values, shapley = np.concatenate([values, values]), np.append(shapley, 0.0)
        costs = np.concatenate([costs, costs])
        costs[-1] = 0.0
    if game.n_players > _QUICK and options.node_limit is None:
        options = replace(options, node_limit=_PREFIXES)
    batch = Batch(values[None, :], costs[None, :], shapley[None, :], options)
    solved = batch.solve(np.dtype(np.float64))
    return replace(solved, attributions=solved.attributions[:, : game.n_players])


def table_shares(dividends: SparseDividends, game: Reduced, attributions: NDArray[np.float64]) -> SparseShareView:
    """Shares of all interactions of a row that give attributions of the players that matter.

    They come from the vertices whose convex combination the attributions are: every vertex is a choice of shares.
    """
    corral = AdmissibleSet(table_of(game)).corral(attributions)
    potentials = Potentials(game)
    shares = np.zeros(potentials.entries)
    for order, weight in zip(corral.orders, corral.weights, strict=True):
        shares += weight * potentials.vertex_shares(order)
    return view_of_game(dividends, game, np.minimum(shares, 1.0))  # weights sum to one within rounding
