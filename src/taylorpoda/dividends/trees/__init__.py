"""Tree ensembles: read from their libraries, laid out for players, and their games in closed form."""

from __future__ import annotations

from taylorpoda.dividends.trees.ensemble import Ensemble, NoTreesError, UnsupportedTreesError
from taylorpoda.dividends.trees.game import TreeGame, make_game
from taylorpoda.dividends.trees.readers import read_ensemble

__all__ = ["Ensemble", "NoTreesError", "TreeGame", "UnsupportedTreesError", "make_game", "read_ensemble"]
