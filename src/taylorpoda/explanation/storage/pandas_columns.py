"""pandas DataFrames as plain arrays: every column type of pandas itself, without pyarrow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.optional import require
from taylorpoda.explanation.storage.cells import decode, decode_cells, encode, encode_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Stored = tuple[dict[str, Any], dict[str, NDArray[Any]]]

_MASKED = re.compile(r"U?Int(?:8|16|32|64)|Float(?:32|64)|boolean")


def encode_frame(frame: Any) -> Stored:
    """A DataFrame: its columns, its index and its column labels.

    Raises:
        TypeError: If a column is of a type that cannot be stored.
    """
    meta: dict[str, Any] = {"labels": encode(list(frame.columns)), "columns": []}
    meta["object_labels"] = frame.columns.dtype == object
    arrays: dict[str, NDArray[Any]] = {}
    if frame.columns.name is not None:
        meta["labels_name"] = encode(frame.columns.name)
    for position in range(frame.shape[1]):
        one, parts = encode_series(frame.iloc[:, position])
        meta["columns"].append(one)
        arrays.update({f"{position}/{name}": part for name, part in parts.items()})
    meta["index"], parts = _encode_index(frame.index)
    arrays.update({f"index/{name}": part for name, part in parts.items()})
    return meta, arrays


def decode_frame(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Any:
    """The DataFrame again."""
    pandas = require("pandas", "frames", "the stored rows, a pandas DataFrame")
    index = _decode_index(meta["index"], inside(arrays, "index"))
    columns = [decode_series(one, inside(arrays, str(k))) for k, one in enumerate(meta["columns"])]
    if any(len(column) != len(index) for column in columns):
        msg = "its columns differ in length"
        raise ValueError(msg)
    series = {k: pandas.Series(column, index=index, dtype=column.dtype) for k, column in enumerate(columns)}
    frame = pandas.DataFrame(series, index=index)
    labels = decode(meta["labels"])
    pairs = bool(labels) and all(isinstance(label, tuple) for label in labels)
    plain = object if meta["object_labels"] else None
    frame.columns = pandas.MultiIndex.from_tuples(labels) if pairs else pandas.Index(labels, dtype=plain)
    if "labels_name" in meta:
        frame.columns.name = decode(meta["labels_name"])
    return frame


def encode_series(series: Any) -> Stored:
    """One column.

    Raises:
        TypeError: If its type cannot be stored.
    """
    dtype = series.dtype
    kind, name = type(dtype).__name__, str(dtype)
    if isinstance(dtype, np.dtype):
        plain = dtype.kind != "O"
        cells = series.to_numpy() if plain else _encode_objects(series)
        return {"type": "numpy" if plain else "object"}, {"cells": cells}
    if kind == "CategoricalDtype":
        meta, parts = encode_series(dtype.categories.to_series())
        arrays = {f"categories/{part}": array for part, array in parts.items()}
        arrays["codes"] = series.cat.codes.to_numpy()
        return {"type": "category", "ordered": bool(dtype.ordered), "categories": meta}, arrays
    if kind == "StringDtype":
        cells = [None if missing else str(cell) for cell, missing in zip(series, series.isna(), strict=True)]
        nan = isinstance(getattr(dtype, "na_value", None), float)
        return {"type": "string", "storage": dtype.storage, "nan": nan}, {"cells": encode_cells(cells)}
    if _MASKED.fullmatch(name):
        plain = dtype.numpy_dtype
        cells = series.to_numpy(dtype=plain, na_value=plain.type(0))
        return {"type": "masked", "name": name}, {"cells": cells, "missing": series.isna().to_numpy()}
    return _encode_rare(series, kind, name)


def _encode_rare(series: Any, kind: str, name: str) -> Stored:
    dtype = series.dtype
    if kind == "DatetimeTZDtype":
        plain = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        return {"type": "zoned", "zone": str(dtype.tz)}, {"cells": plain}
    if kind == "PeriodDtype":
        ordinals = series.array.asi8 if hasattr(series.array, "asi8") else series.astype("int64").to_numpy()
        return {"type": "period", "name": name}, {"cells": np.asarray(ordinals)}
    if kind == "SparseDtype":
        meta = {"type": "sparse", "fill": encode(dtype.fill_value)}
        return meta, {"cells": np.asarray(series.sparse.to_dense().to_numpy())}
    if kind == "IntervalDtype":
        ends = {side: encode_series(getattr(series.array, side).to_series()) for side in ("left", "right")}
        arrays = {f"{side}/{part}": a for side, (_, parts) in ends.items() for part, a in parts.items()}
        return {"type": "interval", "closed": dtype.closed, **{side: one for side, (one, _) in ends.items()}}, arrays
    if kind == "ArrowDtype":
        from taylorpoda.explanation.storage.arrow_columns import encode_array

        pyarrow = require("pyarrow", "pyarrow", "storing a column of an Arrow type")
        meta, arrays = encode_array(pyarrow.array(series.array))
        return {"type": "arrow", "array": meta}, arrays
    msg = f"column {series.name!r} has dtype {name}, which cannot be stored."
    raise TypeError(msg)


def _encode_objects(series: Any) -> NDArray[np.uint8]:
    try:
        return encode_cells(series.to_numpy())
    except TypeError as error:
        msg = f"column {series.name!r} holds {error}"
        raise TypeError(msg) from error


def decode_series(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Any:
    """The cells of one column, as an array pandas takes over."""
    pandas = require("pandas", "frames", "the stored rows, a pandas DataFrame")
    kind = str(meta["type"])
    if kind not in _DECODERS:
        msg = f"a column of the kind {kind[:40]!r} is none that is stored"
        raise ValueError(msg)
    return _DECODERS[kind](meta, arrays, pandas)


def _category(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], pandas: Any) -> Any:
    categories = _index(decode_series(meta["categories"], inside(arrays, "categories")), pandas)
    return pandas.Categorical.from_codes(arrays["codes"], categories=categories, ordered=bool(meta["ordered"]))


def _masked(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], pandas: Any) -> Any:
    if not _MASKED.fullmatch(str(meta["name"])):
        msg = f"{str(meta['name'])[:40]!r} is no nullable type of pandas"
        raise ValueError(msg)
    cells = pandas.array(arrays["cells"], dtype=meta["name"])
    cells[arrays["missing"]] = pandas.NA
    return cells


def _zoned(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], pandas: Any) -> Any:
    return pandas.Series(arrays["cells"]).dt.tz_localize("UTC").dt.tz_convert(str(meta["zone"])).array


def _period(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], pandas: Any) -> Any:
    freq = pandas.PeriodDtype(str(meta["name"]).removeprefix("period[").removesuffix("]")).freq
    return pandas.PeriodIndex.from_ordinals(arrays["cells"], freq=freq).array


def _sparse(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], pandas: Any) -> Any:
    dtype = pandas.SparseDtype(arrays["cells"].dtype, decode(meta["fill"]))
    return pandas.arrays.SparseArray(arrays["cells"], dtype=dtype)


def _interval(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], pandas: Any) -> Any:
    left, right = (_index(decode_series(meta[side], inside(arrays, side)), pandas) for side in ("left", "right"))
    return pandas.arrays.IntervalArray.from_arrays(left, right, closed=meta["closed"])


def _arrow(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], pandas: Any) -> Any:
    from taylorpoda.explanation.storage.arrow_columns import decode_array

    array = decode_array(meta["array"], arrays)
    return pandas.array(array.to_pylist(), dtype=pandas.ArrowDtype(array.type))


def _objects(_: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], __: Any) -> Any:
    cells = decode_cells(arrays["cells"])
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


_DECODERS: dict[str, Callable[[Mapping[str, Any], Mapping[str, NDArray[Any]], Any], Any]] = {
    "numpy": lambda _, arrays, __: arrays["cells"],
    "object": _objects,
    "category": _category,
    "string": lambda meta, arrays, pandas: pandas.array(
        decode_cells(arrays["cells"]), dtype=_string_dtype(pandas, meta)
    ),
    "masked": _masked,
    "zoned": _zoned,
    "period": _period,
    "sparse": _sparse,
    "interval": _interval,
    "arrow": _arrow,
}


def _string_dtype(pandas: Any, meta: Mapping[str, Any]) -> Any:
    """The string type as it was, in Python's storage where pyarrow is not there."""
    storage = "pyarrow" if meta["storage"] == "pyarrow" else "python"
    try:
        require("pyarrow", "pyarrow", "Arrow strings")
    except ImportError:
        storage = "python"
    if not meta["nan"]:
        return pandas.StringDtype(storage)
    try:
        return pandas.StringDtype(storage, na_value=np.nan)
    except TypeError:  # before pandas 3 strings had no NaN of their own
        return np.dtype(object)


