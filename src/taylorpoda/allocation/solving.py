"""Solve a batch of games for a utility that adds up along the ranking.

What rows share is done for all of them at once: transforms, precedence, the lattice, the first ranking to try, the
bounds of sign patterns. What is left per row is usually one quadratic program, which attains the lattice's bound.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.allocation.boundary import Polytopes
from taylorpoda.allocation.lattice import cheapest_order, cost_to_go, forbid
from taylorpoda.allocation.nearness import nearest_of_level
from taylorpoda.allocation.precedence import fixed_players, precedence
from taylorpoda.allocation.probe import Probe, UndecidedError
from taylorpoda.allocation.search import Lattice, LimitReachedError, Search, allowed_signs
from taylorpoda.allocation.signs import open_flips, pattern_bounds, subsets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.options import Options

EQUAL_COSTS = 1e-12  # relative to the largest cost of a coalition: what rounding may make of equal sums
NODE_LIMIT = 20_000  # prefixes tried for the utility where no limit is given
# Prefixes tried for nearness where no limit is given, by players: it must not take longer than the utility does.
_NEARNESS_NODES = ((5, 32), (7, 8), (9, 4), (13, 16), (18, 30), (1 << 30, 40))
_MOST_FLIPS = 5  # more open flips than this are left to the search
_NEARER = 1e-9  # relative: squared distances closer than this are equal


@dataclass(frozen=True, eq=False)
class Solved:
    """What is known about rows; costs are scores, negated where higher is better.

    Attributes:
        attributions: Shape (rows, n).
        bound: Shape (rows,): no admissible attribution costs less.
        certified: Shape (rows,): whether the attributions reach the bound.
        nearest_certified: Shape (rows,): whether none of the same cost is nearer to the Shapley values.
        tolerance: Shape (rows,): costs closer than this are equal.
    """

    attributions: NDArray[np.float64]
    bound: NDArray[np.float64]
    certified: NDArray[np.bool_]
    nearest_certified: NDArray[np.bool_]
    tolerance: NDArray[np.float64]


@dataclass(eq=False)
class _Row:
    """A row on its way.

    Attributes:
        vectors: What may be the answer, shape (m, n), in units of the game.
        level: No admissible ranking costs less.
        proven: Whether `vectors` holds one vector of this cost, or the Shapley values are as good as anything.
        nearest: Whether the vector is proven nearest.
        nodes: How many prefixes were tried.
        spent: Seconds.
        search: The search, once there was one.
    """

    vectors: NDArray[np.float64]
    level: float
    proven: bool
    nearest: bool = False
    nodes: int = 1
    spent: float = 0.0
    search: Search | None = field(default=None, repr=False)


class Batch:
    """Rows that are solved side by side.

    Args:
        values: Shape (rows, 2**n).
        costs: Shape (rows, 2**n): c.
        shapley: Shape (rows, n): the Shapley values in units of the values, always a candidate.
        options: Margin and limits.
    """

    def __init__(
        self,
        values: NDArray[np.float64],
        costs: NDArray[np.float64],
        shapley: NDArray[np.float64],
        options: Options,
    ) -> None:
        self._values = values
        self._costs = costs
        self._shapley = shapley
        self._options = options
        self._polytopes = polytopes = Polytopes.of(values)
        self._margin = options.margin * polytopes.scale
        self._fixed = fixed_players(polytopes, self._margin)
        self._tolerance = EQUAL_COSTS * np.max(abs(costs), axis=1)
        self._restricted = forbid(costs, precedence(polytopes, self._margin, self._fixed))
        self._to_go = cost_to_go(self._restricted)
        self._order, self._unique = cheapest_order(self._to_go, self._tolerance, abs(polytopes.shapley))
        self._signs, self._flippable = allowed_signs(polytopes.lower, polytopes.upper, polytopes.shapley)
        self._shapley_cost = realized_cost(shapley, costs)
        self._probes: dict[int, Probe] = {}

    def solve(self, precision: np.dtype[Any]) -> Solved:
        """Solve every row; attributions are rounded to the precision in which they will be returned."""
        solved = Solved(
            self._shapley.copy(),
            np.minimum(self._shapley_cost, self._to_go[:, 0]),
            np.ones(len(self._values), dtype=np.bool_),
            np.ones(len(self._values), dtype=np.bool_),
            self._tolerance,
        )
        searched = np.flatnonzero(self._shapley_cost > self._to_go[:, 0] + self._tolerance)
        rows = {int(row): self._first(int(row)) for row in searched}
        self._settle_signs(rows)
        for row, state in rows.items():
            self._settle_nearness(row, state)
        self._finish(rows, solved, precision)
        return solved

    def _probe(self, row: int) -> Probe:
        if row not in self._probes:
            polytopes = self._polytopes
            self._probes[row] = Probe(
                polytopes.shapley[row],
                polytopes.lower[row],
                polytopes.upper[row],
                polytopes.boundary[row],
                float(self._margin[row]),
                float(polytopes.tolerance[row]),
                float(polytopes.rounding[row]),
                self._fixed[row],
                polytopes.rigid[row],
            )
        return self._probes[row]

    def _first(self, row: int) -> _Row:
        """One ranking of least cost with the signs of the Shapley values; if it is not attainable, the search."""
        started = time.monotonic()
        limit = self._options.node_limit
        if limit is None or limit > 0:
            order = self._order[row]
            try:
                found = self._probe(row).nearest(order.tolist(), self._signs[row, order].tolist())
            except UndecidedError:
                found = None
            if found is not None:
                return _Row(found[None, :], float(self._to_go[row, 0]), proven=True, spent=time.monotonic() - started)
        search = self._search(row, NODE_LIMIT if limit is None else limit, 0.0)
        self._unique[row] = False
        try:
            found = search.run(self._order[row].tolist())
        except LimitReachedError:
            seen = np.reshape(search.seen, (-1, self._order.shape[1]))
            state = _Row(seen, search.bound, proven=False)
        else:
            nothing = found is None
            state = _Row(
                np.empty((0, self._order.shape[1])) if found is None else found[None, :],
                search.bound,
                proven=True,
                nearest=nothing,
            )
        state.nodes, state.spent, state.search = search.nodes, time.monotonic() - started, search
        return state

    def _search(self, row: int, node_limit: float, spent: float) -> Search:
        limit = self._options.time_limit
        flippable, signs = self._flippable[row].tolist(), self._signs[row].tolist()
        lattice = Lattice(
            self._restricted[row],
            self._to_go[row],
            float(self._tolerance[row]),
            [(sign, -sign) if both else (sign,) for sign, both in zip(signs, flippable, strict=True)],
        )
        return Search(
            self._probe(row),
            lattice,
            float(self._shapley_cost[row]),
            node_limit,
            None if limit is None else time.monotonic() + limit - spent,
        )

    def _nearness_limit(self, nodes: int) -> int:
        if self._options.node_limit is not None:
            return self._options.node_limit
        n_players = self._order.shape[1]
        return nodes + next(more for most, more in _NEARNESS_NODES if n_players <= most)

    def _settle_signs(self, rows: dict[int, _Row]) -> None:
        """Nearness where the ranking is the only one of least cost, so that only its signs are open."""
        chosen = [row for row, state in rows.items() if self._unique[row] and len(state.vectors) == 1]
        if not chosen:
            return
        index = np.array(chosen)
        order = self._order[index]
        values = np.take_along_axis(self._polytopes.shapley[index], order, axis=1)
        base = np.take_along_axis(self._signs[index], order, axis=1)
        flippable = np.take_along_axis(self._flippable[index], order, axis=1)
        vectors = np.concatenate([rows[row].vectors for row in chosen])
        distance = np.sum((vectors - self._polytopes.shapley[index]) ** 2, axis=1)
        flips = open_flips(abs(values), flippable, distance * (1.0 - _NEARER))
        count = np.sum(flips, axis=1)
        for place in np.flatnonzero(count == 0).tolist():
            rows[chosen[place]].nearest = True
        few = np.flatnonzero((count > 0) & (count <= _MOST_FLIPS)).tolist()
        if not few:
            return
        patterns = []
        for place in few:
            ranks = np.flatnonzero(flips[place])
            signs = np.tile(base[place], (len(subsets(len(ranks))), 1))
            signs[:, ranks] *= np.where(subsets(len(ranks)), -1.0, 1.0)
            patterns.append(signs)
        origin = np.repeat(few, [len(signs) for signs in patterns])
        every = np.concatenate(patterns)
        bounds = pattern_bounds(values[origin], every, self._polytopes.boundary[index[origin], -1])
        for place in few:
            mine = origin == place
            self._try_patterns(chosen[place], rows[chosen[place]], every[mine], bounds[mine], float(distance[place]))

    def _try_patterns(
        self, row: int, state: _Row, signs: NDArray[np.float64], bounds: NDArray[np.float64], distance: float
    ) -> None:
        """Solve the sign patterns that could be nearer, the most promising first."""
        limit = self._nearness_limit(state.nodes)
        deadline = self._options.time_limit
        order = self._order[row].tolist()
        started = time.monotonic()
        for pattern in np.argsort(bounds, kind="stable").tolist():
            if bounds[pattern] >= distance * (1.0 - _NEARER):
                break
            late = deadline is not None and state.spent + time.monotonic() - started > deadline
            if state.nodes >= limit or late:
                return
            state.nodes += 1
            try:
                found = self._probe(row).nearest(order, signs[pattern].tolist())
            except UndecidedError:
                return
            if found is not None:
                away = float(np.sum((found - self._polytopes.shapley[row]) ** 2))
                if away < distance:
                    distance, state.vectors = away, found[None, :]
        state.nearest = True

    def _settle_nearness(self, row: int, state: _Row) -> None:
        """Nearness by search, where several rankings cost the same or many signs are open."""
        if state.nearest or not state.proven or not len(state.vectors):
            return
        limit = self._nearness_limit(state.nodes)
        search = state.search or self._search(row, limit, state.spent)
        search.nodes = max(search.nodes, state.nodes)
        best, state.nearest = nearest_of_level(search, state.vectors[0], limit)
        state.vectors = best[None, :]

    def _finish(self, rows: dict[int, _Row], solved: Solved, precision: np.dtype[Any]) -> None:
        """Back to the units of the values; scored by the public rule; never worse than Shapley."""
        if not rows:
            return
        index = np.repeat(list(rows), [len(state.vectors) for state in rows.values()])
        vectors = np.concatenate([state.vectors for state in rows.values()])
        finished = self._finished(vectors, index).astype(precision).astype(np.float64)
        cost = realized_cost(finished, self._costs, index)
        start = 0
        for row, state in rows.items():
            mine = slice(start, start + len(state.vectors))
            start = mine.stop
            attained, tolerance = float(self._shapley_cost[row]), float(self._tolerance[row])
            moved = False
            if len(state.vectors):
                best = mine.start + int(np.argmin(cost[mine]))
                # Where Shapley is not within rounding of the level, whatever is below it counts.
                if cost[best] < attained - (tolerance if state.level >= attained - tolerance else 0.0):
                    solved.attributions[row], attained, moved = finished[best], float(cost[best]), True
            certified = state.level >= attained - tolerance
            solved.certified[row] = certified
            solved.nearest_certified[row] = certified and (state.nearest or not moved)
            solved.bound[row] = attained if certified else min(state.level, attained)

    def _finished(self, vectors: NDArray[np.float64], index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Inside the intervals, and with a sum that is exact to the last digits."""
        polytopes = self._polytopes
        lower, upper, rigid = polytopes.lower[index], polytopes.upper[index], polytopes.rigid[index]
        result = np.where(rigid, polytopes.shapley[index], np.clip(vectors, lower, upper))
        result *= polytopes.unit[index, None]
        width = np.where(rigid, 0.0, upper - lower)
        sums = np.sum(width, axis=1, keepdims=True)
        weight = width / np.where(sums > 0, sums, 1.0)
        total = self._values[index, -1] - self._values[index, 0]
        for _ in range(2):
            result += (total - np.sum(result, axis=1))[:, None] * weight
        return result


def realized_cost(
    attributions: NDArray[np.float64], costs: NDArray[np.float64], rows: NDArray[np.intp] | None = None
) -> NDArray[np.float64]:
    """The cost of the ranking that attributions have by the public rule.

    Args:
        attributions: Shape (m, n).
        costs: Shape (rows, 2**n).
        rows: Shape (m,): whose costs; by default one row each, in order.

    Returns:
        Shape (m,).
    """
    order = np.argsort(-abs(attributions), axis=1, kind="stable")
    prefixes = np.cumsum(np.left_shift(1, order), axis=1)
    row = np.arange(len(attributions)) if rows is None else rows
    return np.sum(costs[row[:, None], prefixes], axis=1)
