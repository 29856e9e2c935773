"""The conditional value function, learned once and then known for every coalition of every row."""

from __future__ import annotations

from taylorpoda.games.masking.conditional.rule import Conditional
from taylorpoda.games.masking.conditional.storage import load_surrogate
from taylorpoda.games.masking.conditional.surrogate import Surrogate

__all__ = ["Conditional", "Surrogate", "load_surrogate"]
