"""policy="optimal": the best admissible attribution for a utility that adds up along the ranking, with its proof."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import to_numpy
from taylorpoda.allocation.admissible import AdmissibleSet
from taylorpoda.allocation.boundary import Polytopes
from taylorpoda.allocation.lattice import cheapest_order, cost_to_go, forbid
from taylorpoda.allocation.nearness import nearest_of_level
from taylorpoda.allocation.options import NODE_LIMIT
from taylorpoda.allocation.precedence import fixed_players, precedence
from taylorpoda.allocation.probe import Probe
from taylorpoda.allocation.result import Allocation, kind_of
from taylorpoda.allocation.search import Lattice, LimitReachedError, Search, allowed_signs
from taylorpoda.utilities import Context, score_in, stage_table
from taylorpoda.utilities.builtin import PointwiseStage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.game import Games
    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.result import ShareView
    from taylorpoda.utilities import Utility

_CHUNK = 1 << 18  # table entries handled side by side: two megabytes, about a cache
_EQUAL_COSTS = 1e-10  # relative to the largest cost of a coalition
_NEARNESS_NODES = 3  # times n: how many prefixes nearness may try where no limit is given


@dataclass(frozen=True, eq=False)
class Solved:
    """What the search gave, rows counted over all leading axes; costs are scores, negated where higher is better.

    Attributes:
        attributions: Shape (rows, n).
        bound: Shape (rows,).
        certified: Shape (rows,).
        nearest_certified: Shape (rows,).
        is_shapley: Shape (rows,): where the Shapley values themselves are the answer.
        tolerance: Shape (rows,): costs closer than this are equal.
    """

    attributions: NDArray[np.float64]
    bound: NDArray[np.float64]
    certified: NDArray[np.bool_]
    nearest_certified: NDArray[np.bool_]
    is_shapley: NDArray[np.bool_]
    tolerance: NDArray[np.float64]


class Costs:
    """The costs c(S) of the rows, made chunk by chunk where the utility allows it.

    A user's own stage is called once, with the whole context: it may hold something per row.
    """

    def __init__(self, context: Context, utility: Utility) -> None:
        lead = tuple(context.values.shape[:-1])
        rows, length = prod(lead), context.values.shape[-1]
        self._sign = -1.0 if utility.higher_is_better else 1.0
        self._utility = utility
        self._whole: NDArray[np.float64] | None = None
        if not isinstance(utility.stage, PointwiseStage):
            self._whole = self._sign * to_numpy(stage_table(context, utility)).reshape(rows, length)
        target = None if context.target is None else to_numpy(context.target).reshape(rows)
        labels = None if context.labels is None else to_numpy(context.labels).reshape(rows, length)
        self._parts = (to_numpy(context.values).reshape(rows, length).astype(np.float64, copy=False), target, labels)
        self._threshold = context.threshold

    def of(self, rows: slice) -> NDArray[np.float64]:
        """The costs of some rows, shape (rows, 2**n)."""
        if self._whole is not None:
            return self._whole[rows]
        values, target, labels = self._parts
        context = Context(
            values[rows],
            None if target is None else target[rows],
            self._threshold,
            None if labels is None else labels[rows],
        )
        return self._sign * np.asarray(stage_table(context, self._utility))


def chunks(rows: int, length: int) -> list[slice]:
    """The rows in pieces whose tables fit a cache."""
    step = max(1, _CHUNK // length)
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def allocate_optimal(games: Games, utility: Utility, options: Options) -> Allocation:
    """The best admissible attribution of every row."""
    solved = solve(games, utility, options)
    attributions = kind_of(games.values, solved.attributions.reshape(*games.lead, games.n_players))
    proof = OptimalProof(games, utility, attributions, solved)
    return Allocation(attributions, games.context.base_value, "optimal", utility.name, proof)


def solve(games: Games, utility: Utility, options: Options) -> Solved:
    """Search every row."""
    rows, n_players = prod(games.lead), games.n_players
    values = to_numpy(games.values).reshape(rows, 1 << n_players)
    shapley = to_numpy(games.shapley).reshape(rows, n_players).astype(np.float64, copy=False)
    costs = Costs(games.context, utility)
    solved = Solved(
        shapley.copy(),
        np.zeros(rows),
        np.ones(rows, dtype=np.bool_),
        np.ones(rows, dtype=np.bool_),
        np.ones(rows, dtype=np.bool_),
        np.zeros(rows),
    )
    if n_players:
        for piece in chunks(rows, 1 << n_players):
            _solve_chunk(solved, piece, values[piece].astype(np.float64), costs.of(piece), values.dtype, options)
    return solved


def _solve_chunk(
    solved: Solved,
    piece: slice,
    values: NDArray[np.float64],
    costs: NDArray[np.float64],
    precision: np.dtype[Any],
    options: Options,
) -> None:
    polytopes = Polytopes.of(values)
    margin = options.margin * polytopes.scale
    fixed = fixed_players(polytopes, margin)
    tolerance = _EQUAL_COSTS * np.max(abs(costs), axis=1)
    solved.tolerance[piece] = tolerance
    restricted = forbid(costs, precedence(polytopes, margin, fixed))
    to_go = cost_to_go(restricted)
    first = cheapest_order(to_go, tolerance, abs(polytopes.shapley)).tolist()
    shapley = solved.attributions[piece]
    shapley_cost = realized_cost(shapley, costs)
    for row, order in enumerate(first):
        place = piece.start + row
        if shapley_cost[row] <= to_go[row, 0] + tolerance[row]:
            solved.bound[place] = shapley_cost[row]
            continue
        probe = Probe(
            polytopes.shapley[row],
            polytopes.lower[row],
            polytopes.upper[row],
            polytopes.boundary[row],
            float(margin[row]),
            float(polytopes.tolerance[row]),
            fixed[row],
            polytopes.rigid[row],
        )
        lattice = Lattice(restricted[row], to_go[row], float(tolerance[row]), allowed_signs(probe))
        search = Search(
            probe,
            lattice,
            float(shapley_cost[row]),
            NODE_LIMIT if options.node_limit is None else options.node_limit,
            None if options.time_limit is None else time.monotonic() + options.time_limit,
        )
        vectors, nearest = _search_row(search, order, options)
        if not len(vectors):
            solved.bound[place] = min(search.bound, float(shapley_cost[row]))
            solved.certified[place] = solved.nearest_certified[place] = (
                search.bound >= shapley_cost[row] - tolerance[row]
            )
            continue
        finished = _finished(vectors, polytopes, row, values[row]).astype(precision).astype(np.float64)
        cost = realized_cost(finished, np.broadcast_to(costs[row], (len(finished), costs.shape[1])))
        best = int(np.argmin(cost))
        if cost[best] < shapley_cost[row] - tolerance[row]:
            solved.attributions[place] = finished[best]
            solved.is_shapley[place] = False
        attained = min(float(cost[best]), float(shapley_cost[row]))
        solved.certified[place] = search.bound >= attained - tolerance[row]
        solved.nearest_certified[place] = nearest and solved.certified[place] and not solved.is_shapley[place]
        solved.bound[place] = attained if solved.certified[place] else min(search.bound, attained)


def _search_row(search: Search, first: list[int], options: Options) -> tuple[NDArray[np.float64], bool]:
    """The vectors that may be the answer, in units of the game, and whether the only one is the nearest."""
    n_players = len(first)
    try:
        found = search.run(first)
    except LimitReachedError:
        return np.reshape(search.seen, (-1, n_players)), False
    if found is None:
        return np.empty((0, n_players)), False
    limit = search.nodes + _NEARNESS_NODES * n_players if options.node_limit is None else options.node_limit
    nearest, proven = nearest_of_level(search, found, limit)
    return nearest[None, :], proven


def realized_cost(attributions: NDArray[np.float64], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cost of the ranking that attributions have by the public rule: (m, n), (m, 2**n) -> (m,)."""
    order = np.argsort(-abs(attributions), axis=1, kind="stable")
    prefixes = np.cumsum(np.left_shift(1, order), axis=1)
    return np.sum(np.take_along_axis(costs, prefixes, axis=1), axis=1)


