"""DataFrames of any library as columns of plain cells: how a table reads rows that came in another container."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from taylorpoda._support.display import is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Cells = "NDArray[Any] | list[Any]"


def columns_of(data: Any, parameter: str) -> tuple[list[str], list[NDArray[Any] | list[Any]]] | None:
    """The names and cells of a DataFrame of any library narwhals reads.

    Args:
        data: What the user passed.
        parameter: The name the user gave it, for messages.

    Returns:
        The column names, and each column's cells: an array where every cell has a value (or is a NaN), else a list in
        which None stands for a missing cell. None if `data` is no DataFrame.

    Raises:
        TypeError: If the frame is lazy.
    """
    if isinstance(data, np.ndarray | list | tuple | dict):
        return None
    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        msg = f"{parameter} is a lazy frame; call .collect() first."
        raise TypeError(msg)
    if not isinstance(frame, nw.DataFrame):
        return None
    return [str(name) for name in frame.columns], [_cells(frame[:, j]) for j in range(len(frame.columns))]


def _cells(series: Any) -> NDArray[Any] | list[Any]:
    dtype = series.dtype
    plain = dtype.is_numeric() or dtype == nw.Boolean or (dtype == nw.Datetime and dtype.time_zone is None)
    if plain and not dtype.is_decimal() and (series.null_count() == 0 or _nan_is_null(series)):
        return np.asarray(series.to_numpy())
    return [None if is_missing(cell) and not isinstance(cell, float) else cell for cell in series.to_list()]


def _nan_is_null(series: Any) -> bool:
    """Whether the column is a numpy one, whose only missing value is its NaN (or NaT)."""
    return series.implementation.is_pandas_like() and isinstance(series.to_native().dtype, np.dtype)


def row_of_cells(data: Any, n_columns: int, parameter: str, names: Sequence[str]) -> NDArray[Any]:
    """Rows that come without names, as a two-dimensional array.

    Args:
        data: An array, a tensor or nested lists; one row may be one-dimensional.
        n_columns: How many columns are expected.
        parameter: The name the user gave it, for messages.
        names: The expected columns, for messages.

    Raises:
        ValueError: If the shape is another.
    """
    array = np.asarray(data, dtype=None if isinstance(data, np.ndarray) else object)
    if array.ndim == 1 and array.size and array.shape[0] == n_columns:
        array = array[None, :]
    elif array.size == 0:
        array = array.reshape(0, n_columns)
    if array.ndim != 2 or array.shape[1] != n_columns:
        msg = f"{parameter} has shape {array.shape}; the background has the {n_columns} columns {list(names)}."
        raise ValueError(msg)
    return array
