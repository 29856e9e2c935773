"""Types of list columns as JSON and back: lists of numbers, of truth values, of texts, or of such lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_INNER = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64", "Boolean",
          "String")  # fmt: skip
_ARROW = {"Float32": "float32", "Float64": "float64", "Boolean": "bool_", "String": "string"}
_DEEPEST = 8


def polars_lists(dtype: Any) -> dict[str, Any] | None:
    """What a polars List or Array holds, and how long it is; None where that cannot be stored."""
    kind = str(dtype.base_type())
    if kind not in {"List", "Array"}:
        return {"cell": kind} if kind in _INNER else None
    inner = polars_lists(dtype.inner)
    return inner and {"list": inner, "width": dtype.size if kind == "Array" else None}


def polars_type(meta: Mapping[str, Any], pl: Any, depth: int = 0) -> Any:
    """The polars type that `polars_lists` described.

    Raises:
        ValueError: If it is none it describes.
    """
    if "list" not in meta:
        return getattr(pl, _known(meta))
    inner = polars_type(meta["list"], pl, _deeper(depth))
    return pl.List(inner) if meta["width"] is None else pl.Array(inner, int(meta["width"]))


def arrow_lists(kind: Any) -> dict[str, Any] | None:
    """The same for pyarrow: lists, large ones, and those of one length."""
    from pyarrow import types

    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        found = [name for name in _INNER if kind == arrow_type({"cell": name})]
        return {"cell": found[0]} if found else None
    inner = arrow_lists(kind.value_type)
    width = kind.list_size if types.is_fixed_size_list(kind) else None
    return inner and {"list": inner, "width": width, "large": types.is_large_list(kind), "name": kind.value_field.name}


def arrow_type(meta: Mapping[str, Any], depth: int = 0) -> Any:
    """The pyarrow type that `arrow_lists` described.

    Raises:
        ValueError: If it is none it describes.
    """
    import pyarrow as pa

    if "list" not in meta:
        name = _known(meta)
        return getattr(pa, _ARROW.get(name, name.lower()))()
    field = pa.field(str(meta["name"]), arrow_type(meta["list"], _deeper(depth)))
    if meta["width"] is not None:
        return pa.list_(field, int(meta["width"]))
    return pa.large_list(field) if meta["large"] else pa.list_(field)


def _known(meta: Mapping[str, Any]) -> str:
    name = str(meta["cell"])
    if name not in _INNER:
        msg = f"lists of {name[:40]!r} are none that are stored"
        raise ValueError(msg)
    return name


def _deeper(depth: int) -> int:
    if depth >= _DEEPEST:
        msg = f"lists within lists beyond {_DEEPEST} are none that are stored"
        raise ValueError(msg)
    return depth + 1