def _finished(
    vectors: NDArray[np.float64], polytopes: Polytopes, row: int, values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Back to the units of the values: inside the intervals, and with a sum that is exact to the last digits."""
    lower, upper = polytopes.lower[row], polytopes.upper[row]
    rigid = polytopes.rigid[row]
    result = np.where(rigid, polytopes.shapley[row], np.clip(vectors, lower, upper)) * polytopes.unit[row]
    width = np.where(rigid, 0.0, upper - lower)
    weight = width / (np.sum(width) or 1.0)
    for _ in range(2):
        result += (values[-1] - values[0] - np.sum(result, axis=1))[:, None] * weight
    return result


@dataclass(frozen=True, eq=False)
class OptimalProof:
    """What stands behind an optimal allocation.

    Attributes:
        games: The games.
        utility: What was optimized.
        attributions: The answer, of the kind of the table.
        solved: What the search proved.
    """

    games: Games
    utility: Utility
    attributions: Any
    solved: Solved

    def score(self) -> Any:
        """By the public rule, from the attributions as returned."""
        return score_in(self.games.context, self.utility, self.attributions)

    def shapley_score(self) -> Any:
        """By the public rule."""
        return score_in(self.games.context, self.utility, self.games.shapley)

    def bound(self) -> Any:
        """The score where certified, else the level that the search had reached."""
        score = to_numpy(self.score()).reshape(-1)
        bound = 0.0 - self.solved.bound if self.utility.higher_is_better else self.solved.bound
        return self._shaped(np.where(self.solved.certified, score, bound))

    def ceiling(self) -> Any:
        """By the lattice alone: the best ranking whether anybody attains it or not."""
        return self._shaped(ceiling(self.games, self.utility))

    def certified(self) -> Any:
        """Shape (...)."""
        return self._shaped(self.solved.certified)

    def nearest_certified(self) -> Any:
        """Shape (...)."""
        return self._shaped(self.solved.nearest_certified)

    def intervals(self) -> tuple[Any, Any]:
        """In closed form."""
        return self.games.intervals

    def shares(self, row: int) -> ShareView:
        """From vertices whose convex combination the attributions are."""
        values = self._rows[row]
        return AdmissibleSet(values).shares(to_numpy(self.attributions).reshape(-1, self.games.n_players)[row])

    @cached_property
    def _rows(self) -> NDArray[np.float64]:
        return to_numpy(self.games.values).reshape(-1, 1 << self.games.n_players)

    def _shaped(self, flat: NDArray[Any]) -> Any:
        return kind_of(self.games.values, flat.reshape(self.games.lead))


def ceiling(games: Games, utility: Utility) -> NDArray[np.float64]:
    """The best score any ranking could have, rows counted over all leading axes."""
    rows = prod(games.lead)
    costs = Costs(games.context, utility)
    result = np.zeros(rows)
    for piece in chunks(rows, 1 << games.n_players):
        result[piece] = cost_to_go(costs.of(piece))[:, 0]
    return 0.0 - result if utility.higher_is_better else result
