"""Shares of the interactions of a sparse game: one number per member, no dense row until it is asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.allocation.result import ShareView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.reduced import Reduced
    from taylorpoda.dividends.sparse import SparseDividends
    from taylorpoda.dividends.sparse_coalitions import Coalitions


class SparseShareView(ShareView):
    """A read-only mapping {subset index: array of n shares} over compressed rows.

    Subset indices are Python integers of any length; rows are made when read.

    Attributes:
        members_of: The coalitions that have something to share, in the order of the dividends.
        weights: Shape (members,): the share of each entry of `members_of.members`.
    """

    def __init__(self, members_of: Coalitions, weights: NDArray[np.float64]) -> None:
        self.members_of = members_of
        self.weights = weights.view()
        self.weights.flags.writeable = False

    @cached_property
    def coalitions(self) -> list[int]:  # type: ignore[override]
        """The subset indices, in the order of `members_of`."""
        return self.members_of.numbers()

    @cached_property
    def array(self) -> NDArray[np.float64]:  # type: ignore[override]
        """Shape (coalitions, n), made on first access: it may be large."""
        dense = np.zeros((len(self), self.members_of.n_players))
        dense[self.members_of.owner, self.members_of.members] = self.weights
        dense.flags.writeable = False
        return dense

    def __getitem__(self, coalition: int) -> NDArray[np.float64]:
        """The shares of a coalition.

        Raises:
            KeyError: If it has no dividend to share, or fewer than two players.
        """
        position = self._position(coalition)
        if position is None:
            raise KeyError(coalition)
        row = np.zeros(self.members_of.n_players)
        part = slice(self.members_of.indptr[position], self.members_of.indptr[position + 1])
        row[self.members_of.members[part]] = self.weights[part]
        row.flags.writeable = False
        return row

    def _position(self, coalition: object) -> int | None:
        if isinstance(coalition, bool) or not isinstance(coalition, int | np.integer):
            return None
        return self._index.get(int(coalition))

    def __iter__(self) -> Iterator[int]:
        return iter(self.coalitions)

    def __len__(self) -> int:
        return len(self.members_of)

    def __repr__(self) -> str:
        """How many coalitions are shared."""
        return f"SparseShareView({len(self)} coalitions, {self.members_of.n_players} players)"


def interactions_of(dividends: SparseDividends) -> SparseDividends:
    """The dividends that are shared: of two players or more, not zero."""
    return dividends.take(np.flatnonzero((dividends.coalitions.sizes > 1) & (dividends.values != 0)))


def even_view(dividends: SparseDividends) -> SparseShareView:
    """The Shapley values' shares."""
    shared = interactions_of(dividends).coalitions
    return SparseShareView(shared, np.repeat(1.0 / np.maximum(shared.sizes, 1), shared.sizes))


def attributions_of_shares(dividends: SparseDividends, view: SparseShareView) -> Any:
    """a_i = H({i}) + sum of share_{i,S} H(S) over the interactions S that hold i, in the order of `interactions_of`."""
    shared = interactions_of(dividends)
    weights = np.repeat(shared.values, shared.coalitions.sizes) * view.weights
    adapted = np.bincount(shared.coalitions.members, weights=weights, minlength=dividends.n_players)
    return dividends.singletons() + adapted


def view_of_game(dividends: SparseDividends, game: Reduced, shares: NDArray[np.float64]) -> SparseShareView:
    """The shares of all interactions of a row, from those among the players that matter.

    Args:
        dividends: The row's.
        game: The game among the players that matter.
        shares: One for every member of its interactions, end to end. Interactions with another player are too small
            to show; they are split evenly.
    """
    shared = interactions_of(dividends).coalitions
    matters = np.zeros(dividends.n_players, dtype=np.bool_)
    matters[game.players] = True
    outside = np.bincount(shared.owner, weights=~matters[shared.members], minlength=len(shared)) > 0
    weights = even_view(dividends).weights.copy()
    weights[~outside[shared.owner]] = shares
    return SparseShareView(shared, weights)
