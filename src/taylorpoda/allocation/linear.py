"""Policies whose shares are known outright: Shapley, the paper's random tables, a user's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import to_numpy
from taylorpoda.allocation.dirichlet import (
    dirichlet_candidates,
    independent_candidates,
    row_keys,
    share_table,
)
from taylorpoda.allocation.game import Games, flat_row
from taylorpoda.allocation.result import Allocation
from taylorpoda.allocation.shares import attributions_from_shares, checked_shares, even_shares, view_of_shares
from taylorpoda.allocation.yardstick import Yardstick
from taylorpoda.utilities import Context, score_candidates, score_in
from taylorpoda.utilities.builtin import PointwiseStage

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.result import ShareView
    from taylorpoda.utilities import Utility


_BLOCK_BYTES = 2**18  # of candidates and of what their rows' tables become
_TABLES = 4  # of the size of a row's own at once


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
    best, chosen = _in_blocks(games, utility, options)

    def table(row: int) -> NDArray[np.float64]:
        candidate = int(flat_row(to_numpy(best), row, axes=0))
        if candidate == 0:
            return even_shares(games.n_players)
        key = row_keys(games)[row] if options.draws == "independent" else None
        return share_table(options.seed, games.n_players, options.alpha, candidate, key)

    proof = LinearProof(games, utility, chosen, table, options)
    return Allocation(chosen, games.context.base_value, "dirichlet", utility.name, proof, options.seed)


def _in_blocks(games: Games, utility: Utility, options: Options) -> tuple[Any, Any]:
    """The best candidate of every row and its attributions, block after block of rows: candidates outweigh tables.

    Tensors stay whole, and so does what a user's own function is asked about: it may know its rows by position.
    """
    context, lead = games.context, games.lead
    each = 8 * prod(lead[1:]) * (options.candidates * games.n_players + (_TABLES << games.n_players))
    step = max(1, _BLOCK_BYTES // each)
    whole = not lead or lead[0] <= step or not isinstance(games.values, np.ndarray)
    if whole or not isinstance(utility.stage, PointwiseStage):
        return _best(games, utility, options)
    parts = []
    for start in range(0, lead[0], step):
        some = slice(start, start + step)
        target, labels = (None if array is None else array[some] for array in (context.target, context.labels))
        block = Games(Context(context.values[some], target, context.threshold, labels))
        parts.append(_best(block, utility, options))
    return np.concatenate([best for best, _ in parts]), np.concatenate([chosen for _, chosen in parts])


def _best(games: Games, utility: Utility, options: Options) -> tuple[Any, Any]:
    draw = independent_candidates if options.draws == "independent" else dirichlet_candidates
    candidates = draw(games, options.candidates, options.alpha, options.seed)
    scores = score_candidates(games.context, utility, candidates)
    xp = games.xp
    best = xp.argmax(scores if utility.higher_is_better else -scores, axis=-1)
    return best, xp.take_along_axis(candidates, best[..., None, None], axis=-2)[..., 0, :]


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
