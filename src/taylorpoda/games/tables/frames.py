"""DataFrames of any library as columns of plain cells: how a table reads rows that came in another container."""

from __future__ import annotations

from collections.abc import Mapping
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


def labeled_rows(data: Any, parameter: str) -> tuple[list[str], list[NDArray[Any] | list[Any]]] | None:
    """The names and cells of rows that are no DataFrame and still say which cell is which.

    Args:
        data: A mapping of names to the cells of one row, or to columns; a list of such rows; or one row with labels, as
            pandas gives it.
        parameter: The name the user gave it, for messages.

    Returns:
        What `columns_of` gives. None if `data` is none of these.

    Raises:
        ValueError: If rows have other names than the first, or columns other lengths.
    """
    labels = getattr(data, "index", None)
    if getattr(data, "ndim", 0) == 1 and labels is not None and not callable(labels):
        return [str(label) for label in labels], [[cell] for cell in plain_cells(data)]
    if isinstance(data, list | tuple) and data and all(isinstance(row, Mapping) for row in data):
        names = [str(name) for name in data[0]]
        rows = [{str(name): cell for name, cell in row.items()} for row in data]
        other = [k for k, row in enumerate(rows) if row.keys() != rows[0].keys()]
        if other:
            msg = f"row {other[0]} of {parameter} names {list(rows[other[0]])}, but row 0 names {names}."
            raise ValueError(msg)
        return names, [plain_cells([row[name] for row in rows]) for name in names]
    if not isinstance(data, Mapping) or not data:
        return None
    names, columns = [str(name) for name in data], list(data.values())
    if not all(isinstance(column, list | tuple) or np.ndim(column) == 1 for column in columns):
        return names, [plain_cells([cell]) for cell in columns]
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        msg = f"the columns of {parameter} have the lengths {sorted(lengths)}; they must have one."
        raise ValueError(msg)
    numeric = [isinstance(column, np.ndarray) and column.dtype.kind in "biufM" for column in columns]
    return names, [column if own else plain_cells(column) for own, column in zip(numeric, columns, strict=True)]


def plain_cells(cells: Any) -> list[Any]:
    """Objects with None for every missing cell that is no float NaN."""
    return [None if is_missing(cell) and not isinstance(cell, float) else cell for cell in cells]


def _cells(series: Any) -> NDArray[Any] | list[Any]:
    dtype = series.dtype
    plain = dtype.is_numeric() or dtype == nw.Boolean or (dtype == nw.Datetime and dtype.time_zone is None)
    if plain and not dtype.is_decimal() and (series.null_count() == 0 or _nan_is_null(series)):
        return np.asarray(series.to_numpy())
    return plain_cells(series.to_list())


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
