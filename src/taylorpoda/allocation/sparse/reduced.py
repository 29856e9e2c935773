"""One row without the players that cannot matter to it, as arrays for a search that asks for many rankings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from taylorpoda.allocation.boundary import NULL
from taylorpoda.dividends.sparse import SparseDividends, sum_of
from taylorpoda.dividends.sparse_coalitions import Coalitions

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Reduced:
    """A game among the players that matter.

    Attributes:
        players: Shape (k,): their numbers in the whole game.
        base: v of nobody.
        full: v of all.
        dividends: The dividends of one player or more, players renumbered.
    """

    players: NDArray[np.int64]
    base: float
    full: float
    dividends: SparseDividends

    @property
    def n_players(self) -> int:
        """How many players matter."""
        return len(self.players)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The dividends, shape (m,)."""
        return self.dividends.values

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each coalition's members begin, shape (m,)."""
        return self.dividends.coalitions.indptr[:-1]

    @cached_property
    def members(self) -> NDArray[np.int64]:
        """Members of all coalitions, end to end."""
        return self.dividends.coalitions.members.astype(np.int64)

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """The coalition of every member."""
        return self.dividends.coalitions.owner

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Players of every coalition."""
        return self.dividends.coalitions.sizes

    @cached_property
    def spread(self) -> NDArray[np.float64]:
        """The dividend of every member's coalition."""
        return self.values[self.owner]

    @cached_property
    def shapley(self) -> NDArray[np.float64]:
        """Even shares, shape (k,)."""
        return self.dividends.shapley()

    @cached_property
    def ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The admissible interval of every player."""
        return self.dividends.intervals()

    @cached_property
    def scale(self) -> float:
        """The largest |v - v(nobody)| along the Shapley values' ranking, from the front and from the back.

        The largest of all coalitions would take all of them.
        """
        return scale_of(self.dividends)

    def by_player(self, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum an amount per member over each player's coalitions, shape (k,)."""
        return np.bincount(self.members, weights=amounts, minlength=self.n_players).astype(np.float64)

    def last_ranks(self, order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The place of every member in an order, and the last place in every coalition."""
        place = np.empty(self.n_players, dtype=np.int64)
        place[order] = np.arange(self.n_players)
        places = place[self.members]
        last = np.maximum.reduceat(places, self.starts) if len(self.starts) else places[:0]
        return places, last

    def along(self, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """The values of the first 0, ..., k players of an order, shape (k + 1,)."""
        _, last = self.last_ranks(order)
        steps = np.bincount(last + 1, weights=self.values, minlength=self.n_players + 1)
        reached = np.asarray(self.base + np.cumsum(steps), dtype=np.float64)
        reached[-1] = self.full
        return reached


def scale_of(dividends: SparseDividends) -> float:
    """The largest |v - v(empty)| along the ranking of the Shapley values, from either end."""
    order = np.argsort(-abs(dividends.shapley()), kind="stable")
    reached = np.concatenate([dividends.prefix_values(order), dividends.suffix_values(order)])
    return float(np.max(abs(reached - dividends.base_value), initial=0.0))


def players_that_matter(dividends: SparseDividends) -> NDArray[np.int64]:
    """Who has a dividend to speak of."""
    size = np.where(dividends.coalitions.sizes > 0, abs(dividends.values), 0.0)
    largest = np.zeros(dividends.n_players)
    np.maximum.at(largest, dividends.coalitions.members, size[dividends.coalitions.owner])
    return np.flatnonzero(largest > NULL * scale_of(dividends))


def reduced(
    dividends: SparseDividends, players: NDArray[np.int64], base: float, full: float, *, others_present: bool
) -> Reduced:
    """A game among some players while the others stay absent, or present.

    Args:
        dividends: The whole game.
        players: Who takes part, in the order in which they are renumbered.
        base: v of no player at all.
        full: f(x).
        others_present: Whether the others take part in every coalition; coalitions then lose those members, and
            dividends without any member left belong to the base.
    """
    place = np.full(dividends.n_players, -1, dtype=np.int64)
    place[players] = np.arange(len(players))
    coalitions = dividends.coalitions
    renumbered = place[coalitions.members]
    kept = renumbered >= 0
    left = np.bincount(coalitions.owner[kept], minlength=len(coalitions))
    if others_present:
        alone = (left == 0) & (coalitions.sizes > 0)
        base += float(np.sum(dividends.values[alone]))
        chosen = left > 0
    else:
        chosen = (left == coalitions.sizes) & (left > 0)
    indptr = np.concatenate([[0], np.cumsum(left[chosen])]).astype(np.int64)
    members = renumbered[kept & chosen[coalitions.owner]].astype(np.int32)
    return Reduced(
        players, base, full, SparseDividends(Coalitions(len(players), indptr, members), dividends.values[chosen])
    )


def members_together(game: Reduced, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum an amount per coalition over the coalitions that hold two players, shape (k, k)."""
    shape = (len(game.values), game.n_players)
    indptr = np.append(game.starts, len(game.members))
    member = sparse.csr_matrix((np.ones(len(game.members)), game.members, indptr), shape=shape)
    weighted = sparse.csr_matrix((amounts[game.owner], game.members, indptr), shape=shape)
    return np.asarray((member.T @ weighted).toarray())


def difference(first: Reduced, second: Reduced) -> Reduced:
    """The game first - second, among the same players."""
    dividends = sum_of([first.dividends, second.dividends * -1.0])
    return Reduced(first.players, first.base - second.base, first.full - second.full, dividends)


def negated(game: Reduced) -> Reduced:
    """The game -v."""
    return Reduced(game.players, -game.base, -game.full, game.dividends * -1.0)
