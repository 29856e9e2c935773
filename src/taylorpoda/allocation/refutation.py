"""A question is answered "no" only with a proof: weights of its rows whose one inequality no vector can satisfy.

Where the rows hold, their weighted sum is at most `most`; over the box of the intervals it is at least `least`. If
least > most, nobody is in the box and satisfies all rows, whatever the solver did to find the weights. They come from
the same program with every row softened: where the rows contradict each other, the multipliers of the least violation
contradict themselves, but for what the objective still pulls. Centered where it ended, the program is solved again and
pulls less.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import daqp
import numpy as np
from scipy.optimize import linprog

if TYPE_CHECKING:
    from numpy.typing import NDArray

FREE = 1e30  # a limit that is none
EQUALITY = 5  # the solver's code for a row that holds with equality
_SOFT = 8  # ... and for one that may be violated at a price
_SOFTNESS = (1e-9, 1e-9, 1e-11)  # a violation is priced by its square over this
_ROUNDING = 4e-16  # per term: more than the relative error of a sum of products
_EXACT = 1e-10


def refuted(
    objective: NDArray[np.float64],
    linear: NDArray[np.float64],
    matrix: NDArray[np.float64],
    above: NDArray[np.float64],
    below: NDArray[np.float64],
    blur: float = 0.0,
) -> bool:
    """Whether it is proven that no vector satisfies all rows.

    Args:
        objective: Shape (n, n), diagonal and positive.
        linear: Shape (n,).
        matrix: Shape (m, n): the rows, the last one an equality.
        above: Shape (n + m,): what the vector and the rows may be at most; finite for the vector.
        below: The same: at least.
        blur: How far the limits may be from what they stand for.
    """
    n_columns = matrix.shape[1]
    sense = _soft_rows(n_columns, len(matrix))
    for softness in _SOFTNESS:
        point, _, flag, info = daqp.solve(
            objective, linear, matrix, above, below, sense, primal_tol=1e-11, rho_soft=softness
        )
        if flag > 0 and contradict(info["lam"][n_columns:], matrix, above, below, blur):
            return True
        if not np.all(np.isfinite(point)):
            break
        linear = -np.diagonal(objective) * point
    return contradict(_by_linear_program(matrix, above, below), matrix, above, below, blur)


def contradict(
    weights: NDArray[np.float64],
    matrix: NDArray[np.float64],
    above: NDArray[np.float64],
    below: NDArray[np.float64],
    blur: float = 0.0,
) -> bool:
    """Whether rows weighted so are worth more everywhere in the box than they may be: no vector satisfies them all."""
    n_columns = matrix.shape[1]
    limits = np.where(weights > 0, above[n_columns:], below[n_columns:])
    weights = weights * (abs(limits) < FREE)  # a row without a limit on one side says nothing there
    combined = weights @ matrix
    most = float(weights @ limits)
    low, high = combined * below[:n_columns], combined * above[:n_columns]
    least = float(np.minimum(low, high).sum())
    # What the products that were added up come to at most, signs left out.
    spread = float(np.maximum(abs(above[:n_columns]), abs(below[:n_columns])).sum())
    size = float(abs(weights) @ abs(limits)) + float(abs(weights).sum()) * float(abs(matrix).max()) * spread
    moved = blur * (float(abs(weights).sum()) + float(abs(combined).sum()))
    return least - most > _ROUNDING * (n_columns + len(matrix)) * size + moved


def _by_linear_program(
    matrix: NDArray[np.float64], above: NDArray[np.float64], below: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The multipliers of the least sum of violations; zeros where there is no answer."""
    n_rows, n_columns = matrix.shape
    row_above, row_below = above[n_columns:], below[n_columns:]
    has_above, has_below = np.flatnonzero(row_above < FREE), np.flatnonzero(row_below > -FREE)
    rows = np.concatenate([matrix[has_above], -matrix[has_below]])
    result = linprog(
        np.append(np.zeros(n_columns), np.ones(len(rows))),
        A_ub=np.concatenate([rows, -np.eye(len(rows))], axis=1),
        b_ub=np.concatenate([row_above[has_above], -row_below[has_below]]),
        bounds=[*zip(below[:n_columns], above[:n_columns], strict=True), *((0.0, None),) * len(rows)],
        method="highs",
        options={"primal_feasibility_tolerance": _EXACT, "dual_feasibility_tolerance": _EXACT},
    )
    weights = np.zeros(n_rows)
    if result.status == 0:
        given = -result.ineqlin.marginals
        np.add.at(weights, has_above, given[: len(has_above)])
        np.subtract.at(weights, has_below, given[len(has_above) :])
    return weights


@lru_cache(maxsize=512)
def _soft_rows(n_columns: int, n_rows: int) -> NDArray[np.int32]:
    sense = np.zeros(n_columns + n_rows, dtype=np.int32)
    sense[n_columns:] = _SOFT
    sense[-1] = EQUALITY
    return sense
