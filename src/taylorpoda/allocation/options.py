"""The options of `allocate`, checked once for every policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from taylorpoda._support.choices import check_choice
from taylorpoda._support.integers import whole_number

MARGIN = 1e-6
DRAWS = ("shared", "independent")


@dataclass(frozen=True, eq=False)
class Options:
    """What a policy may read besides the games and the utility; the meaning is that of `allocate`."""

    candidates: int = 16
    alpha: float = 1.0
    draws: str = "shared"
    shares: Any = None
    margin: float = MARGIN
    node_limit: int | None = None
    time_limit: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what no policy could use."""
        object.__setattr__(self, "candidates", whole_number("candidates", self.candidates, least=1))
        if self.node_limit is not None:
            object.__setattr__(self, "node_limit", whole_number("node_limit", self.node_limit, least=0))
        check_choice("draws", self.draws, DRAWS)
        object.__setattr__(self, "alpha", _number("alpha", self.alpha, positive=True))
        object.__setattr__(self, "margin", _number("margin", self.margin, positive=False))
        if self.time_limit is not None:
            object.__setattr__(self, "time_limit", _number("time_limit", self.time_limit, positive=False))


def _number(parameter: str, value: Any, *, positive: bool) -> float:
    allowed = "a finite number > 0" if positive else "a finite number >= 0"
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        msg = f"{parameter}={value!r} has type {type(value).__name__}; allowed: {allowed}."
        raise TypeError(msg)
    number = float(value)
    if not np.isfinite(number) or number < 0 or (positive and number == 0):
        msg = f"{parameter}={value!r} is not allowed; allowed: {allowed}."
        raise ValueError(msg)
    return number
