"""Policies whose shares are known outright: Shapley, random tables, a user's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.allocation.result import Allocation
from taylorpoda.allocation.sparse.scoring import score_rows
from taylorpoda.allocation.sparse.share_view import even_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.sparse.context import SparseContext
    from taylorpoda.allocation.sparse.judgment import Judgment
    from taylorpoda.allocation.sparse.share_view import SparseShareView
    from taylorpoda.utilities import Utility


def intervals_of(context: SparseContext) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every player's admissible interval in every game, each (..., n)."""
    games = context.games
    ends = np.empty((2, prod(games.lead), games.n_players))
    for row in range(prod(games.lead)):
        ends[:, row] = games.dividends(row).intervals()
    lower, upper = ends.reshape(2, *games.lead, games.n_players)
    return lower, upper


@dataclass(frozen=True, eq=False)
class SparseLinearProof:
    """What can be said about attributions with known shares; each part is computed when asked for.

    Attributes:
        context: The games and the target.
        utility: What judges.
        options: How hard to look for the bound.
        attributions: Shape (..., n).
        share_view: The shares of a row, by flat row number.
    """

    context: SparseContext
    utility: Utility
    options: Options
    attributions: NDArray[np.float64]
    share_view: Callable[[int], SparseShareView]

    def score(self) -> Any:
        """By the public rule."""
        return score_rows(self.context, self.utility, self.attributions)[()]

    def shapley_score(self) -> Any:
        """By the public rule."""
        return score_rows(self.context, self.utility, self.context.games.shapley)[()]

    @cached_property
    def _known(self) -> Judgment:
        from taylorpoda.allocation.sparse.judgment import Judgment

        return Judgment(self.context, self.utility, self.options, self.attributions)

    def bound(self) -> Any:
        """What is proven about every admissible attribution, shape (...)."""
        return self._known.bound()

    def ceiling(self) -> Any:
        """What is proven about every ranking, shape (...)."""
        return self._known.ceiling()

    def certified(self) -> Any:
        """Whether the attributions reach the bound, shape (...)."""
        return self._known.certified()

    def nearest_certified(self) -> Any:
        """Whether besides they are the Shapley values themselves, shape (...): nothing else is tried."""
        same = np.all(self.attributions == self.context.games.shapley, axis=-1)
        return np.asarray(self._known.certified() & same)[()]

    def intervals(self) -> tuple[Any, Any]:
        """In closed form."""
        return intervals_of(self.context)

    def shares(self, row: int) -> SparseShareView:
        """The row's own."""
        return self.share_view(row)


def allocate_shapley(context: SparseContext, utility: Utility, options: Options) -> Allocation:
    """Every interaction split evenly."""
    games = context.games

    def even(row: int) -> SparseShareView:
        return even_view(games.dividends(row))

    proof = SparseLinearProof(context, utility, options, games.shapley, even)
    return Allocation(games.shapley, np.asarray(games.base)[()], "shapley", utility.name, proof)
