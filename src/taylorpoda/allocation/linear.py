"""Policies whose shares are known outright: Shapley, the paper's random tables, a user's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import to_numpy
from taylorpoda.allocation.dirichlet import (
    dirichlet_candidates,
    independent_candidates,
    row_keys,
    share_table,
)
from taylorpoda.allocation.game import flat_row
from taylorpoda.allocation.result import Allocation
from taylorpoda.allocation.shares import attributions_from_shares, checked_shares, even_shares, view_of_shares
from taylorpoda.allocation.yardstick import Yardstick
from taylorpoda.utilities import score_candidates, score_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from taylorpoda.allocation.game import Games
    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.result import ShareView
    from taylorpoda.utilities import Utility


@dataclass(frozen=True, eq=False)
class LinearProof:
    """What can be said about attributions with known shares.

    Attributes:
        games: The games.
        utility: What judges them.
        attributions: Shape (..., n).
        share_table: The shares of a row, shape (2**n, n), by flat row number.
        options: How hard to look for the bound.
    """

    games: Games
    utility: Utility
    attributions: Any
    share_table: Callable[[int], NDArray[np.float64]]
    options: Options

    def score(self) -> Any:
        """By the public rule."""
        return score_in(self.games.context, self.utility, self.attributions)

    def shapley_score(self) -> Any:
        """By the public rule."""
        return score_in(self.games.context, self.utility, self.games.shapley)

    @cached_property
    def _yardstick(self) -> Yardstick:
        return Yardstick(self.games, self.utility, self.options, self.attributions)

    def bound(self) -> Any:
        """By the search of policy="optimal", run now."""
        return self._yardstick.bound()

    def ceiling(self) -> Any:
        """By the lattice alone."""
        return self._yardstick.ceiling()

    def certified(self) -> Any:
        """By the search of policy="optimal", run now."""
        return self._yardstick.certified()

    def nearest_certified(self) -> Any:
        """Where the Shapley values are already best."""
        return self._yardstick.nearest_certified()

    def intervals(self) -> tuple[Any, Any]:
        """In closed form."""
        return self.games.intervals

    def shares(self, row: int) -> ShareView:
        """The row's own table."""
        return view_of_shares(self.share_table(row), flat_row(to_numpy(self.games.dividends), row))


def allocate_shapley(games: Games, utility: Utility, options: Options) -> Allocation:
    """Every interaction split evenly."""

    def even(row: int) -> NDArray[np.float64]:  # noqa: ARG001 - one signature for all policies
        return even_shares(games.n_players)

    proof = LinearProof(games, utility, games.shapley, even, options)
    return Allocation(games.shapley, games.context.base_value, "shapley", utility.name, proof)


def allocate_dirichlet(games: Games, utility: Utility, options: Options) -> Allocation:
    """The best by utility of Shapley and candidates - 1 random tables; ties go to the earlier candidate."""
    independent = options.draws == "independent"
    draw = independent_candidates if independent else dirichlet_candidates
    candidates = draw(games, options.candidates, options.alpha, options.seed)
    scores = score_candidates(games.context, utility, candidates)
    xp = games.xp
    best = xp.argmax(scores if utility.higher_is_better else -scores, axis=-1)
    chosen = xp.take_along_axis(candidates, best[..., None, None], axis=-2)[..., 0, :]
    even = allocate_shapley(games, utility, options).proof

    def table(row: int) -> NDArray[np.float64]:
        candidate = int(flat_row(to_numpy(best), row, axes=0))
        if candidate == 0:
            assert isinstance(even, LinearProof)  # noqa: S101 - made above
            return even.share_table(row)
        key = row_keys(games)[row] if independent else None
        return share_table(options.seed, games.n_players, options.alpha, candidate, key)

    proof = LinearProof(games, utility, chosen, table, options)
    return Allocation(chosen, games.context.base_value, "dirichlet", utility.name, proof, options.seed)


def allocate_shares(games: Games, utility: Utility, options: Options) -> Allocation:
    """A user's own shares."""
    if options.shares is None:
        msg = "policy='shares' needs shares=, a mapping {subset index: n shares} or an array of shape (..., 2**n, n)."
        raise ValueError(msg)
    checked = checked_shares(games, options.shares)
    attributions = attributions_from_shares(games, checked)
    per_row = np.broadcast_to(checked, (*games.lead, *checked.shape[-2:]))

    def table(row: int) -> NDArray[np.float64]:
        return np.asarray(per_row[np.unravel_index(row, games.lead)])

    proof = LinearProof(games, utility, attributions, table, options)
    return Allocation(attributions, games.context.base_value, "shares", utility.name, proof)
