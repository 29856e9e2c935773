"""policy="optimal" for a user's own function of the attributions: proven where it is convex, else searched."""

from __future__ import annotations

import time
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import to_numpy
from taylorpoda.allocation.convex import ConvexSearch, number
from taylorpoda.allocation.game import flat_row
from taylorpoda.allocation.result import kind_of
from taylorpoda.allocation.searched import searched
from taylorpoda.allocation.solving import Solved
from taylorpoda.utilities import Context, score_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.game import Games
    from taylorpoda.allocation.options import Options
    from taylorpoda.utilities import Utility


def solve_custom(games: Games, utility: Utility, options: Options) -> Solved:
    """Every row, by what the utility says about itself."""
    rows = prod(games.lead)
    no = np.zeros(rows, dtype=np.bool_)
    if not utility.convex:
        unknown = np.full(rows, -np.inf)
        return Solved(games.closed_rows(searched(games, utility, options)), unknown, no, no.copy(), np.zeros(rows))
    shapley = to_numpy(games.shapley).reshape(rows, games.n_players).astype(np.float64)
    solved = Solved(shapley.copy(), np.zeros(rows), no, no.copy(), np.zeros(rows))
    for row in range(rows):
        search = _convex_row(games, utility, options, row, shapley[row])
        solved.attributions[row] = search.best
        solved.bound[row] = search.value if search.proven else search.bound
        solved.certified[row] = search.proven
    solved.attributions[:] = games.closed_rows(solved.attributions)
    worse = _cost(games, utility, solved.attributions) > _cost(games, utility, shapley)  # by rounding
    solved.attributions[worse] = shapley[worse]
    return solved


def _cost(games: Games, utility: Utility, attributions: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score of one attribution per row, negated where higher is better."""
    shaped = kind_of(games.values, attributions.reshape(*games.lead, games.n_players))
    score: NDArray[np.float64] = to_numpy(score_in(games.context, utility, shaped)).reshape(-1)
    return -score if utility.higher_is_better else score


def _convex_row(games: Games, utility: Utility, options: Options, row: int, start: NDArray[np.float64]) -> ConvexSearch:
    assert utility.evaluate is not None  # noqa: S101 - a convex utility has both
    assert utility.gradient is not None  # noqa: S101 - a convex utility has both
    sign = -1.0 if utility.higher_is_better else 1.0
    whole = games.context
    context = Context(
        flat_row(to_numpy(whole.values), row).astype(np.float64),
        None if whole.target is None else flat_row(to_numpy(whole.target), row, axes=0),
        whole.threshold,
        None if whole.labels is None else flat_row(to_numpy(whole.labels), row),
    )
    evaluate, gradient = utility.evaluate, utility.gradient

    def cost(attributions: NDArray[np.float64]) -> float:
        return sign * number(evaluate(attributions, context))

    def slope(attributions: NDArray[np.float64]) -> NDArray[np.float64]:
        result: Any = np.asarray(to_numpy(gradient(attributions, context)), dtype=np.float64)
        if result.shape != attributions.shape:
            msg = f"gradient of utility {utility.name!r} returned shape {result.shape}; expected {attributions.shape}."
            raise ValueError(msg)
        return np.asarray(sign * result)

    deadline = None if options.time_limit is None else time.monotonic() + options.time_limit
    search = ConvexSearch(context.values, start, cost, slope, options.node_limit, deadline)
    search.run()
    return search
