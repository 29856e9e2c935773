"""Rows as standardized features: what a network or a distance reads."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.games.masking.cells import UNSEEN, CellReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from taylorpoda.games.tables.base import Table

_NUMBER, _GAP, _LEVEL = 0, 1, 2
# Beyond this many deviations a number counts by its logarithm: incomes and occupancies have long tails.
_LINEAR_RANGE = 3.0
_NORMAL_QUARTILES = 1.3489795003921634
# Indicators of levels rarer than all these share "none of them".
_MOST_LEVELS = 50
_SMALLEST_DEVIATION = 0.05


@dataclass(frozen=True)
class Encoder:
    """Reads a table's cells and encodes them as e features.

    A number gives one feature, linear around its median and logarithmic in the tails, and another one that says where
    it is missing, if the background misses any. A category gives one indicator per level. Features are standardized;
    0 is what is known of a missing number and of a level the background never had. Columns that never vary give none.

    Attributes:
        reader: How cells are read.
        column: Shape (e,): the column behind each feature.
        role: Shape (e,): 0 for a number, 1 for where it is missing, 2 for a level.
        level: Shape (e,): which level.
        center: Shape (e,): a number's median.
        width: Shape (e,): a number's robust deviation.
        mean: Shape (e,): of the feature.
        deviation: Shape (e,): of the feature.
    """

    reader: CellReader
    column: NDArray[np.int64]
    role: NDArray[np.int64]
    level: NDArray[np.int64]
    center: NDArray[np.float64]
    width: NDArray[np.float64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    @property
    def n_features(self) -> int:
        """How many features, e."""
        return len(self.column)

    @classmethod
    def of(cls, background: Table, weights: NDArray[np.float64]) -> Encoder:
        """Learn the features from background rows and their weights."""
        reader = CellReader.of(background)
        cells = reader.read(background)[weights > 0]
        weights = weights[weights > 0]
        planned: list[tuple[int, int, int, float, float]] = []
        for j, column in enumerate(cells.T):
            planned += _levels_of(j, column, weights) if reader.categorical[j] else _numbers_of(j, column)
        plan = np.array(planned, dtype=np.float64).reshape(-1, 5)
        size = len(plan)
        raw = cls(
            reader,
            plan[:, 0].astype(np.int64),
            plan[:, 1].astype(np.int64),
            plan[:, 2].astype(np.int64),
            plan[:, 3],
            plan[:, 4],
            np.zeros(size),
            np.ones(size),
        )
        features = raw._features(cells)
        present = np.isfinite(features)
        mass = np.maximum(weights @ present, 1e-300)
        mean = weights @ np.where(present, features, 0.0) / mass
        variance = weights @ np.where(present, np.square(features - mean), 0.0) / mass
        deviation = np.maximum(np.sqrt(variance), np.where(raw.role == _NUMBER, 0.0, _SMALLEST_DEVIATION))
        varying = variance > 0
        kept = {name: array[varying] for name, array in raw.to_arrays().items()}
        return cls(reader=reader, **{**kept, "mean": mean[varying], "deviation": deviation[varying]})

    def in_unit_range(self, background: Table) -> Encoder:
        """The same features, numbers scaled to [0, 1] over the background: what the published experiments train on."""
        cells = self.reader.read(background)[:, self.column]
        finite = np.isfinite(cells)
        low = np.min(cells, axis=0, where=finite, initial=np.inf)
        high = np.max(cells, axis=0, where=finite, initial=-np.inf)
        number = self.role == _NUMBER
        return replace(
            self,
            center=np.where(number, low, self.center),
            width=np.where(number, high - low, self.width),
            mean=np.zeros(self.n_features),
            deviation=np.ones(self.n_features),
        )

    def encode(self, table: Table) -> NDArray[np.float64]:
        """Features of every row, shape (rows, e)."""
        features = (self._features(self.reader.read(table)) - self.mean) / self.deviation
        return np.where(np.isfinite(features), features, 0.0)

    def _features(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        features = np.empty((len(cells), self.n_features))
        for k, j in enumerate(self.column):
            column = cells[:, j]
            if self.role[k] == _NUMBER:
                number = np.where(np.isfinite(column), column, np.nan)
                features[:, k] = _soften((number - self.center[k]) / self.width[k])
            elif self.role[k] == _GAP:
                features[:, k] = ~np.isfinite(column)
            else:
                features[:, k] = np.where(column == UNSEEN, np.nan, column == self.level[k])
        return features

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays, for saving; the reader goes into `to_json`."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "reader"}

    @classmethod
    def from_arrays(cls, reader: CellReader, arrays: Mapping[str, NDArray[Any]]) -> Encoder:
        """Rebuild from `to_arrays`."""
        return cls(reader=reader, **{f.name: arrays[f.name] for f in fields(cls) if f.name != "reader"})


def _numbers_of(j: int, column: NDArray[np.float64]) -> list[tuple[int, int, int, float, float]]:
    present = column[np.isfinite(column)]
    if not len(present):
        return []
    low, center, high = np.percentile(present, [25, 50, 75])
    width = (high - low) / _NORMAL_QUARTILES or float(present.std())
    features = [(j, _NUMBER, 0, float(center), float(width))] if width > 0 else []
    if len(present) < len(column):
        features.append((j, _GAP, 0, 0.0, 1.0))
    return features


def _levels_of(
    j: int, column: NDArray[np.float64], weights: NDArray[np.float64]
) -> list[tuple[int, int, int, float, float]]:
    levels, place = np.unique(column, return_inverse=True)
    share = np.bincount(place.reshape(-1), weights=weights)
    often = np.sort(np.argsort(-share, kind="stable")[:_MOST_LEVELS])
    return [(j, _LEVEL, int(levels[k]), 0.0, 1.0) for k in often]


def _soften(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    size = np.abs(scores)
    tail = np.log1p(np.maximum(size - _LINEAR_RANGE, 0.0))
    return np.where(size > _LINEAR_RANGE, np.copysign(_LINEAR_RANGE + tail, scores), scores)
