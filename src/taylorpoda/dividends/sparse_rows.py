"""The dividends of many games in one ragged container: every game keeps only its own coalitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.dividends.sparse import SparseDividends
from taylorpoda.dividends.sparse_coalitions import merged

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from taylorpoda.dividends.sparse_coalitions import Coalitions


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Games that share one list of coalitions, each with its own part of it.

    Attributes:
        coalitions: All coalitions that any game has.
        indptr: Shape (games + 1,): where each game's dividends start.
        numbers: The coalition of each dividend.
        values: The dividends.
    """

    coalitions: Coalitions
    indptr: NDArray[np.int64]
    numbers: NDArray[np.int32]
    values: NDArray[np.float64]

    @property
    def n_players(self) -> int:
        """How many players every game has."""
        return self.coalitions.n_players

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __repr__(self) -> str:
        """How many games and dividends."""
        return f"SparseRows({len(self)} games, {len(self.values)} dividends, {self.n_players} players)"

    def __getitem__(self, game: int) -> SparseDividends:
        """The dividends of one game; negative numbers count from the end."""
        if not -len(self) <= game < len(self):
            msg = f"game {game} is out of range; there are {len(self)}."
            raise IndexError(msg)
        part = slice(self.indptr[game % len(self)], self.indptr[game % len(self) + 1])
        return SparseDividends(self.coalitions.take(self.numbers[part]), self.values[part])

    def __iter__(self) -> Iterator[SparseDividends]:
        return (self[game] for game in range(len(self)))

    @property
    def _game(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self)), np.diff(self.indptr))

    def _by_player(self, values: NDArray[np.float64], *, least: int = 1) -> NDArray[np.float64]:
        """Sums over the coalitions of each game that hold each player, shape (games, players)."""
        sizes = self.coalitions.sizes[self.numbers]
        values = np.where(sizes >= least, values, 0.0)
        members = self.coalitions.take(self.numbers).members
        cell = np.repeat(self._game, sizes) * self.n_players + members
        flat = np.bincount(cell, weights=np.repeat(values, sizes), minlength=len(self) * self.n_players)
        return np.asarray(flat, dtype=np.float64).reshape(len(self), self.n_players)

    def shapley(self) -> NDArray[np.float64]:
        """Shapley values, shape (games, players)."""
        return self._by_player(self.values / np.maximum(self.coalitions.sizes[self.numbers], 1))

    def occlusion(self) -> NDArray[np.float64]:
        """OCC-1, shape (games, players)."""
        return self._by_player(self.values)

    def intervals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Admissible intervals, each (games, players)."""
        single = self._by_player(np.where(self.coalitions.sizes[self.numbers] == 1, self.values, 0.0))
        loss = self._by_player(np.maximum(-self.values, 0.0), least=2)
        return single - loss, single + self._by_player(np.maximum(self.values, 0.0), least=2)

    def full_values(self) -> NDArray[np.float64]:
        """v(N), shape (games,)."""
        return np.asarray(np.bincount(self._game, weights=self.values, minlength=len(self)), dtype=np.float64)

    @classmethod
    def from_games(cls, games: Sequence[SparseDividends]) -> SparseRows:
        """Gather games over the same players.

        Raises:
            ValueError: If there are none, or the numbers of players differ.
        """
        counts = {game.n_players for game in games}
        if len(counts) != 1:
            msg = f"games of {sorted(counts)} players cannot be gathered; they need the same players."
            raise ValueError(msg)
        union, places = merged([game.coalitions for game in games])
        indptr = np.concatenate([[0], np.cumsum([len(game) for game in games])]).astype(np.int64)
        numbers = np.concatenate(places).astype(np.int32)
        return cls(union, indptr, numbers, np.concatenate([game.values for game in games]))

    @classmethod
    def from_matrix(cls, coalitions: Coalitions, values: NDArray[np.float64]) -> SparseRows:
        """From dividends of every coalition in every game, shape (games, coalitions); zeros are dropped."""
        game, number = np.nonzero(values)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(game, minlength=len(values)))]).astype(np.int64)
        return cls(coalitions, indptr, number.astype(np.int32), values[game, number])
