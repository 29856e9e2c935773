"""What stands in for an absent feature: the two seams every masking rule fits.

A rule either supplies *donor rows* whose cells fill the absent columns (`HybridMasking`: the engine then
builds the hybrid rows and calls the model), or it knows v(S) itself (`DirectMasking`: a trained surrogate,
say).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from taylorpoda.games.models.base import BoundModel
    from taylorpoda.games.players import Players
    from taylorpoda.games.tables.base import Table


@dataclass(frozen=True)
class MaskingContext:
    """What a masking rule is fitted on.

    Attributes:
        background: The background rows, in the user's container.
        weights: Shape (background rows,), non-negative, summing to 1.
        model: The model that is explained, bound to the outputs that are explained.
        players: How columns make players.
        seed: The seed of the explainer; draw with `taylorpoda._support.seeds.stream(seed, ...)`.
        max_memory: Bytes that arrays may take.
    """

    background: Table
    weights: NDArray[np.float64]
    model: BoundModel
    players: Players
    seed: int
    max_memory: int


@runtime_checkable
class Masking(Protocol):
    """A masking rule before it has seen data: a name and a `fit`."""

    @property
    def name(self) -> str:
        """What provenance calls it; an attribute will do."""
        ...

    def fit(self, context: MaskingContext) -> HybridMasking | DirectMasking:
        """Bind the rule to a background and a model."""
        ...


@dataclass(frozen=True)
class StandIns:
    """Donor rows for coalitions of one explained row.

    Attributes:
        donors: The table the donor rows come from.
        index: Donor rows, shape (k,) if all coalitions share them, else (m, k).
        weights: Their weights, same shape as `index`, each coalition's summing to 1.
    """

    donors: Table
    index: NDArray[np.intp]
    weights: NDArray[np.float64]

    @property
    def shared(self) -> bool:
        """Whether every coalition has the same donors and weights."""
        return self.index.ndim == 1


@dataclass(frozen=True)
class Measured:
    """How well a rule did on rows it was not fitted on.

    Attributes:
        heldout_error: E[(f(x) - v_S(x))^2] over held-out rows and random coalitions; None if it was not measured.
        details: What else is known of it.
    """

    heldout_error: float | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """What provenance says about it."""
        return {**self.details, "heldout_error": self.heldout_error}


class HybridMasking(ABC):
    """v(S) = weighted mean of the model over hybrid rows: present cells from x, absent ones from donors.

    Attributes:
        name: What provenance calls it.
        depends_on_row: Whether the donors differ from row to row.
        coalitions_at_once: How many coalitions `stand_ins` is asked about at most; None for as many as a batch takes.
        measured: How well it did, if that is known.
    """

    name: str
    depends_on_row: bool = False
    coalitions_at_once: int | None = None
    measured: Measured | None = None

    @abstractmethod
    def stand_ins(self, rows: Table, row: int, columns: NDArray[np.bool_]) -> StandIns:
        """Donors for one explained row.

        Args:
            rows: The explained rows.
            row: Which of them.
            columns: Shape (m, n_columns): the columns each coalition knows.

        Returns:
            Donor rows and weights.
        """

    @abstractmethod
    def rows_per_coalition(self) -> int:
        """How many hybrid rows one coalition costs (for budgets and messages)."""

    def describe(self) -> dict[str, Any]:
        """What provenance says about this rule."""
        rows = {"masking": self.name, "rows_per_coalition": self.rows_per_coalition()}
        return {**rows, **(self.measured.describe() if self.measured is not None else {})}


class DirectMasking(ABC):
    """v(S) known without hybrid rows. v(N) is still the model's own output; the engine sees to that."""

    name: str
    measured: Measured | None = None

    @abstractmethod
    def values(self, rows: Table, coalitions: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Values of all coalitions of all rows.

        Args:
            rows: r explained rows.
            coalitions: Shape (m, n_players), the same for every row.

        Returns:
            Shape (r, m, outputs).
        """

    def describe(self) -> dict[str, Any]:
        """What provenance says about this rule."""
        return {"masking": self.name, **(self.measured.describe() if self.measured is not None else {})}
