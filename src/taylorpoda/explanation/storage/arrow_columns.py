"""pyarrow Tables as plain arrays: numbers, text, dictionaries, dates and times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.optional import require
from taylorpoda.explanation.storage.cells import decode_cells, encode_cells
from taylorpoda.explanation.storage.nested import arrow_lists, arrow_type
from taylorpoda.explanation.storage.pandas_columns import inside

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Stored = tuple[dict[str, Any], dict[str, NDArray[Any]]]

_TEXT = ("string", "large_string", "binary", "large_binary")
_TIMES = ("timestamp", "time32", "time64", "duration")
_PLAIN = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
)


def encode_table(table: Any) -> Stored:
    """A pyarrow Table.

    Raises:
        TypeError: If a column is of a type that cannot be stored.
    """
    meta: dict[str, Any] = {"names": list(table.column_names), "columns": []}
    arrays: dict[str, NDArray[Any]] = {}
    for position, column in enumerate(table.unify_dictionaries().columns):
        one, parts = encode_array(column.combine_chunks(), table.column_names[position])
        meta["columns"].append(one)
        arrays.update({f"{position}/{name}": part for name, part in parts.items()})
    return meta, arrays


def decode_table(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Any:
    """The Table again."""
    pyarrow = require("pyarrow", "pyarrow", "the stored rows, a pyarrow Table")
    columns = [decode_array(one, inside(arrays, str(k))) for k, one in enumerate(meta["columns"])]
    return pyarrow.Table.from_arrays(columns, names=[str(name) for name in meta["names"]])


def encode_array(array: Any, name: str = "") -> Stored:
    """One column.

    Raises:
        TypeError: If its type cannot be stored.
    """
    import pyarrow as pa

    kind, types = array.type, pa.types
    missing = {"missing": array.is_null().to_numpy(zero_copy_only=False)}
    if types.is_dictionary(kind):
        meta, parts = encode_array(array.dictionary, name)
        arrays = {f"values/{part}": one for part, one in parts.items()}
        arrays["codes"] = array.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return {"type": "dictionary", "ordered": bool(kind.ordered), "values": meta}, {**arrays, **missing}
    if types.is_null(kind):
        return {"type": "null"}, missing
    if types.is_boolean(kind):
        return {"type": "bool"}, {"cells": array.fill_null(False).to_numpy(zero_copy_only=False), **missing}  # noqa: FBT003 - pyarrow takes it by position
    if types.is_integer(kind) or types.is_floating(kind):
        zero = np.zeros((), dtype=kind.to_pandas_dtype()).item()
        return {"type": _plain_name(kind)}, {"cells": array.fill_null(zero).to_numpy(zero_copy_only=False), **missing}
    lists = arrow_lists(kind) if types.is_nested(kind) else None
    if str(kind) in _TEXT or types.is_decimal128(kind) or lists is not None:
        meta = {"type": _plain_name(kind)} if lists is None else {"type": "lists", "lists": lists}
        if types.is_decimal(kind):
            meta |= {"type": "decimal128", "precision": kind.precision, "scale": kind.scale}
        return meta, {"cells": encode_cells(array.to_pylist())}
    if types.is_temporal(kind) and not types.is_interval(kind):
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        cells = array.view(width).fill_null(0).to_numpy(zero_copy_only=False)
        meta = {"type": str(kind).split("[")[0], "unit": getattr(kind, "unit", None)}
        return {**meta, "zone": getattr(kind, "tz", None)}, {"cells": cells, **missing}
    msg = (
        f"column {name!r} has the type {kind}, which cannot be stored; allowed: numbers, texts, categories, dates, "
        "times, and lists of numbers or texts. Explain rows without it, or with its parts as columns of their own."
    )
    raise TypeError(msg)


def _plain_name(kind: Any) -> str:
    return {"halffloat": "float16", "float": "float32", "double": "float64"}.get(str(kind), str(kind))


def decode_array(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Any:
    """One column again."""
    import pyarrow as pa

    kind = str(meta["type"])
    if kind == "null":
        return pa.nulls(len(arrays["missing"]))
    if kind == "lists":
        return pa.array(decode_cells(arrays["cells"]), type=arrow_type(meta["lists"]))
    if kind in _TEXT or kind == "decimal128":
        decimal = kind == "decimal128"
        wanted = pa.decimal128(meta["precision"], meta["scale"]) if decimal else getattr(pa, kind)()
        return pa.array(decode_cells(arrays["cells"]), type=wanted)
    missing = np.asarray(arrays["missing"], dtype=bool)
    if kind == "dictionary":
        values, codes = decode_array(meta["values"], inside(arrays, "values")), arrays["codes"]
        if not ((codes >= 0) & (codes < max(len(values), 1))).all():
            msg = "a dictionary column points outside its dictionary"
            raise ValueError(msg)
        indices = pa.array(codes, mask=missing)
        return pa.DictionaryArray.from_arrays(indices, values, ordered=bool(meta["ordered"]))
    if kind in _PLAIN:
        return pa.array(arrays["cells"], mask=missing, type=getattr(pa, kind.replace("bool", "bool_"))())
    return pa.array(arrays["cells"], mask=missing).view(_time_type(meta, kind))


def _time_type(meta: Mapping[str, Any], kind: str) -> Any:
    import pyarrow as pa

    if kind in {"date32", "date64"}:
        return getattr(pa, kind)()
    if kind not in _TIMES:
        msg = f"a column of the type {kind[:40]!r} is none that is stored"
        raise ValueError(msg)
    unit, zone = str(meta["unit"]), meta["zone"]
    return pa.timestamp(unit, tz=zone) if kind == "timestamp" else getattr(pa, kind)(unit)