def _encode_index(index: Any) -> Stored:
    if type(index).__name__ == "RangeIndex":
        steps = [int(index.start), int(index.stop), int(index.step)]
        return {"type": "range", "steps": steps, "name": encode(index.name)}, {}
    if index.nlevels > 1:
        meta: dict[str, Any] = {"type": "levels", "names": encode(list(index.names)), "levels": []}
        arrays: dict[str, NDArray[Any]] = {}
        for level in range(index.nlevels):
            one, parts = encode_series(index.get_level_values(level).to_series())
            meta["levels"].append(one)
            arrays.update({f"{level}/{name}": part for name, part in parts.items()})
        return meta, arrays
    one, parts = encode_series(index.to_series())
    return {"type": "index", "name": encode(index.name), "values": one}, parts


def _decode_index(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Any:
    pandas = require("pandas", "frames", "the stored rows, a pandas DataFrame")
    if meta["type"] == "range":
        start, stop, step = (int(number) for number in meta["steps"])
        return pandas.RangeIndex(start, stop, step, name=decode(meta["name"]))
    if meta["type"] == "levels":
        levels = [decode_series(one, inside(arrays, str(k))) for k, one in enumerate(meta["levels"])]
        return pandas.MultiIndex.from_arrays(levels, names=decode(meta["names"]))
    return _index(decode_series(meta["values"], arrays), pandas).rename(decode(meta["name"]))


def _index(cells: Any, pandas: Any) -> Any:
    """An index of exactly these cells: pandas would make text of objects that look like it."""
    return pandas.Index(cells, dtype=cells.dtype)


def inside(arrays: Mapping[str, NDArray[Any]], folder: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names start with a folder, without it."""
    return {name.removeprefix(f"{folder}/"): array for name, array in arrays.items() if name.startswith(f"{folder}/")}
