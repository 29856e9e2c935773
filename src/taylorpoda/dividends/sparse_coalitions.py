"""A list of coalitions of any number of players, as arrays: members end to end, and bitsets where they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.dividends.sparse_checks import player_index

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_WORD = 64
_BITS_OF_BYTES = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class Coalitions:
    """Coalitions in compressed rows; no Python object per coalition.

    Attributes:
        n_players: How many players there are.
        indptr: Shape (coalitions + 1,): where each coalition's members start.
        members: Their players, ascending within a coalition.
    """

    n_players: int
    indptr: NDArray[np.int64]
    members: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many players each coalition has."""
        return np.diff(self.indptr)

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """Shape (members,): which coalition each entry of `members` belongs to."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        """The coalitions as bitsets, shape (coalitions, words); bit j of word w is player 64 w + j."""
        words = np.zeros((len(self), max(1, -(-self.n_players // _WORD))), dtype=np.uint64)
        bits = np.left_shift(np.uint64(1), (self.members % _WORD).astype(np.uint64))
        np.bitwise_or.at(words, (self.owner, self.members // _WORD), bits)
        return words

    @cached_property
    def keys(self) -> NDArray[np.void]:
        """One comparable item per coalition, equal for equal coalitions."""
        words = np.ascontiguousarray(self.words)
        return words.view(np.dtype((np.void, words.shape[1] * 8)))[:, 0]

    def masks(self) -> NDArray[np.bool_]:
        """Membership, shape (coalitions, players)."""
        masks = np.zeros((len(self), self.n_players), dtype=np.bool_)
        masks[self.owner, self.members] = True
        return masks

    def indices(self) -> NDArray[np.int64]:
        """Subset indices, for at most 62 players."""
        if self.n_players > 62:
            msg = f"{self.n_players} players do not fit a 64-bit subset index; use `numbers()` or `words`."
            raise ValueError(msg)
        return self.words[:, 0].astype(np.int64)

    def numbers(self) -> list[int]:
        """Subset indices as Python integers, for any number of players."""
        width = self.words.shape[1] * 8
        raw = np.ascontiguousarray(self.words.astype("<u8")).tobytes()
        return [int.from_bytes(raw[start : start + width], "little") for start in range(0, len(raw), width)]

    def take(self, chosen: NDArray[Any]) -> Coalitions:
        """Some of the coalitions, by index array or boolean mask."""
        rows = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else np.asarray(chosen, dtype=np.int64)
        sizes = self.sizes[rows]
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        position = np.arange(indptr[-1]) - np.repeat(indptr[:-1] - self.indptr[rows], sizes)
        return Coalitions(self.n_players, indptr, self.members[position])

    def sum_by_player(self, values: NDArray[np.float64], *, least: int = 1) -> NDArray[np.float64]:
        """For each player the sum of a number per coalition over the coalitions that hold it.

        Args:
            values: Shape (coalitions,).
            least: Only coalitions of at least so many players.
        """
        if least > 1:
            values = np.where(self.sizes >= least, values, 0.0)
        totals = np.bincount(self.members, weights=np.repeat(values, self.sizes), minlength=self.n_players)
        return totals.astype(np.float64)  # whole numbers where there is nothing to count

    def inside(self, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which coalitions lie inside one set given as words: shape (coalitions,)."""
        inside = (self.words[:, 0] & ~words[0]) == 0
        for position in range(1, self.words.shape[1]):
            inside &= (self.words[:, position] & ~words[position]) == 0
        return inside

    @classmethod
    def from_masks(cls, masks: Any) -> Coalitions:
        """From membership rows, shape (coalitions, players)."""
        present = np.asarray(masks, dtype=np.bool_)
        if present.ndim != 2:
            msg = f"masks has shape {present.shape}; expected (coalitions, players)."
            raise ValueError(msg)
        owner, members = np.nonzero(present)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(present)))])
        return cls(present.shape[1], indptr.astype(np.int64), members.astype(np.int32))

    @classmethod
    def from_indices(cls, indices: Any, n_players: int) -> Coalitions:
        """From subset indices, bit j is player j."""
        given = np.asarray(indices, dtype=np.int64)
        return cls.from_masks((given[:, None] >> np.arange(n_players) & 1).astype(np.bool_))

    @classmethod
    def from_sets(cls, sets: Iterable[Iterable[int]], n_players: int) -> Coalitions:
        """From sets of players.

        Raises:
            ValueError: If a player is out of range or named twice.
        """
        listed = [sorted(player_index(player) for player in members) for members in sets]
        for members in listed:
            if members and (members[0] < 0 or members[-1] >= n_players):
                msg = f"the coalition {members} names a player out of range; allowed: 0 to {n_players - 1}."
                raise ValueError(msg)
            if len(set(members)) != len(members):
                msg = f"the coalition {members} names a player twice."
                raise ValueError(msg)
        flat = np.array([player for members in listed for player in members], dtype=np.int32)
        sizes = np.array([len(members) for members in listed], dtype=np.int64)
        return cls(n_players, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), flat)


def as_words(masks: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Membership rows as bitsets: (m, players) -> (m, words)."""
    rows, players = masks.shape
    width = max(1, -(-players // _WORD))
    padded = np.zeros((rows, width * _WORD), dtype=np.bool_)
    padded[:, :players] = masks
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def merged(parts: list[Coalitions]) -> tuple[Coalitions, list[NDArray[np.int64]]]:
    """The union of lists of coalitions, and for each list where its coalitions went."""
    keys = np.concatenate([part.keys for part in parts])
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # in order of first appearance
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    members = np.concatenate([part.members for part in parts])
    sizes = np.concatenate([part.sizes for part in parts])
    everything = Coalitions(parts[0].n_players, np.concatenate([[0], np.cumsum(sizes)]), members)
    ends = np.cumsum([0, *(len(part) for part in parts)])
    places = rank[inverse]
    return everything.take(first[order]), [places[start:end] for start, end in pairwise(ends)]


def bits_of(words: NDArray[Any]) -> NDArray[np.int64]:
    """How many bits are set in each of some unsigned words, shape (words,); NumPy counts them itself since 2.0 only."""
    raw = np.ascontiguousarray(words)
    return _BITS_OF_BYTES[raw.view(np.uint8)].reshape(len(raw), raw.itemsize).sum(axis=1, dtype=np.int64)
