"""A utility that is any function of the attributions: searched, never proven.

Shapley, the paper's random tables, then steps from the best attribution of every row toward random vertices of its
admissible set. All rows step together, one call of the utility per step; a row's steps are drawn from a stream keyed by
the content of its table.
"""

from __future__ import annotations

import time
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.arrays import to_numpy
from taylorpoda._support.seeds import stream
from taylorpoda.allocation.boundary import boundary
from taylorpoda.allocation.dirichlet import dirichlet_candidates, row_keys
from taylorpoda.allocation.result import kind_of
from taylorpoda.dividends.dense import harsanyi
from taylorpoda.utilities import score_candidates, score_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.game import Games
    from taylorpoda.allocation.options import Options
    from taylorpoda.utilities import Utility

_STEPS = 400
_BLOCK = 50
_STREAM = 1  # the steps' own branch of a row's stream


def searched(games: Games, utility: Utility, options: Options) -> NDArray[np.float64]:
    """The best attributions met, shape (rows, n), rows counted over all leading axes."""
    rows, n_players = prod(games.lead), games.n_players
    sign = -1.0 if utility.higher_is_better else 1.0
    candidates = dirichlet_candidates(games, options.candidates, options.alpha, options.seed)
    costs = sign * to_numpy(score_candidates(games.context, utility, candidates)).reshape(rows, options.candidates)
    every = np.arange(rows)
    chosen = np.argmin(costs, axis=1)
    best = to_numpy(candidates).reshape(rows, options.candidates, n_players).astype(np.float64)[every, chosen]
    cost = costs[every, chosen]
    values = to_numpy(games.values).reshape(rows, 1 << n_players).astype(np.float64)
    g = boundary(values, harsanyi(values))
    streams = [stream(options.seed, n_players, _STREAM, *key) for key in row_keys(games)]
    steps = _STEPS if options.node_limit is None else options.node_limit
    deadline = None if options.time_limit is None else time.monotonic() + options.time_limit * max(rows, 1)
    for start in range(0, steps if rows and n_players > 1 else 0, _BLOCK):
        drawn = np.array([generator.random((_BLOCK, n_players + 1)) for generator in streams])
        for step in range(min(_BLOCK, steps - start)):
            if deadline is not None and time.monotonic() > deadline:
                return best
            toward = _vertices(g, np.argsort(drawn[:, step, 1:], axis=1))
            moved = best + drawn[:, step, :1] ** 2 * (toward - best)
            offered = kind_of(games.values, moved.reshape(*games.lead, n_players))
            new = sign * to_numpy(score_in(games.context, utility, offered)).reshape(rows)
            better = new < cost
            best[better], cost[better] = moved[better], new[better]
    return best


def _vertices(g: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    """The greedy vertex of one order per row."""
    reached = np.take_along_axis(g, np.cumsum(np.left_shift(1, order), axis=1), axis=1)
    result = np.empty_like(reached)
    np.put_along_axis(result, order, np.diff(reached, axis=1, prepend=0.0), axis=1)
    return result
