"""What a utility may know about sparse games, and the built-in terms of values that are not in a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.utilities import make_context

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.base import SparseGames
    from taylorpoda.utilities import Utility

MOST_PLAYERS = 20  # of a table that a user's own utility may ask for


@dataclass(frozen=True, eq=False)
class SparseContext:
    """The context of sparse games: everything a `Context` has; the table only where players are few.

    Attributes:
        games: The games.
        target: Shape (...): the label of each row, or None.
        row: The flat number of the one row it speaks of, or None for all.
    """

    games: SparseGames
    target: Any = None
    row: int | None = None

    @property
    def lead(self) -> tuple[int, ...]:
        """The leading axes: those of the games, none for a single row."""
        return self.games.lead if self.row is None else ()

    @property
    def n_players(self) -> int:
        """How many players."""
        return self.games.n_players

    @property
    def threshold(self) -> float:
        """Values above it are labeled 1."""
        return self.games.threshold

    @property
    def full_value(self) -> Any:
        """f(x), shape (...)."""
        return self._of(self.games.full)

    @property
    def base_value(self) -> Any:
        """v(empty), shape (...)."""
        return self._of(self.games.base)

    def _of(self, array: Any) -> Any:
        return array if self.row is None else np.reshape(array, -1)[self.row]

    @property
    def _rows(self) -> list[int]:
        return list(range(prod(self.games.lead))) if self.row is None else [self.row]

    def value_of(self, coalitions: Any) -> NDArray[np.float64]:
        """The values of coalitions given as membership rows.

        Args:
            coalitions: Boolean array of shape (..., m, n) that broadcasts against the leading axes.

        Returns:
            Array of shape (..., m).
        """
        present = np.asarray(coalitions, dtype=np.bool_)
        lead = np.broadcast_shapes(present.shape[:-2], self.lead)
        whole = np.broadcast_to(present, (*lead, *present.shape[-2:]))
        if lead != self.lead:  # more axes than there are games: all of them belong to the one row
            if self.lead:
                msg = f"coalitions have shape {present.shape}; the axes before the last two must match {self.lead}."
                raise ValueError(msg)
            listed = whole.reshape(-1, self.n_players)
            return np.asarray(self.games.dividends(self._rows[0]).value_of(listed)).reshape(whole.shape[:-1])
        flat = whole.reshape(len(self._rows), -1, self.n_players)
        values = [self.games.dividends(row).value_of(masks) for row, masks in zip(self._rows, flat, strict=True)]
        return np.array(values).reshape(whole.shape[:-1])

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The whole table, shape (..., 2**n), for few players.

        Raises:
            ValueError: If there are too many players for one.
        """
        from taylorpoda.dividends.dense import values_from

        if self.n_players > MOST_PLAYERS:
            msg = (
                f"context.values is a table of 2**n values, and there are {self.n_players} players (at most "
                f"{MOST_PLAYERS} here); a utility for sparse games reads context.value_of(coalitions), "
                "context.full_value and context.base_value."
            )
            raise ValueError(msg)
        tables = [values_from(self.games.dividends(row).to_dense()) for row in self._rows]
        return np.array(tables).reshape(*self.lead, 1 << self.n_players)

    @cached_property
    def labels(self) -> NDArray[np.int64] | None:
        """The class predicted from each coalition where classes compete, shape (..., 2**n), for few players."""
        from taylorpoda.dividends.dense import values_from

        if not self.games.competing or self.n_players > MOST_PLAYERS:
            return None
        tables = []
        for row in self._rows:
            rivals = self.games.rivals(row)
            tables.append(np.argmax([values_from(game.to_dense()) for game in rivals], axis=0))
        return np.array(tables).reshape(*self.lead, 1 << self.n_players)


def context_of(games: SparseGames, utility: Utility, target: Any) -> SparseContext:
    """Check the target against the games and the utility, by the rules of the dense room."""
    nobody = np.zeros((*games.lead, 1))  # a table of no players: the checks read its leading axes
    checked = make_context(
        nobody,
        utility,
        target,
        threshold=games.threshold,
        labels=np.zeros(nobody.shape, dtype=np.int64) if games.competing else None,
    )
    return SparseContext(games, checked.target)
