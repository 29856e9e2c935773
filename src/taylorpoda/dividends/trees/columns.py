"""From a user's rows to the columns that splits read: casts, category codes, zeros and NaN as the library has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

PLAIN = 0
NAN_TO_ZERO = 1
ZERO_TO_NAN = 2
CODES = 3


@dataclass
class ColumnBook:
    """Hands out columns while a model is read: one per (feature, treatment).

    Attributes:
        entries: (feature, treatment, codes) of each column; `codes` is how many category codes a CODES
            column has.
    """

    entries: list[tuple[int, int, int]] = field(default_factory=list)
    _index: dict[tuple[int, int], int] = field(default_factory=dict)

    def column(self, feature: int, treatment: int = PLAIN, codes: int = 0) -> int:
        """The column for a feature under a treatment, made if it is new."""
        key = (feature, treatment)
        if key not in self._index:
            self._index[key] = len(self.entries)
            self.entries.append((feature, treatment, codes))
        position = self._index[key]
        known = self.entries[position]
        if codes > known[2]:
            self.entries[position] = (feature, treatment, codes)
        return position

    def columns(self, features: NDArray[Any], treatment: int = PLAIN) -> NDArray[np.int32]:
        """The columns of many features at once."""
        unique, inverse = np.unique(np.asarray(features), return_inverse=True)
        return np.array([self.column(int(feature), treatment) for feature in unique], dtype=np.int32)[inverse]

    @property
    def features(self) -> NDArray[np.int32]:
        """The feature of each column."""
        return np.array([entry[0] for entry in self.entries], dtype=np.int32)


@dataclass(frozen=True)
class TableEncoder:
    """Columns from a matrix of the features.

    Attributes:
        matrix: Rows to (rows, features), cast as the library casts.
        entries: (feature, treatment, codes) per column.
        truncate_first: Whether -0.5 counts as category 0 (truncated, then checked) rather than as no
            category.
    """

    matrix: Callable[[Any], NDArray[Any]]
    entries: tuple[tuple[int, int, int], ...]
    truncate_first: bool = False

    def encode(self, rows: Any) -> NDArray[np.float64]:
        """The columns, shape (columns, rows). A code c stays c; no category is `codes`, missing is `codes + 1`."""
        matrix = self.matrix(rows)
        columns = np.empty((len(self.entries), matrix.shape[0]))
        for position, (feature, treatment, codes) in enumerate(self.entries):
            columns[position] = self._treated(matrix[:, feature], treatment, codes)
        return columns

    def _treated(self, cells: NDArray[Any], treatment: int, codes: int) -> NDArray[Any]:
        if treatment == NAN_TO_ZERO:
            return np.where(np.isnan(cells), 0.0, cells)
        if treatment == ZERO_TO_NAN:
            return np.where(cells == 0, np.nan, cells)
        if treatment == CODES:
            with np.errstate(invalid="ignore"):
                whole = np.trunc(cells)
                lowest = whole if self.truncate_first else cells
                known = (lowest >= 0) & (whole < codes)
            return np.where(np.isnan(cells), codes + 1.0, np.where(known, np.abs(whole), float(codes)))
        return cells


def plain_matrix(rows: Any, dtype: Any, missing: float = np.nan) -> NDArray[Any]:
    """Numbers of an array or a DataFrame, cast; cells equal to `missing` become NaN.

    Raises:
        TypeError: If a cell is not a number.
    """
    with np.errstate(over="ignore"):
        if is_pandas(rows):
            matrix = np.empty((len(rows), rows.shape[1]), dtype=dtype)
            for position in range(rows.shape[1]):
                matrix[:, position] = numbers_of(rows.iloc[:, position])
        else:
            matrix = np.asarray(rows).astype(dtype)
    if not np.isnan(missing):
        matrix = np.where(matrix == np.asarray(missing, dtype=dtype), np.array(np.nan, dtype=dtype), matrix)
    return matrix


def is_pandas(rows: Any) -> bool:
    """Whether rows are a pandas DataFrame."""
    return type(rows).__module__.split(".")[0] == "pandas" and hasattr(rows, "iloc")


def numbers_of(series: Any) -> NDArray[Any]:
    """A pandas column as numbers, missing cells as NaN."""
    if series.dtype.kind in "fiub" and isinstance(series.dtype, np.dtype):
        return np.asarray(series.to_numpy())
    return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))


def is_category(series: Any) -> bool:
    """Whether a pandas column is categorical."""
    return str(series.dtype) == "category"


def category_codes(series: Any, categories: Sequence[Any] | None) -> NDArray[np.float64]:
    """Codes of a categorical pandas column by the model's own list of categories, NaN where it is none of them.

    Args:
        series: The column.
        categories: The model's categories in order of their codes; None if the column's own codes count.
    """
    codes = np.asarray(series.cat.codes.to_numpy(), dtype=np.int64)
    if categories is None:
        return np.where(codes < 0, np.nan, codes.astype(np.float64))
    position = {value: code for code, value in enumerate(categories)}
    mapped = np.array([position.get(value, np.nan) for value in series.cat.categories.tolist()] + [np.nan])
    return mapped[codes]
