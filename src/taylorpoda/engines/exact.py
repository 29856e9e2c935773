"""The exact engine: the 2**n table of every row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from taylorpoda._support.arrays import players_of
from taylorpoda.allocation import allocate
from taylorpoda.dividends.dense import harsanyi
from taylorpoda.engines.base import Engine, Solution, SolvedGames
from taylorpoda.utilities import score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from taylorpoda.allocation.result import Allocation
    from taylorpoda.games.evaluation import Evaluator
    from taylorpoda.games.masking.base import DirectMasking, HybridMasking
    from taylorpoda.games.models.base import BoundModel
    from taylorpoda.games.tables.base import Table
    from taylorpoda.utilities import Utility


@dataclass(frozen=True, eq=False)
class DenseGames(SolvedGames):
    """Games as tables of all their values.

    Attributes:
        values: Shape (rows, outputs, 2**n).
        threshold: Values above it are labeled 1 by the AUC utilities.
        labels: Shape (rows, 2**n): the class predicted from each coalition where classes compete, or None.
    """

    engine: ClassVar[str] = "exact"
    values: NDArray[np.float64]
    threshold: float = 0.5
    labels: NDArray[np.int64] | None = None

    @cached_property
    def n_players(self) -> int:  # type: ignore[override]
        """Players of every game."""
        return int(self.values.shape[-1]).bit_length() - 1

    @property
    def full(self) -> NDArray[np.float64]:
        """v(N)."""
        return self.values[..., -1]

    @property
    def base(self) -> NDArray[np.float64]:
        """v(empty)."""
        return self.values[..., 0]

    def allocate(
        self,
        *,
        policy: str,
        utility: str | Utility,
        target: NDArray[np.float64] | None,
        options: Mapping[str, Any],
    ) -> Allocation:
        """Allocate every game from its table."""
        return allocate(
            self.values,
            utility,
            policy,
            target,
            threshold=self.threshold,
            labels=self.labels,
            **dict(options),
        )

    def score(
        self, attributions: NDArray[np.float64], utility: str | Utility, target: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Score attributions from the table."""
        return np.asarray(
            score(attributions, self.values, utility, target, threshold=self.threshold, labels=self.labels)
        )

    def dividends(self, row: int, output: int) -> NDArray[np.float64]:
        """The 2**n dividends of one game."""
        return np.asarray(harsanyi(self.values[row, output]))

    def interactions(self, order: int) -> NDArray[np.float64]:
        """Dividends by up to `order` players; indices that repeat name the smaller set."""
        sets = np.zeros((), dtype=np.int64)
        for _ in range(order):
            sets = sets[..., None] | (1 << np.arange(self.n_players))
        return np.asarray(harsanyi(self.values)[..., sets])

    def take(self, rows: Any, outputs: Any) -> DenseGames:
        """Some rows and outputs."""
        labels = None if self.labels is None else self.labels[rows]
        return DenseGames(self.values[rows][:, outputs], self.threshold, labels)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The table, the threshold and the labels."""
        arrays: dict[str, NDArray[Any]] = {"values": self.values, "threshold": np.array(self.threshold)}
        if self.labels is not None:
            arrays["labels"] = self.labels
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> DenseGames:
        """Rebuild from `to_arrays`, checked: the arrays may come out of any file."""
        values, labels = arrays["values"], arrays.get("labels")
        if values.ndim != 3 or values.dtype != np.float64 or not np.isfinite(values).all():
            msg = f"games of shape {values.shape[:8]} and dtype {values.dtype} are no finite tables"
            raise ValueError(msg)
        players_of(values.shape[2])
        if labels is not None and (labels.shape != values.shape[::2] or labels.dtype.kind not in "iu"):
            msg = f"labels of shape {labels.shape[:8]} and dtype {labels.dtype} do not belong to their games"
            raise ValueError(msg)
        return cls(values, float(arrays["threshold"]), labels)


class ExactEngine(Engine):
    """Evaluates every coalition of every row.

    Args:
        model: The bound model.
        masking: The fitted masking rule.
        evaluator: The evaluation engine over both.
    """

    name = "exact"

    def __init__(self, model: BoundModel, masking: HybridMasking | DirectMasking, evaluator: Evaluator) -> None:
        self._model = model
        self._masking = masking
        self._evaluator = evaluator

    def solve(self, rows: Table) -> Solution:
        """The tables of these rows; v(N) is the model's own answer from one call on all of them."""
        predictions = self._evaluator.predictions(rows)
        values = self._evaluator.tables(rows, predictions)
        labels = values.argmax(axis=1) if self._model.competing else None
        games = DenseGames(values, self._model.threshold, labels)
        if len(self._model.explained) < values.shape[1]:  # else the copy would take as much as the tables
            games = games.take(slice(None), self._model.explained)
        return Solution(games, np.zeros(games.full.shape), self)

    def rows_per_row(self) -> int:
        """All coalitions with all donors."""
        return self._evaluator.rows_per_row()

    def describe(self) -> dict[str, Any]:
        """The masking rule's own words."""
        return self._masking.describe()
