"""Tables from files, as pandas DataFrames: the model decides later which columns it reads, and as what."""

from __future__ import annotations

import csv
import re
import sys
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.optional import require
from taylorpoda.cli.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_ALLOWED = ".csv, .tsv (also .gz), .parquet, .feather, .json, .jsonl, .npy, .npz, or - for CSV on standard input"


def load_data(path: Path, parameter: str) -> Any:
    """Read a table.

    Args:
        path: Its file, or "-".
        parameter: What the user called it, for messages.

    Raises:
        InputError: If the file is missing, broken, empty or of no known kind.
        ImportError: If pandas is not installed; the message is the install line.
    """
    pandas = require("pandas", "frames", "reading tables from files")
    name = path.name.lower()
    if str(path) != "-" and not path.is_file():
        kind = "is a directory" if path.is_dir() else "does not exist"
        msg = f"{parameter}={str(path)!r} {kind}; allowed: a file of {_ALLOWED}."
        raise InputError(msg)
    ending = name.removesuffix(".gz").rsplit(".", maxsplit=1)[-1] if str(path) != "-" else "-"
    if ending not in _READERS:
        msg = f"{parameter}={str(path)!r} is of no known kind; allowed: {_ALLOWED}."
        raise InputError(msg)
    try:
        frame = _READERS[ending](path, pandas)
    except (ImportError, InputError):
        raise
    except UnicodeDecodeError as error:
        msg = f"{parameter}={str(path)!r} is not written in UTF-8 ({error.reason}); save it in that encoding."
        raise InputError(msg) from error
    except Exception as error:  # what a reader raises on a broken file is its own
        msg = f"{parameter}={str(path)!r} cannot be read: {str(error).strip()[:300] or type(error).__name__}"
        raise InputError(msg) from error
    if len(frame) == 0 or frame.shape[1] == 0:
        msg = f"{parameter}={str(path)!r} has {len(frame)} rows and {frame.shape[1]} columns; it needs one of each."
        raise InputError(msg)
    frame.columns = [str(column) for column in frame.columns]
    return frame.reset_index(drop=True)


def _csv(path: Path, pandas: Any, sep: str | None = None) -> Any:
    source = StringIO(sys.stdin.read()) if str(path) == "-" else path

    def read(**options: Any) -> Any:
        if isinstance(source, StringIO):
            source.seek(0)
        return pandas.read_csv(source, sep=known, **options)

    known = ","
    if sep is None:
        line = read(header=None, nrows=1, dtype=str, quoting=csv.QUOTE_NONE, on_bad_lines="skip")
        sep = _separator(",".join(map(str, line.iloc[0].dropna())))
    known = sep
    # Pandas renames a column whose name came before, so that a model might read the wrong one.
    names = read(header=None, nrows=1, dtype=str).iloc[0].dropna()
    twice = sorted(set(names[names.duplicated()]))
    if twice:
        msg = f"{str(path)!r} has several columns named {twice}; column names must be unique."
        raise InputError(msg)
    frame = read()
    if known == ";" and _has_decimal_commas(frame):
        frame = read(decimal=",")
    try:
        read(header=None, nrows=2, dtype=str)
    except pandas.errors.ParserError:  # the first line is longer than the header
        _check_aligned(frame, path)
    if known == ";":
        frame.attrs["remark"] = f"{path} is separated by {known!r}"
    return frame


def _separator(header: str) -> str:
    """Semicolons, as spreadsheets write them where numbers have decimal commas, if the header has more of them."""
    outside = re.sub('"[^"]*"', "", header)
    return ";" if outside.count(";") > outside.count(",") else ","


def _has_decimal_commas(frame: Any) -> bool:
    """Whether some column holds nothing but whole numbers and numbers with a decimal comma."""
    return any(
        frame[name].dropna().astype(str).str.fullmatch(r"\s*[+-]?\d+(,\d+)?([eE][+-]?\d+)?\s*").all()
        for name in frame.columns
        if frame[name].dtype.kind not in "biufc" and frame[name].notna().any()
    )


def _check_aligned(frame: Any, path: Path) -> None:
    """Refuse lines that are one cell longer than the header because they end in a separator.

    Pandas takes the first cell of such lines for a row label, so that every column would hold its neighbor's cells. A
    table whose row labels have no name in the header looks the same, but its last column is not empty.

    Raises:
        InputError: If they are.
    """
    if frame.index.nlevels > 1 or bool(frame.iloc[:, -1].isna().all()):
        msg = (
            f"the lines of {str(path)!r} have more cells than its header has names; remove the separators at the ends "
            "of lines, or name every column."
        )
        raise InputError(msg)


def _parquet(path: Path, pandas: Any) -> Any:
    try:
        return pandas.read_parquet(path)
    except ImportError:
        polars = require("polars", "pyarrow", "a parquet file")
        frame = polars.read_parquet(path)
        return pandas.DataFrame({name: frame[name].to_list() for name in frame.columns})


def _numpy(path: Path, pandas: Any) -> Any:
    try:
        stored = np.load(path, allow_pickle=False)
    except ValueError as error:
        msg = f"{str(path)!r} is no array of numbers that numpy wrote; save one with numpy.save, without objects in it."
        raise InputError(msg) from error
    if not isinstance(stored, np.ndarray):
        names = list(stored)
        chosen = "X" if "X" in names else names[0]
        if len(names) > 1 and chosen != "X":
            msg = f"{str(path)!r} holds the arrays {names}; allowed: one array, or one called X."
            raise InputError(msg)
        stored = stored[chosen]
    if stored.ndim != 2:
        msg = f"{str(path)!r} holds an array of shape {stored.shape}; expected (rows, columns)."
        raise InputError(msg)
    return pandas.DataFrame(stored, columns=[f"x{j}" for j in range(stored.shape[1])])


_READERS: dict[str, Callable[[Path, Any], Any]] = {
    "-": _csv,
    "csv": _csv,
    "tsv": lambda path, pandas: _csv(path, pandas, "\t"),
    "parquet": _parquet,
    "feather": lambda path, pandas: pandas.read_feather(path),
    "json": lambda path, pandas: pandas.read_json(path),
    "jsonl": lambda path, pandas: pandas.read_json(path, lines=True),
    "npy": _numpy,
    "npz": _numpy,
}
