"""Two-dimensional numpy arrays of any dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import as_array, check_unmasked
from taylorpoda.games.tables.base import (
    Table,
    cast_without_loss,
    check_columns,
    factorize_bits,
    factorize_objects,
)
from taylorpoda.games.tables.frames import columns_of, labeled_rows
from taylorpoda.games.tables.grid import HybridGrid

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def check_unstructured(array: NDArray[Any], parameter: str) -> None:
    """Refuse arrays of records: their fields would become one cell.

    Raises:
        TypeError: If the array has fields.
    """
    if array.dtype.kind == "V":
        msg = (
            f"{parameter} is a structured array of dtype {array.dtype}; allowed: an array with one column per feature, "
            "or a DataFrame, e.g. pandas.DataFrame(records)."
        )
        raise TypeError(msg)


class NumpyTable(Table):
    """Rows of a numpy array.

    Args:
        array: Shape (rows, columns).
        names: Display names; x0, x1, ... if None.
    """

    kind = "numpy array"

    def __init__(self, array: NDArray[Any], names: tuple[str, ...] | None = None) -> None:
        self._array = array
        self.named = names is not None
        self.names = names if names is not None else tuple(f"x{j}" for j in range(array.shape[1]))

    @classmethod
    def of(cls, data: Any, parameter: str) -> NumpyTable:
        """Read an array, or anything nested that numpy reads without guessing."""
        array = as_array(data, parameter)
        if array.ndim == 0 and not isinstance(data, np.ndarray):
            msg = (
                f"{parameter} has type {type(data).__name__}; allowed: a DataFrame, an array, or nested lists of rows."
            )
            raise TypeError(msg)
        if array.dtype.kind in "US" and not isinstance(data, np.ndarray):
            array = np.asarray(data, dtype=object)  # a list of mixed cells: keep each cell what it is
        if array.ndim != 2 or array.shape[1] == 0:
            msg = f"{parameter} has shape {array.shape}; expected (rows, columns) with at least one column."
            raise ValueError(msg)
        check_unmasked(data, parameter)
        check_unstructured(array, parameter)
        return cls(array)

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return int(self._array.shape[0])

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return int(self._array.shape[1] * self._array.itemsize)

    def native(self) -> NDArray[Any]:
        """The array."""
        return self._array

    def take(self, rows: NDArray[np.intp]) -> NumpyTable:
        """Some rows."""
        return NumpyTable(self._array[rows], self.names if self.named else None)

    def column(self, position: int) -> NDArray[Any]:
        """One column."""
        return self._array[:, position]

    def read(self, data: Any, parameter: str) -> NumpyTable:
        """Other rows: by position, or by name where the model and the rows name their columns; see `Table.read`."""
        check_unmasked(data, parameter)
        array = self._by_name(data, parameter)
        if array.dtype.kind in "US" and self._array.dtype.kind == "O":
            array = np.asarray(data, dtype=object)
        if array.ndim == 1 and array.size and array.shape[0] == self.n_columns:
            array = array[None, :]
        elif array.size == 0 and array.ndim == 1:
            array = array.reshape(0, self.n_columns)
        if array.ndim != 2 or array.shape[1] != self.n_columns:
            msg = (
                f"{parameter} has shape {array.shape}; the background has {self.n_columns} columns, "
                f"so (rows, {self.n_columns}), or ({self.n_columns},) for one row, is expected."
            )
            raise ValueError(msg)
        if not array.size:  # nothing to cast: the dtype of an empty list means nothing
            array = np.empty((0, self.n_columns), dtype=self._array.dtype)
        elif array.dtype.kind not in "US" or array.dtype.kind != self._array.dtype.kind:  # longer texts need no cast
            array = cast_without_loss(array, self._array.dtype, parameter, None)
        return NumpyTable(array, self.names if self.named else None)

    def _by_name(self, data: Any, parameter: str) -> NDArray[Any]:
        frame = columns_of(data, parameter) or labeled_rows(data, parameter)
        if frame is None:
            array = as_array(data.toarray() if hasattr(data, "toarray") else data, parameter)
            if array.dtype.kind in "US" and self._array.dtype.kind not in "US" and not isinstance(data, np.ndarray):
                array = np.asarray(data, dtype=object)  # a text among numbers: the message tells which
            return array
        names, columns = frame
        spelled = isinstance(data, dict | list | tuple)  # mappings, whose order says nothing
        if spelled or (self.named and set(names) & set(self.names)):
            columns = [columns[j] for j in check_columns(self.names, names, parameter)]
        if len(columns) != self.n_columns:
            check_columns(self.names, names, parameter)
        dtype = self._array.dtype
        array = np.empty((len(columns[0]) if columns else 0, len(columns)), dtype=dtype)
        for j, column in enumerate(columns):
            if not isinstance(column, np.ndarray):  # a missing cell is a NaN where the background has floats
                gap = np.nan if dtype.kind == "f" else None
                column = np.array([gap if cell is None else cell for cell in column], dtype=object)  # noqa: PLW2901 - the same column, read
            array[:, j] = cast_without_loss(column, dtype, parameter, self.names[j] if self.named else str(j))
        return array

    def renamed(self, names: tuple[str, ...]) -> NumpyTable:
        """The same rows with the display names a fitted model knows."""
        return NumpyTable(self._array, names)

    def stack(self, other: Table) -> NumpyTable:
        """Rows of both."""
        return NumpyTable(np.concatenate([self._array, other.native()]), self.names if self.named else None)

    def mix(self, rows: NDArray[np.intp], present: NDArray[np.bool_], donors: NDArray[np.intp]) -> NDArray[Any]:
        """Hybrid rows, listed."""
        mixed = self._array[donors]
        one = len(rows) and bool((rows == rows[0]).all())
        np.copyto(mixed, self._array[rows[0]] if one else self._array[rows], where=present)
        return mixed

    def grid(self, rows: NDArray[np.intp], donors: NDArray[np.intp]) -> HybridGrid:
        """Hybrid rows, all combinations."""
        return HybridGrid(self._array[rows], self._array[donors])

    def codes(self) -> NDArray[np.int64]:
        """Cells as integers."""
        code: Callable[[Any], NDArray[np.int64]] = (
            factorize_objects if self._array.dtype.kind == "O" else factorize_bits
        )
        columns = [code(self.column(j)) for j in range(self.n_columns)]
        return np.stack(columns, axis=1) if self.n_rows else np.zeros((0, self.n_columns), dtype=np.int64)
