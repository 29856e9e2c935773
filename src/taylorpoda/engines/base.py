"""What an engine gives: games whose dividends are known, ready to be allocated any number of times."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from taylorpoda.allocation.result import Allocation
    from taylorpoda.games.masking.base import Masking
    from taylorpoda.games.models.base import BoundModel
    from taylorpoda.games.players import Players
    from taylorpoda.games.tables.base import Table
    from taylorpoda.utilities import Utility


class SolvedGames(ABC):
    """The games of some rows and outputs; axes are always (rows, outputs).

    Attributes:
        engine: The engine's name.
        n_players: Players of every game.
    """

    engine: ClassVar[str]
    n_players: int

    @property
    @abstractmethod
    def full(self) -> NDArray[np.float64]:
        """v(N), shape (rows, outputs)."""

    @property
    @abstractmethod
    def base(self) -> NDArray[np.float64]:
        """v(empty), shape (rows, outputs)."""

    @abstractmethod
    def allocate(
        self,
        *,
        policy: str,
        utility: str | Utility,
        target: NDArray[np.float64] | None,
        options: Mapping[str, Any],
    ) -> Allocation:
        """Allocate every game; leading axes (rows, outputs)."""

    @abstractmethod
    def score(
        self, attributions: NDArray[np.float64], utility: str | Utility, target: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Score attributions (rows, outputs, n): shape (rows, outputs)."""

    @abstractmethod
    def dividends(self, row: int, output: int) -> Any:
        """The dividends of one game: an array of 2**n, or a sparse container."""

    @abstractmethod
    def interactions(self, order: int) -> NDArray[np.float64]:
        """Dividends of all sets of up to `order` players, shape (rows, outputs, n, ..., n) with `order` axes of n."""

    @abstractmethod
    def take(self, rows: Any, outputs: Any) -> SolvedGames:
        """Some rows and outputs, each an index array or a slice."""

    @abstractmethod
    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything as plain arrays, for saving."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> SolvedGames:
        """Rebuild from `to_arrays`."""


@dataclass(frozen=True)
class Solution:
    """What an engine returns for a batch of rows.

    Attributes:
        games: The solved games.
        rounding: Shape (rows, outputs): the model's own answer minus v(N).
        engine: The engine that solved them.
    """

    games: SolvedGames
    rounding: NDArray[np.float64]
    engine: Engine


@dataclass(frozen=True, eq=False)
class Problem:
    """What an explainer was asked, as an engine sees it.

    Attributes:
        estimator: The user's own model.
        model: The same, bound to the outputs that are explained.
        output: The user's `output`.
        link: The user's `link`.
        masking: The rule for absent features, not yet fitted.
        background: The background rows, or None.
        weights: Shape (background rows,), summing to 1, or None.
        players: How columns make players.
        seed: The explainer's seed.
        max_memory: Bytes our arrays may take.
        n_jobs: Threads across explained rows, or None.
    """

    estimator: Any
    model: BoundModel
    output: Any
    link: str | None
    masking: Masking
    background: Table | None
    weights: NDArray[np.float64] | None
    players: Players
    seed: int
    max_memory: int
    n_jobs: int | None


class Engine(ABC):
    """Solves the games of rows.

    Attributes:
        name: The engine's name.
        reason: Why it was chosen, in words.
        rows_besides: Model rows it has evaluated besides those that the bound model counts.
    """

    name: ClassVar[str]
    reason: str = ""
    rows_besides: int = 0

    @abstractmethod
    def solve(self, rows: Table) -> Solution:
        """The games of these rows."""

    def rows_per_row(self) -> int:
        """Model rows that one explained row costs at most; 1, its own prediction, where games have a closed form."""
        return 1

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What provenance says about the engine and its value function."""
