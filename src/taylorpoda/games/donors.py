"""Donor rows that agree with one another: what decides whether hybrid rows of two donors coincide."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHUNK = 2**22


@dataclass(frozen=True)
class Coincidences:
    """Where the donors of a block give the same hybrid row.

    Attributes:
        first: Shape (2**n, k): for the players present, the first donor with the same cells in all the others.
        sets: The sets of present players for which some two donors do.
    """

    first: NDArray[np.int32]
    sets: NDArray[np.intp]


@dataclass(frozen=True)
class DonorBlock:
    """Some donors, with what does not depend on the explained row worked out once.

    Attributes:
        donors: Their positions.
        weights: Shape (k,).
        outputs: The model on the donors themselves, shape (k, outputs).
        codes: Shape (k, n): the cells of each player as integers.
    """

    donors: NDArray[np.intp]
    weights: NDArray[np.float64]
    outputs: NDArray[np.float64]
    codes: NDArray[np.int64]

    @cached_property
    def agreements(self) -> NDArray[np.int64]:
        """The sets of players on which some two donors agree, as distinct indices."""
        n = self.codes.shape[1]
        repeated = [j for j in range(n) if len(np.unique(self.codes[:, j])) < len(self.codes)]
        found = [np.zeros(1, dtype=np.int64)]
        step = max(1, _CHUNK // max(len(self.codes), 1))
        for start in range(0, len(self.codes) if repeated else 0, step):
            some = self.codes[start : start + step]
            agree = np.zeros((len(some), len(self.codes)), dtype=np.int64)
            for j in repeated:
                agree |= (some[:, None, j] == self.codes[None, :, j]).astype(np.int64) << j
            later = np.arange(len(self.codes))[None, :] > np.arange(start, start + len(some))[:, None]
            found.append(np.unique(agree[later]))
        return np.unique(np.concatenate(found))

    @property
    def distinct(self) -> bool:
        """Whether no two donors agree on any player."""
        return len(self.agreements) == 1

    def coincidences(self, working: int) -> Coincidences:
        """Which donors give the same hybrid row, for every set of present players.

        Two of them do exactly where the set covers every player on which they differ.

        Args:
            working: Bytes that finding out may take besides the answer.
        """
        first = np.tile(np.arange(len(self.codes), dtype=np.int32), (1 << self.codes.shape[1], 1))
        sets = self._coinciding_sets()
        step = max(1, min(_CHUNK, working // 64) // len(self.codes))
        for start in range(0, len(sets), step):
            some = sets[start : start + step]
            first[some] = self._first(len(first) - 1 - some)
        return Coincidences(first, sets)

    def _coinciding_sets(self) -> NDArray[np.intp]:
        size, n = self.codes.shape
        alike = np.zeros(1 << n, dtype=bool)  # absent sets on which some two donors agree: subsets of an agreement
        alike[self.agreements] = True
        alike[0] = size > 1
        for j in range(n):
            halves = alike.reshape(-1, 2, 1 << j)
            halves[:, 0] |= halves[:, 1]
        return len(alike) - 1 - np.flatnonzero(alike)

    def _first(self, absent: NDArray[np.intp]) -> NDArray[np.int32]:
        """The first donor of each class, for some sets of absent players: shape (m, k)."""
        size, n = self.codes.shape
        label = np.zeros((len(absent), size), dtype=np.int64)
        for j in range(n):
            inside = np.flatnonzero(absent >> j & 1)
            if not len(inside):
                continue
            # Class numbers stay below k, so that one more player never overflows.
            _, code = np.unique(self.codes[:, j], return_inverse=True)
            finer = label[inside] * size + code.reshape(-1)
            order = np.argsort(finer, axis=1, kind="stable")
            ordered = np.take_along_axis(finer, order, axis=1)
            rank = np.cumsum(np.diff(ordered, axis=1, prepend=ordered[:, :1]) != 0, axis=1)
            renumbered = np.empty_like(finer)
            np.put_along_axis(renumbered, order, rank, axis=1)
            label[inside] = renumbered
        order = np.argsort(label, axis=1, kind="stable")
        ordered = np.take_along_axis(label, order, axis=1)
        fresh = np.diff(ordered, axis=1, prepend=-1) != 0
        place = np.maximum.accumulate(np.where(fresh, np.arange(size), 0), axis=1)
        first = np.empty((len(absent), size), dtype=np.int32)
        np.put_along_axis(first, order, np.take_along_axis(order, place, axis=1).astype(np.int32), axis=1)
        return first
