"""policy="optimal" for a user's own function of the attributions: as in the dense room for few players, else searched.

Shapley, the random candidates of policy="dirichlet", then steps from the best attribution of every row toward random
vertices of its admissible set. All rows step together, one call of the utility per step; a row's steps are drawn from a
stream keyed by the content of its game. Nothing is proven about the answer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from taylorpoda._support.seeds import stream
from taylorpoda.allocation.game import Games
from taylorpoda.allocation.optimal import OptimalProof
from taylorpoda.allocation.optimal import allocate_optimal as allocate_tables
from taylorpoda.allocation.result import Allocation
from taylorpoda.allocation.sparse.draws import content_key, drawn_shares
from taylorpoda.allocation.sparse.few import table_shares
from taylorpoda.allocation.sparse.linear import SparseLinearProof
from taylorpoda.allocation.sparse.potentials import Potentials
from taylorpoda.allocation.sparse.random_tables import candidates_of
from taylorpoda.allocation.sparse.reduced import reduced
from taylorpoda.allocation.sparse.rounding import closed
from taylorpoda.allocation.sparse.scoring import evaluated
from taylorpoda.allocation.sparse.share_view import SparseShareView, even_view, interactions_of
from taylorpoda.utilities import Context

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.sparse.context import SparseContext
    from taylorpoda.dividends.sparse import SparseDividends
    from taylorpoda.utilities import Utility

_TABLED = 16  # players of games of which all rows have a table at once
_STEPS = 400
_STREAM = 1  # the steps' own branch of a row's stream


def allocate_custom(context: SparseContext, utility: Utility, options: Options) -> Allocation:
    """The best attribution met for a utility that judges attributions themselves."""
    if context.n_players <= _TABLED:
        tabled = allocate_tables(_tables(context), utility, options)
        known = cast("OptimalProof", tabled.proof)
        return replace(tabled, proof=_TabledProof(known.games, utility, known.attributions, known.solved, context))
    games = context.games
    hunts = [_Hunt(context, row, options) for row in range(prod(games.lead))]
    attributions = _search(context, utility, options, hunts)

    def view(row: int) -> SparseShareView:
        return hunts[row].shares()

    proof = SparseLinearProof(context, utility, options, attributions, view)
    return Allocation(attributions, np.asarray(games.base)[()], "optimal", utility.name, proof, options.seed)


def _tables(context: SparseContext) -> Games:
    """The games as tables, for few players."""
    values, labels = context.values, context.labels
    # A coalition of everybody is known without a sum.
    values[..., 0], values[..., -1] = context.base_value, context.full_value
    return Games(Context(values, context.target, context.threshold, labels))


@dataclass(frozen=True, eq=False)
class _TabledProof(OptimalProof):
    """The dense room's, with shares of the sparse dividends: a table has others besides, made of rounding."""

    context: SparseContext

    def shares(self, row: int) -> SparseShareView:
        """Even ones for the Shapley values, else from vertices whose convex combination the attributions are."""
        dividends = self.context.games.dividends(row)
        attributions = np.reshape(self.attributions, (-1, self.context.n_players))[row]
        if np.array_equal(attributions, np.reshape(self.games.shapley, (-1, self.context.n_players))[row]):
            return even_view(dividends)
        full = float(np.reshape(self.context.full_value, -1)[row])
        players = np.arange(self.context.n_players)
        game = reduced(dividends, players, dividends.base_value, full, others_present=False)
        return table_shares(dividends, game, attributions)


@dataclass(frozen=True, eq=False)
class _Step:
    """A part of the way toward a vertex."""

    part: float
    order: NDArray[np.int64]


class _Hunt:
    """The way of one row: which random shares it began with, and toward which vertices it went."""

    def __init__(self, context: SparseContext, row: int, options: Options) -> None:
        games = context.games
        self._dividends: SparseDividends = games.dividends(row)
        self._options = options
        self.base = float(np.reshape(games.base, -1)[row])
        self.full = float(np.reshape(games.full, -1)[row])
        self.start = np.empty((options.candidates, context.n_players))
        self.start[0] = np.reshape(games.shapley, (-1, context.n_players))[row]
        if options.candidates > 1:
            self.start[1:] = candidates_of(context, row, self._dividends, options)
        everyone = np.arange(context.n_players)
        game = reduced(self._dividends, everyone, self.base, self.full, others_present=False)
        self._potentials = Potentials(game)
        self._stream = stream(options.seed, context.n_players, _STREAM, *content_key(self._dividends))
        self.candidate = 0
        self.steps: list[_Step] = []

    def toward(self) -> tuple[_Step, NDArray[np.float64]]:
        """A random step and the vertex it leads to."""
        drawn = self._stream.random(self._dividends.n_players + 1)
        order = np.argsort(drawn[1:], kind="stable")
        return _Step(float(drawn[0] ** 2), order), self._potentials.vertex(order)

    def moved(self, point: NDArray[np.float64], step: _Step, vertex: NDArray[np.float64]) -> NDArray[np.float64]:
        """A point after a step; its sum exact to the last digits."""
        return closed(point + step.part * (vertex - point), self._dividends, self.full - self.base)

    def shares(self) -> SparseShareView:
        """The shares of the row's answer."""
        if self.candidate:
            shared = interactions_of(self._dividends)
            weights = drawn_shares(
                shared.coalitions,
                self._options.seed,
                self._options.alpha,
                self.candidate,
                content_key(self._dividends) if self._options.draws == "independent" else None,
            )
            view = SparseShareView(shared.coalitions, weights)
        else:
            view = even_view(self._dividends)
        weights = view.weights
        for step in self.steps:
            weights = weights + step.part * (self._potentials.vertex_shares(step.order) - weights)
        return SparseShareView(view.members_of, np.clip(weights, 0.0, 1.0))  # rounding of the steps


def _search(context: SparseContext, utility: Utility, options: Options, hunts: list[_Hunt]) -> NDArray[np.float64]:
    """The best attributions met, shape (..., n)."""
    lead, n_players = context.games.lead, context.n_players
    sign = -1.0 if utility.higher_is_better else 1.0

    def costs(offered: NDArray[np.float64]) -> NDArray[np.float64]:
        return sign * np.reshape(evaluated(context, utility, offered.reshape(*lead, n_players)), len(hunts))

    starts = np.array([hunt.start for hunt in hunts]).reshape(len(hunts), options.candidates, n_players)
    every = np.array([costs(starts[:, candidate]) for candidate in range(options.candidates)])
    chosen = np.argmin(every, axis=0)
    best, cost = starts[np.arange(len(hunts)), chosen], np.min(every, axis=0)
    for hunt, candidate in zip(hunts, chosen.tolist(), strict=True):
        hunt.candidate = candidate
    steps = _STEPS if options.node_limit is None else options.node_limit
    deadline = None if options.time_limit is None else time.monotonic() + options.time_limit * max(len(hunts), 1)
    for _ in range(steps if hunts else 0):
        if deadline is not None and time.monotonic() > deadline:
            break
        ways = [hunt.toward() for hunt in hunts]
        offered = np.array([hunt.moved(point, *way) for hunt, point, way in zip(hunts, best, ways, strict=True)])
        new = costs(offered)
        for row in np.flatnonzero(new < cost).tolist():
            best[row], cost[row] = offered[row], new[row]
            hunts[row].steps.append(ways[row][0])
    return best.reshape(*lead, n_players)
