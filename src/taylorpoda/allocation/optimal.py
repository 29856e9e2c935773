"""policy="optimal": the best admissible attribution for a utility that adds up along the ranking, with its proof."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import to_numpy
from taylorpoda.allocation.admissible import AdmissibleSet
from taylorpoda.allocation.custom import solve_custom
from taylorpoda.allocation.game import flat_row
from taylorpoda.allocation.lattice import cost_to_go
from taylorpoda.allocation.result import Allocation, kind_of
from taylorpoda.allocation.shares import even_shares, view_of_shares
from taylorpoda.allocation.solving import Batch, Solved
from taylorpoda.utilities import Context, score_in, stage_table
from taylorpoda.utilities.builtin import PointwiseStage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.game import Games
    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.result import ShareView
    from taylorpoda.utilities import Utility

_CHUNK = 1 << 16  # table entries handled side by side: half a megabyte, about a cache


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
        with np.errstate(over="ignore"):
            costs: NDArray[np.float64] = self._sign * np.asarray(stage_table(context, self._utility))
        _check_size(values[rows], costs, self._utility)
        return costs


def _check_size(values: NDArray[np.float64], costs: NDArray[np.float64], utility: Utility) -> None:
    """Refuse numbers whose sums and differences a float64 cannot hold: nothing could be proven about them."""
    most = np.finfo(np.float64).max / (costs.shape[1] + 1)
    largest = max((float(max(np.max(table), -np.min(table))) for table in (values, costs) if table.size), default=0.0)
    if largest > most:
        size = float(np.max(abs(values)))
        msg = f"values as large as {size:.3g} overflow in utility {utility.name!r}; divide them by a constant first."
        raise ValueError(msg)


def chunks(rows: int, length: int) -> list[slice]:
    """The rows in pieces whose tables fit a cache."""
    step = max(1, _CHUNK // length)
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def allocate_optimal(games: Games, utility: Utility, options: Options) -> Allocation:
    """The best admissible attribution of every row."""
    solved = solve(games, utility, options) if utility.additive else solve_custom(games, utility, options)
    attributions = kind_of(games.values, solved.attributions.reshape(*games.lead, games.n_players))
    proof = OptimalProof(games, utility, attributions, solved)
    seed = None if utility.additive or utility.convex else options.seed
    return Allocation(attributions, games.context.base_value, "optimal", utility.name, proof, seed)


def solve(games: Games, utility: Utility, options: Options) -> Solved:
    """Solve every row, rows counted over all leading axes."""
    rows, n_players = prod(games.lead), games.n_players
    values = to_numpy(games.values).reshape(rows, 1 << n_players)
    shapley = to_numpy(games.shapley).reshape(rows, n_players).astype(np.float64, copy=False)
    costs = Costs(games.context, utility)
    yes = np.ones(rows, dtype=np.bool_)
    solved = Solved(shapley.copy(), np.zeros(rows), yes, yes.copy(), np.zeros(rows))
    for piece in chunks(rows, 1 << n_players) if n_players else ():
        batch = Batch(values[piece].astype(np.float64), costs.of(piece), shapley[piece], options)
        part = batch.solve(values.dtype)
        solved.attributions[piece] = part.attributions
        solved.bound[piece] = part.bound
        solved.certified[piece] = part.certified
        solved.nearest_certified[piece] = part.nearest_certified
        solved.tolerance[piece] = part.tolerance
    return solved


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
        """By the lattice alone, whether anybody attains it or not; infinite where no ranking is judged."""
        if not self.utility.additive:
            best = np.inf if self.utility.higher_is_better else -np.inf
            return self._shaped(np.full(prod(self.games.lead), best))
        return self._shaped(ceiling(self.games, self.utility, self.score()))

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
        """Even ones for the Shapley values, else from vertices whose convex combination the attributions are."""
        attributions = flat_row(to_numpy(self.attributions), row)
        if np.array_equal(attributions, flat_row(to_numpy(self.games.shapley), row)):
            return view_of_shares(even_shares(self.games.n_players), flat_row(to_numpy(self.games.dividends), row))
        return AdmissibleSet(flat_row(to_numpy(self.games.values), row)).shares(attributions)

    def _shaped(self, flat: NDArray[Any]) -> Any:
        return kind_of(self.games.values, flat.reshape(self.games.lead))


def ceiling(games: Games, utility: Utility, score: Any) -> NDArray[np.float64]:
    """The best score any ranking could have, rows counted over all leading axes.

    The lattice adds in another order than a score does: rounding must not put the best under a score that is attained.
    """
    rows = prod(games.lead)
    costs = Costs(games.context, utility)
    result = np.zeros(rows)
    for piece in chunks(rows, 1 << games.n_players):
        result[piece] = cost_to_go(costs.of(piece))[:, 0]
    attained = to_numpy(score).reshape(-1).astype(np.float64)
    return np.maximum(0.0 - result, attained) if utility.higher_is_better else np.minimum(result, attained)
