"""Coalitions as indices and as rows of booleans: bit j of an index is player j, set = present."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def members(indices: NDArray[np.int64], n_players: int) -> NDArray[np.bool_]:
    """Indices to booleans: shape (m,) -> (m, n_players)."""
    words = np.ascontiguousarray(indices, dtype="<i8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(words, axis=1, count=n_players, bitorder="little").view(np.bool_)


def all_coalitions(n_players: int, start: int = 0, stop: int | None = None) -> NDArray[np.bool_]:
    """The coalitions with index start .. stop-1, shape (stop - start, n_players)."""
    last = 1 << n_players if stop is None else stop
    return members(np.arange(start, last), n_players)


def index_of(coalitions: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Booleans to indices: shape (m, n_players) -> (m,)."""
    return np.asarray(coalitions @ (1 << np.arange(coalitions.shape[-1], dtype=np.int64)))


def describe(coalition: NDArray[np.bool_], names: tuple[str, ...] | None = None) -> str:
    """A coalition a person reads: "{age, sex}" or "{0, 3}"."""
    present = np.flatnonzero(coalition)
    labels = [names[player] if names is not None else str(player) for player in present[:8]]
    more = f", ... {len(present)} players" if len(present) > 8 else ""
    return "{" + ", ".join(labels) + more + "}"
