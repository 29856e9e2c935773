"""Solved games out of a file: a new kind of games is one entry here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from taylorpoda._support.choices import check_choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from taylorpoda.engines.base import SolvedGames

_GAMES = {
    "exact": ("taylorpoda.engines.exact", "DenseGames"),
    "trees": ("taylorpoda.engines.tree_games", "TreeGames"),
}


def games_of(engine: str, arrays: Mapping[str, NDArray[Any]]) -> SolvedGames:
    """Rebuild the games that an engine solved from their `to_arrays`.

    Args:
        engine: The engine's name.
        arrays: The arrays by name.

    Raises:
        ValueError: If no engine of this name stores games, or the arrays are not its own.
    """
    module, name = _GAMES[check_choice("engine", engine, _GAMES)]
    games: SolvedGames = getattr(importlib.import_module(module), name).from_arrays(arrays)
    return games
