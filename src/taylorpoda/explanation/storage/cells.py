"""Python values as JSON and back, each with its own type: what tables of objects, classes and options are made of."""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np

from taylorpoda._support.optional import require

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

# What is not JSON itself is a mapping with this one key, holding a kind and a value.
_TAG = "!"


def encode(value: Any) -> Any:
    """A value as JSON.

    Raises:
        TypeError: If it is of a kind that cannot be stored.
    """
    kind = type(value)
    if value is None or kind in (bool, str, int) or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [encode(one) for one in value]
    if isinstance(value, dict) and all(type(key) is str and key != _TAG for key in value):
        return {key: encode(one) for key, one in value.items()}
    name = "dict" if isinstance(value, dict) else kind.__name__
    if isinstance(value, np.generic):
        name = "datetime64" if value.dtype.kind in "Mm" else "numpy"
    if name not in _ENCODERS or (kind.__module__.split(".")[0] not in _HOMES):
        msg = (
            f"a cell of type {kind.__module__}.{kind.__qualname__} cannot be stored ({str(value)[:60]!r}); "
            "allowed: numbers, texts, dates, missing cells."
        )
        raise TypeError(msg)
    return {_TAG: [name, _ENCODERS[name](value)]}


def decode(stored: Any) -> Any:
    """A value from what `encode` gave.

    Raises:
        ValueError: If it is nothing `encode` gives.
    """
    if isinstance(stored, list):
        return [decode(one) for one in stored]
    if not isinstance(stored, dict):
        return stored
    if set(stored) != {_TAG}:
        return {key: decode(one) for key, one in stored.items()}
    kind, value = stored[_TAG]
    if kind not in _DECODERS:
        msg = f"a value of the kind {str(kind)[:40]!r} is none that is stored"
        raise ValueError(msg)
    return _DECODERS[kind](value)


def _encode_numpy(value: Any) -> list[Any]:
    if value.dtype.kind not in "biufSU":
        msg = f"a cell of numpy's dtype {value.dtype} cannot be stored ({str(value)[:60]!r})."
        raise TypeError(msg)
    return [value.dtype.str, encode(value.item())]


def _encode_moment(value: Any) -> list[Any]:
    """A pandas Timestamp or Timedelta: a count of its unit, and a time zone."""
    plain = value.tz_convert("UTC").tz_localize(None) if getattr(value, "tz", None) is not None else value
    count = plain.to_numpy() if hasattr(plain, "to_numpy") else plain.to_datetime64()
    return [int(count.astype(np.int64)), value.unit, str(value.tz) if getattr(value, "tz", None) is not None else None]


def _encode_datetime(value: dt.datetime) -> list[Any]:
    zone = value.tzinfo.key if isinstance(value.tzinfo, ZoneInfo) else None
    return [(value.replace(tzinfo=None) if zone else value).isoformat(), zone, value.fold]


# Types of these packages are stored; a subclass made elsewhere is refused rather than flattened.
_HOMES = ("builtins", "collections", "datetime", "decimal", "numpy", "pandas")
_ENCODERS: dict[str, Callable[[Any], Any]] = {
    "float": repr,
    "tuple": lambda value: [encode(one) for one in value],
    "dict": lambda value: [[encode(key), encode(one)] for key, one in value.items()],
    "bytes": lambda value: base64.b64encode(value).decode(),
    "Decimal": str,
    "datetime": _encode_datetime,
    "date": lambda value: value.isoformat(),
    "time": lambda value: value.isoformat(),
    "timedelta": lambda value: [value.days, value.seconds, value.microseconds],
    "numpy": _encode_numpy,
    "datetime64": lambda value: [value.dtype.str, int(value.astype(np.int64))],
    "NAType": lambda _: None,
    "NaTType": lambda _: None,
    "Timestamp": _encode_moment,
    "Timedelta": _encode_moment,
    "Interval": lambda value: [encode(value.left), encode(value.right), value.closed],
}


def _pandas() -> Any:
    return require("pandas", "frames", "a stored pandas value")


def _decode_numpy(value: Any) -> Any:
    dtype = np.dtype(value[0])
    if dtype.kind not in "biufSUMm":
        msg = f"a numpy scalar of dtype {dtype} is none that is stored"
        raise ValueError(msg)
    return np.array(decode(value[1]), dtype=dtype)[()]


def _decode_datetime(value: Any) -> dt.datetime:
    text, zone, fold = value
    moment = dt.datetime.fromisoformat(text).replace(fold=int(bool(fold)))
    return moment.replace(tzinfo=ZoneInfo(zone)) if zone is not None else moment


def _decode_timestamp(value: Any) -> Any:
    count, unit, zone = value
    moment = _pandas().Timestamp(np.datetime64(int(count), unit))
    return moment if zone is None else moment.tz_localize("UTC").tz_convert(zone)


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "tuple": lambda value: tuple(decode(one) for one in value),
    "dict": lambda value: {decode(key): decode(one) for key, one in value},
    "bytes": lambda value: base64.b64decode(value, validate=True),
    "Decimal": Decimal,
    "datetime": _decode_datetime,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "timedelta": lambda value: dt.timedelta(*value),
    "numpy": _decode_numpy,
    "datetime64": _decode_numpy,
    "NAType": lambda _: _pandas().NA,
    "NaTType": lambda _: _pandas().NaT,
    "Timestamp": _decode_timestamp,
    "Timedelta": lambda value: _pandas().Timedelta(np.timedelta64(int(value[0]), value[1])),
    "Interval": lambda value: _pandas().Interval(decode(value[0]), decode(value[1]), closed=value[2]),
}


def encode_cells(cells: Sequence[Any] | NDArray[Any]) -> NDArray[np.uint8]:
    """A column of objects as the bytes of their JSON."""
    text = json.dumps([encode(cell) for cell in cells], allow_nan=False, separators=(",", ":"))
    return np.frombuffer(text.encode("utf-8"), dtype=np.uint8)


def decode_cells(stored: NDArray[Any]) -> list[Any]:
    """The objects again.

    Raises:
        ValueError: If they are no such bytes.
    """
    if stored.dtype != np.uint8 or stored.ndim != 1:
        msg = "a column of objects is not stored as bytes"
        raise ValueError(msg)
    cells = json.loads(stored.tobytes().decode("utf-8"))
    return [decode(cell) for cell in list(cells)]
