"""Rows of any container as the tensors an ONNX graph declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.display import is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_TYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(int16)": np.int16,
    "tensor(int8)": np.int8,
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}


def feed(inputs: Sequence[Any], rows: Any) -> dict[str, NDArray[Any]]:
    """The tensors of a graph.

    Inputs that are named like columns take those; otherwise each takes as many columns as it is wide, in
    order.

    Args:
        inputs: What the session declares: each with a name, a type and a shape.
        rows: The native container.

    Returns:
        One array per input, in its declared type.

    Raises:
        ValueError: If the columns do not make up the inputs, or cells do not fit a declared type.
        TypeError: If cells are missing or no text where the graph reads strings.
    """
    names = _names(rows)
    if names is not None and len(inputs) > 1 and {i.name for i in inputs} <= set(names):
        return {i.name: _tensor(i, [_column(rows, i.name)], [i.name]) for i in inputs}
    if names is None:
        array = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
        columns = [array[:, j] for j in range(array.shape[1])]
        names = [f"column {j}" for j in range(len(columns))]
        known = len(inputs) == 1 and len(inputs[0].shape) == 2 and inputs[0].type in _TYPES
        if known and array.dtype == _TYPES[inputs[0].type] and array.shape[1] == inputs[0].shape[1]:
            return {inputs[0].name: np.ascontiguousarray(array)}
    else:
        columns = [_column(rows, name) for name in names]
    tensors: dict[str, NDArray[Any]] = {}
    used = 0
    for one in inputs:
        width = one.shape[1] if len(one.shape) > 1 else 1
        if not isinstance(width, int):
            width = max(len(columns) - used - (len(inputs) - len(tensors) - 1), 1)
        if used + width > len(columns):
            raise _misfit(inputs, len(columns), names)
        tensors[one.name] = _tensor(one, columns[used : used + width], names[used : used + width])
        used += width
    if used != len(columns):
        raise _misfit(inputs, len(columns), names)
    return tensors


def _misfit(inputs: Sequence[Any], width: int, names: Sequence[str]) -> ValueError:
    declared = ", ".join(f"{i.name}: {i.type} {i.shape}" for i in inputs)
    widths = [one.shape[1] if len(one.shape) > 1 else 1 for one in inputs]
    total = f"{sum(widths)} " if all(isinstance(one, int) for one in widths) else ""
    msg = (
        f"the rows have {width} columns, but the ONNX graph reads {total}({declared}). "
        f"Columns: {', '.join(map(str, names[:20]))}."
    )
    return ValueError(msg)


def _names(rows: Any) -> list[str] | None:
    if isinstance(rows, np.ndarray) or not hasattr(rows, "columns"):
        return None
    return list(getattr(rows, "column_names", None) or rows.columns)


def _column(rows: Any, name: str) -> NDArray[Any]:
    return np.asarray(rows[name].to_numpy())


def _tensor(declared: Any, columns: list[NDArray[Any]], names: list[str]) -> NDArray[Any]:
    if declared.type not in _TYPES:
        msg = f"the ONNX graph's input {declared.name!r} is a {declared.type}; allowed: {', '.join(_TYPES)}."
        raise ValueError(msg)
    cells = [_cast(column, declared, name) for column, name in zip(columns, names, strict=True)]
    if len(declared.shape) == 1 and len(cells) == 1:
        return cells[0]
    return np.stack(cells, axis=1)


def _cast(column: NDArray[Any], declared: Any, name: str) -> NDArray[Any]:
    dtype = np.dtype(_TYPES[declared.type])
    text = declared.type == "tensor(string)"
    if column.dtype.kind == "O" and not text:
        column = _numbers(column, declared, name)
    if text:
        strings = column.astype(object)
        for cell in strings:
            if not isinstance(cell, str):
                msg = f"the ONNX graph reads strings from {name}, which holds {cell!r}: {_advice(cell)}."
                raise TypeError(msg)
        return strings
    if column.dtype.kind in "USMm":
        msg = f"the ONNX graph reads {declared.type} from {name}, which has dtype {column.dtype}."
        raise ValueError(msg)
    with np.errstate(invalid="ignore", over="ignore"):
        cells = column.astype(dtype)
    fits = cells == column if dtype.kind in "iub" else np.isfinite(cells) | ~np.isfinite(column)
    if not bool(fits.all()):
        msg = f"the ONNX graph reads {declared.type} from {name}, where {column[~fits][0]} does not fit."
        raise ValueError(msg)
    return cells


def _numbers(column: NDArray[Any], declared: Any, name: str) -> NDArray[Any]:
    """Objects as float64, missing cells as NaN."""
    try:
        return np.array([np.nan if is_missing(cell) else float(cell) for cell in column], dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"the ONNX graph reads {declared.type} from {name}, which holds other cells ({error})."
        raise ValueError(msg) from error


def _advice(cell: Any) -> str:
    if is_missing(cell):
        return "its strings have no missing value, so fill missing cells first"
    return "convert the column to strings"
