"""Dividends of games with any number of players, most of them zero: only those that are not are kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from taylorpoda._support.arrays import players_of
from taylorpoda._support.integers import whole_number
from taylorpoda._support.memory import human_bytes
from taylorpoda._support.optional import require
from taylorpoda.dividends.sparse_checks import (
    finite,
    finite_factor,
    membership,
    positions,
    tolerance_of,
    whole_numbers,
)
from taylorpoda.dividends.sparse_coalitions import Coalitions, as_words, merged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_CHUNK = 1 << 22  # booleans at a time when many coalitions are valued
_DENSE_PLAYERS = 30


@dataclass(frozen=True)
class Remainder:
    """What a cut left out.

    Attributes:
        count: How many dividends.
        total: Their sum: what v(N) of the kept ones lacks.
        absolute: The sum of their absolute values.
        by_player: Shape (players,): for each player the sum of |H(S)| over the dropped S that hold it, a bound on how
            far any attribution of the player can be off.
    """

    count: int
    total: float
    absolute: float
    by_player: NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True, eq=False)
class SparseDividends:
    """The dividends of one game: coalitions and their values.

    The empty coalition, if listed, carries v(empty). Coalitions are listed at most once.

    Attributes:
        coalitions: The coalitions.
        values: Shape (coalitions,): H of each.

    Example:
        >>> game = SparseDividends.from_sets([[], [0], [1, 2]], [1.0, 2.0, 3.0], n_players=3)
        >>> game.shapley()
        array([2. , 1.5, 1.5])
        >>> game.value_of([[True, True, False]])
        array([3.])
    """

    coalitions: Coalitions
    values: NDArray[np.float64]

    # NumPy's numbers leave multiplying to this class, and do not read it as a sequence.
    __array_ufunc__ = None

    def __post_init__(self) -> None:
        """Refuse values that do not belong to the coalitions."""
        if self.values.shape != (len(self.coalitions),):
            msg = f"values has shape {self.values.shape}; expected one per coalition, ({len(self.coalitions)},)."
            raise ValueError(msg)

    @property
    def n_players(self) -> int:
        """How many players the game has."""
        return self.coalitions.n_players

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        """How many dividends of how many players, and the largest coalition."""
        largest = int(self.coalitions.sizes.max(initial=0))
        return f"SparseDividends({len(self)} dividends, {self.n_players} players, up to {largest} together)"

    def __iter__(self) -> NoReturn:
        """Refuse: what `[]` takes are players, so counting up from 0 would list singletons only."""
        msg = (
            "SparseDividends cannot be iterated over; .values lists the dividends and .coalitions their coalitions "
            "(.coalitions.masks() as rows of True and False), and game[players] gives one."
        )
        raise TypeError(msg)

    def __getitem__(self, members: int | Iterable[int]) -> float:
        """H of one coalition, named by its players (or by one player); 0 where none is kept."""
        named = list(members) if np.iterable(members) else [members]
        wanted = Coalitions.from_sets([named], self.n_players).words[0]
        hit = np.flatnonzero((self.coalitions.words == wanted).all(axis=1))
        return float(self.values[hit[0]]) if len(hit) else 0.0

    @property
    def base_value(self) -> float:
        """v(empty)."""
        return float(self.values[self.coalitions.sizes == 0].sum())

    @cached_property
    def full_value(self) -> float:
        """v(N), the sum of all dividends."""
        return float(np.sum(self.values))

    def value_of(self, coalitions: Any) -> NDArray[np.float64]:
        """The values of coalitions.

        Args:
            coalitions: Shape (m, players), or (players,) for one.

        Returns:
            Shape (m,), or a number.
        """
        masks = membership(coalitions, self.n_players)
        words = as_words(np.atleast_2d(masks))
        result = np.empty(len(words))
        step = max(1, _CHUNK // max(1, len(self)))
        for start in range(0, len(words), step):
            block = words[start : start + step]
            inside = np.ones((len(block), len(self)), dtype=np.bool_)
            for place in range(block.shape[1]):
                inside &= (self.coalitions.words[:, place] & ~block[:, place, None]) == 0
            for row, mask in enumerate(inside):
                result[start + row] = self.values[mask].sum()
        return result[0] if masks.ndim == 1 else result

    def prefix_values(self, order: NDArray[Any]) -> NDArray[np.float64]:
        """The values of the first 0, 1, ..., n players of an order.

        Args:
            order: Shape (players,), every player once.

        Returns:
            Shape (players + 1,).
        """
        return np.cumsum(np.bincount(self._latest(order), weights=self.values, minlength=self.n_players + 1))

    def suffix_values(self, order: NDArray[Any]) -> NDArray[np.float64]:
        """The values of all players but the first 0, 1, ..., n of an order, shape (players + 1,)."""
        reverse = np.asarray(order)[::-1]
        return self.prefix_values(reverse)[::-1]

    def _latest(self, order: NDArray[Any]) -> NDArray[np.int64]:
        """For each coalition how many players of the order it takes to have all its members."""
        given = whole_numbers(order, "order")
        if not np.array_equal(np.sort(given), np.arange(self.n_players)):
            msg = (
                f"order={order!r} does not name every player once; expected a permutation of {self.n_players} players."
            )
            raise ValueError(msg)
        rank = np.empty(self.n_players, dtype=np.int64)
        rank[given] = np.arange(1, self.n_players + 1)
        latest = np.zeros(len(self), dtype=np.int64)
        some = self.coalitions.sizes > 0
        if some.any():
            latest[some] = np.maximum.reduceat(rank[self.coalitions.members], self.coalitions.indptr[:-1][some])
        return latest

    def shapley(self) -> NDArray[np.float64]:
        """Every member of S gets H(S) / |S|, shape (players,)."""
        return self.coalitions.sum_by_player(self.values / np.maximum(self.coalitions.sizes, 1))

    def occlusion(self) -> NDArray[np.float64]:
        """OCC-1: every member of S gets all of H(S), shape (players,)."""
        return self.coalitions.sum_by_player(self.values)

    def singletons(self) -> NDArray[np.float64]:
        """H({i}), shape (players,)."""
        single = self.coalitions.sizes == 1
        players = self.coalitions.members[self.coalitions.indptr[:-1][single]]
        return np.bincount(players, weights=self.values[single], minlength=self.n_players).astype(np.float64)

    def intervals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The smallest and the largest attribution of each player that any valid shares give, each (players,)."""
        single = self.singletons()
        loss = self.coalitions.sum_by_player(np.maximum(-self.values, 0.0), least=2)
        gain = self.coalitions.sum_by_player(np.maximum(self.values, 0.0), least=2)
        return single - loss, single + gain

    def pairs(self) -> NDArray[np.float64]:
        """H({i, j}) as a symmetric matrix, H({i}) on the diagonal, shape (players, players)."""
        matrix = np.diag(self.singletons())
        two = np.flatnonzero(self.coalitions.sizes == 2)
        first, second = (self.coalitions.members[self.coalitions.indptr[two] + place] for place in (0, 1))
        matrix[first, second] = matrix[second, first] = self.values[two]
        return matrix

    def take(self, chosen: Any) -> SparseDividends:
        """Some of the dividends, by indices or a boolean mask: an array or a list."""
        places = positions(chosen, len(self))
        return SparseDividends(self.coalitions.take(places), self.values[places])

    def nonzero(self, tolerance: float = 0.0) -> SparseDividends:
        """Only the dividends larger than a tolerance in absolute value, and the empty coalition's."""
        return self.take((np.abs(self.values) > tolerance_of(tolerance)) | (self.coalitions.sizes == 0))

    def restrict(self, players: Any) -> SparseDividends:
        """The game among some players while the others stay absent; players are renumbered in the order given.

        Args:
            players: Distinct players.
        """
        chosen = whole_numbers(players, "players")
        if len(chosen) and (chosen.min() < 0 or chosen.max() >= self.n_players):
            msg = f"players={players!r} names a player out of range; allowed: 0 to {self.n_players - 1}."
            raise ValueError(msg)
        place = np.full(self.n_players, -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        if len(np.unique(chosen)) != len(chosen):
            msg = f"players={players!r} names a player twice."
            raise ValueError(msg)
        allowed = np.zeros((1, self.n_players), dtype=np.bool_)
        allowed[0, chosen] = True
        kept = self.take(self.coalitions.inside(as_words(allowed)[0]))
        members = place[kept.coalitions.members]
        order = np.lexsort((members, kept.coalitions.owner))
        renumbered = Coalitions(len(chosen), kept.coalitions.indptr, members[order].astype(np.int32))
        return SparseDividends(renumbered, kept.values)

    def top(self, count: int) -> SparseDividends:
        """The `count` largest dividends in absolute value, largest first; the empty coalition's is not counted."""
        size = np.where(self.coalitions.sizes == 0, -1.0, np.abs(self.values))
        order = np.argsort(-size, kind="stable")[: whole_number("count", count, least=0)]
        return self.take(order[size[order] >= 0])

    def threshold(self, tolerance: float) -> tuple[SparseDividends, Remainder]:
        """Drop the dividends of at most `tolerance` in absolute value, and say what was dropped."""
        kept = (np.abs(self.values) > tolerance_of(tolerance)) | (self.coalitions.sizes == 0)
        dropped = np.where(kept, 0.0, self.values)
        return self.take(kept), Remainder(
            count=int((~kept).sum()),
            total=float(dropped.sum()),
            absolute=float(np.abs(dropped).sum()),
            by_player=self.coalitions.sum_by_player(np.abs(dropped)),
        )

    def __add__(self, other: SparseDividends) -> SparseDividends:
        """The dividends of the sum of two games."""
        if not isinstance(other, SparseDividends):
            return NotImplemented
        return sum_of([self, other])

    def __radd__(self, other: int) -> SparseDividends:
        """The game itself, so that `sum` over games, which starts from 0, gives their sum."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __neg__(self) -> SparseDividends:
        """The dividends of minus the game."""
        return SparseDividends(self.coalitions, -self.values)

    def __sub__(self, other: SparseDividends) -> SparseDividends:
        """The dividends of the difference of two games."""
        if not isinstance(other, SparseDividends):
            return NotImplemented
        return sum_of([self, -other])

    def __mul__(self, factor: float) -> SparseDividends:
        """The dividends of a multiple of the game."""
        if isinstance(factor, SparseDividends):
            return NotImplemented
        return SparseDividends(self.coalitions, self.values * finite_factor(factor))

    __rmul__ = __mul__

    def to_dense(self) -> NDArray[np.float64]:
        """All 2**n dividends, zeros included."""
        if self.n_players > _DENSE_PLAYERS:
            size = human_bytes(2.0**self.n_players * 8)
            msg = f"a table for {self.n_players} players takes {size}; at most {_DENSE_PLAYERS} players here."
            raise ValueError(msg)
        dense = np.zeros(1 << self.n_players)
        dense[self.coalitions.indices()] = self.values
        return dense

    @classmethod
    def from_dense(cls, dividends: Any, tolerance: float = 0.0) -> SparseDividends:
        """From a table of 2**n dividends, dropping those of at most `tolerance` (never the empty coalition's)."""
        table = finite(dividends, "dividends")
        if table.ndim != 1:
            msg = f"dividends has shape {table.shape}; expected one game, (2**n,)."
            raise ValueError(msg)
        n_players = players_of(len(table), "dividends")
        kept = np.abs(table) > tolerance_of(tolerance)
        kept[0] = True
        indices = np.flatnonzero(kept)
        return cls(Coalitions.from_indices(indices, n_players), table[indices])

    @classmethod
    def from_sets(cls, sets: Iterable[Iterable[int]], values: Any, n_players: int) -> SparseDividends:
        """From sets of players and their dividends; sets that repeat are added up."""
        listed = cls(Coalitions.from_sets(sets, n_players), finite(values, "values"))
        return sum_of([listed])

    def to_shapiq(self) -> Any:
        """A `shapiq.InteractionValues` with index "Moebius"."""
        shapiq = require("shapiq", "shapiq", "SparseDividends.to_shapiq()")
        members, indptr = self.coalitions.members.tolist(), self.coalitions.indptr.tolist()
        lookup = {tuple(members[indptr[k] : indptr[k + 1]]): k for k in range(len(self))}
        return shapiq.InteractionValues(
            values=np.array(self.values),
            index="Moebius",
            max_order=max(1, int(self.coalitions.sizes.max(initial=0))),
            min_order=0,
            n_players=self.n_players,
            interaction_lookup=lookup,
            estimated=False,
            baseline_value=self.base_value,
        )


def sum_of(games: list[SparseDividends]) -> SparseDividends:
    """The dividends of a sum of games over the same players; coalitions that repeat are added up.

    Raises:
        ValueError: If the numbers of players differ.
    """
    counts = {game.n_players for game in games}
    if len(counts) != 1:
        msg = f"games of {sorted(counts)} players cannot be added; they need the same players."
        raise ValueError(msg)
    union, places = merged([game.coalitions for game in games])
    values = np.zeros(len(union))
    for game, place in zip(games, places, strict=True):
        np.add.at(values, place, game.values)
    return SparseDividends(union, values)
