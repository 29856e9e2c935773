"""polars DataFrames as plain arrays: numbers, text, categories, dates and times, without pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.optional import require
from taylorpoda.explanation.storage.cells import decode_cells, encode_cells
from taylorpoda.explanation.storage.nested import polars_lists, polars_type
from taylorpoda.explanation.storage.pandas_columns import inside

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Stored = tuple[dict[str, Any], dict[str, NDArray[Any]]]

_PLAIN = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64", "Boolean")
_TEXT = ("String", "Categorical", "Binary")


def encode_frame(frame: Any) -> Stored:
    """A polars DataFrame.

    Raises:
        TypeError: If a column is of a type that cannot be stored.
    """
    meta: dict[str, Any] = {"names": list(frame.columns), "columns": []}
    arrays: dict[str, NDArray[Any]] = {}
    for position, column in enumerate(frame.get_columns()):
        one, parts = _encode_column(column)
        meta["columns"].append(one)
        arrays.update({f"{position}/{name}": part for name, part in parts.items()})
    return meta, arrays


def decode_frame(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Any:
    """The DataFrame again."""
    polars = require("polars", "polars", "the stored rows, a polars DataFrame")
    columns = [
        _decode_column(one, inside(arrays, str(k)), polars).alias(str(name))
        for k, (one, name) in enumerate(zip(meta["columns"], meta["names"], strict=True))
    ]
    return polars.DataFrame(columns)


def _encode_column(column: Any) -> Stored:
    dtype = column.dtype
    kind = str(dtype.base_type())
    missing = {"missing": column.is_null().to_numpy()}
    if kind in _PLAIN:
        zero = False if kind == "Boolean" else 0
        return {"type": kind}, {"cells": column.fill_null(zero).to_numpy(), **missing}
    if kind in _TEXT or kind == "Decimal":
        exact = {"precision": dtype.precision, "scale": dtype.scale} if kind == "Decimal" else {}
        return {"type": kind, **exact}, {"cells": encode_cells(column.to_list())}
    if kind == "Enum":
        categories = encode_cells(dtype.categories.to_list())
        return {"type": kind}, {"cells": encode_cells(column.to_list()), "categories": categories}
    if kind in {"Date", "Datetime", "Duration", "Time"}:
        meta = {"type": kind, "unit": getattr(dtype, "time_unit", None), "zone": getattr(dtype, "time_zone", None)}
        return meta, {"cells": column.to_physical().fill_null(0).to_numpy(), **missing}
    if kind == "Null":
        return {"type": kind}, missing
    lists = polars_lists(dtype)
    if lists is not None:
        return {"type": "lists", "lists": lists}, {"cells": encode_cells(column.to_list())}
    msg = (
        f"column {column.name!r} has the type {dtype}, which cannot be stored; allowed: numbers, texts, categories, "
        "dates, times, and lists of numbers or texts. Explain rows without it, or with its parts as columns of their "
        "own."
    )
    raise TypeError(msg)


def _decode_column(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], pl: Any) -> Any:
    kind = str(meta["type"])
    if kind == "Null":
        return pl.Series("", [None] * len(arrays["missing"]), dtype=pl.Null)
    objects = _type_of_objects(meta, kind, arrays, pl)
    if objects is not None:
        return pl.Series("", decode_cells(arrays["cells"]), dtype=objects)
    dtypes = {"Date": pl.Date, "Time": pl.Time}
    if kind == "Datetime":
        dtypes[kind] = pl.Datetime(meta["unit"], meta["zone"])
    elif kind == "Duration":
        dtypes[kind] = pl.Duration(meta["unit"])
    elif kind in _PLAIN:
        dtypes[kind] = getattr(pl, kind)
    if kind not in dtypes:
        msg = f"a column of the type {kind[:40]!r} is none that is stored"
        raise ValueError(msg)
    cells = pl.Series("", arrays["cells"]).cast(dtypes[kind])
    missing = np.asarray(arrays["missing"], dtype=bool)
    if len(missing) != len(cells):
        msg = "a column and its missing cells differ in length"
        raise ValueError(msg)
    return cells.set(pl.Series("", missing), None) if missing.any() else cells


def _type_of_objects(meta: Mapping[str, Any], kind: str, arrays: Mapping[str, NDArray[Any]], pl: Any) -> Any:
    """The type of a column that was stored cell by cell, or None."""
    if kind == "lists":
        return polars_type(meta["lists"], pl)
    if kind == "Enum":
        return pl.Enum(decode_cells(arrays["categories"]))
    if kind == "Decimal":
        return pl.Decimal(meta["precision"], meta["scale"])
    return getattr(pl, kind) if kind in _TEXT else None
