"""How good any other allocation could have been: solved only when somebody asks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import to_numpy
from taylorpoda.allocation.optimal import ceiling, solve
from taylorpoda.allocation.result import kind_of
from taylorpoda.utilities import score_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.game import Games
    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.solving import Solved
    from taylorpoda.utilities import Utility


@dataclass(frozen=True, eq=False)
class Yardstick:
    """The optimum of the same games and utility, for attributions that were chosen otherwise.

    Attributes:
        games: The games.
        utility: What judges.
        options: How hard to look.
        attributions: What is judged, shape (..., n).
    """

    games: Games
    utility: Utility
    options: Options
    attributions: Any

    @cached_property
    def _solved(self) -> Solved:
        return solve(self.games, self.utility, self.options)

    @cached_property
    def _cost(self) -> NDArray[np.float64]:
        score = to_numpy(score_in(self.games.context, self.utility, self.attributions)).reshape(-1)
        return -score if self.utility.higher_is_better else score

    @cached_property
    def _certified(self) -> NDArray[np.bool_]:
        if not self.utility.additive:
            return np.zeros(len(self._cost), dtype=np.bool_)
        return np.asarray(self._cost <= self._solved.bound + self._solved.tolerance)

    def bound(self) -> Any:
        """The best score an admissible attribution can have, shape (...); infinite where nothing can be proven."""
        if not self.utility.additive:
            return self._score(np.full(len(self._cost), -np.inf))
        return self._score(np.where(self._certified, self._cost, np.minimum(self._solved.bound, self._cost)))

    def ceiling(self) -> Any:
        """The best score any ranking could have, shape (...)."""
        if not self.utility.additive:
            return self._score(np.full(len(self._cost), -np.inf))
        score = -self._cost if self.utility.higher_is_better else self._cost
        return self._shaped(ceiling(self.games, self.utility, score))

    def certified(self) -> Any:
        """Whether the attributions reach the bound, shape (...)."""
        return self._shaped(self._certified)

    def nearest_certified(self) -> Any:
        """Whether besides they are the Shapley values themselves, shape (...): nothing else is tried."""
        same = np.all(to_numpy(self.attributions) == to_numpy(self.games.shapley), axis=-1).reshape(-1)
        return self._shaped(self._certified & same)

    def _score(self, cost: NDArray[np.float64]) -> Any:
        return self._shaped(0.0 - cost if self.utility.higher_is_better else cost)

    def _shaped(self, flat: NDArray[Any]) -> Any:
        return kind_of(self.games.values, flat.reshape(self.games.lead))
