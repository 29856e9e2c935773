"""An explanation as a file: a table, a JSON document, a page, or the whole of it for `taylorpoda.load`."""

from __future__ import annotations

import csv
import json
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.optional import require
from taylorpoda._support.safe_write import drafted, replaced
from taylorpoda._version import __version__
from taylorpoda.cli.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from taylorpoda.explanation import Explanation

_EVIDENCE = ("score", "shapley_score", "bound", "certified")
# A page shows every policy for every purpose where that takes seconds, and the one asked for where it would not.
_WIDEST_TABLE = 14
_MOST_ROWS = 200
# How a spreadsheet recognizes a formula in a CSV file.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


def check_outputs(paths: Sequence[Path] | None) -> tuple[Path, ...]:
    """The files to write, refused before anything is computed if they cannot be.

    Raises:
        InputError: If an ending is not known or a folder is missing.
    """
    for path in paths or ():
        check_output(path, _WRITERS)
    return tuple(paths or ())


def check_output(path: Path, endings: Iterable[str]) -> None:
    """Refuse a file that cannot be written.

    Raises:
        InputError: If its ending is none of `endings`, or its folder is missing or may not be written to.
    """
    folder = path.absolute().parent
    if path.suffix.lower() not in endings:
        what = "has no known ending"
    elif path.is_dir():
        what = "is a directory"
    elif not folder.is_dir():
        what = "is in a folder that does not exist"
    elif not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        what = "may not be written to"
    else:
        return
    msg = f"--out={str(path)!r} {what}; allowed: a {', '.join(endings)} file in a folder that exists and is yours."
    raise InputError(msg)


def write_output(path: Path, explanation: Explanation, positions: NDArray[np.intp]) -> None:
    """Write one file; what was there is replaced once the new one is whole."""
    _WRITERS[path.suffix.lower()](path, explanation, positions)


def table_of(explanation: Explanation, positions: NDArray[np.intp]) -> dict[str, list[Any]]:
    """One line per row and output, as columns: who, what, how good, and one number per feature.

    A feature that is called like one of our own columns gets "feature: " before its name.
    """
    outputs = list(explanation.output_names or ("",))
    values = explanation.values[:, :, None] if explanation.values.ndim == 2 else explanation.values
    rows, _, width = values.shape

    def flat(array: Any) -> list[Any]:
        return list(np.asarray(array).reshape(rows * width).tolist())

    columns: dict[str, list[Any]] = {"row": np.repeat(positions, width).tolist()}
    if explanation.output_names is not None:
        columns["output"] = outputs * rows
    columns["base_value"] = flat(explanation.base_values)
    columns["prediction"] = flat(explanation.predictions)
    for name in _EVIDENCE:
        columns[name] = flat(getattr(explanation, name))
    for k, feature in enumerate(explanation.feature_names):
        name = feature
        while name in columns:
            name = f"feature: {name}"
        columns[name] = flat(values[:, k, :])
    return columns


def explanation_record(explanation: Explanation, positions: NDArray[np.intp]) -> dict[str, Any]:
    """The explanation as one JSON document; numbers that are none become null."""
    values = explanation.values[:, :, None] if explanation.values.ndim == 2 else explanation.values
    lower, upper = ((part[:, :, None] if part.ndim == 2 else part) for part in (explanation.lower, explanation.upper))
    rows, _, width = values.shape
    names = explanation.output_names
    lines = []
    for row in range(rows):
        for k in range(width):
            at = (row, k) if explanation.values.ndim == 3 else (row,)
            lines.append(
                {
                    "row": int(positions[row]),
                    **({"output": names[k]} if names is not None else {}),
                    "base_value": float(explanation.base_values[at]),
                    "prediction": float(explanation.predictions[at]),
                    "discrepancy": float(explanation.discrepancy[at]),
                    **{name: _number(getattr(explanation, name)[at]) for name in (*_EVIDENCE, "nearest_certified")},
                    "values": values[row, :, k].tolist(),
                    "lower": lower[row, :, k].tolist(),
                    "upper": upper[row, :, k].tolist(),
                }
            )
    return {
        "taylorpoda": __version__,
        "model": explanation.subject.model,
        "engine": explanation.engine,
        "policy": explanation.policy,
        "utility": explanation.utility.name,
        "higher_is_better": explanation.utility.higher_is_better,
        "feature_names": list(explanation.feature_names),
        "output_names": None if names is None else list(names),
        "provenance": _plain(explanation.provenance),
        "explanations": lines,
    }


def _number(value: Any) -> bool | float | None:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    return float(value) if math.isfinite(value) else None


def _plain(value: Any) -> Any:
    if hasattr(value, "items"):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    if isinstance(value, bool | np.bool_ | float | np.floating):
        return _number(value)
    if isinstance(value, int | np.integer):
        return int(value)
    return None if value is None else str(value)


def _write_csv(path: Path, explanation: Explanation, positions: NDArray[np.intp]) -> None:
    columns = table_of(explanation, positions)
    with replaced(path) as stream:
        # The module leaves a carriage return without quotes where lines do not end in one.
        returns = any("\r" in text for text in (*columns, *(explanation.output_names or ())))
        plain = csv.writer(stream, lineterminator="\n")
        writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC) if returns else plain
        writer.writerow([_harmless(name) for name in columns])
        writer.writerows([_harmless(cell) for cell in line] for line in zip(*columns.values(), strict=True))


def _harmless(cell: Any) -> Any:
    """Text that a spreadsheet would run as a formula, kept as text by an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULAS) else cell


def _write_json(path: Path, explanation: Explanation, positions: NDArray[np.intp]) -> None:
    with replaced(path) as stream:
        json.dump(explanation_record(explanation, positions), stream, indent=2, allow_nan=False)
        stream.write("\n")


def _write_parquet(path: Path, explanation: Explanation, positions: NDArray[np.intp]) -> None:
    columns = table_of(explanation, positions)
    try:
        polars = require("polars", "polars", "a .parquet file")
    except ImportError:
        parquet = require("pyarrow.parquet", "pyarrow", "a .parquet file")
        arrow = require("pyarrow", "pyarrow", "a .parquet file")
        with drafted(path) as draft:
            parquet.write_table(arrow.table(columns), draft)
    else:
        with drafted(path) as draft:
            polars.DataFrame(columns).write_parquet(draft)


def _write_html(path: Path, explanation: Explanation, positions: NDArray[np.intp]) -> None:
    from taylorpoda.report import write_html

    rows, n = explanation.values.shape[:2]
    small = n <= _WIDEST_TABLE and rows <= _MOST_ROWS
    named = {"shapley": explanation.reallocate(policy="shapley"), explanation.policy: explanation}
    write_html(path, named, utilities=None if small else [explanation.utility], description=_rows_text(positions))


def _rows_text(positions: NDArray[np.intp]) -> str:
    listed = ", ".join(map(str, positions[:10].tolist()))
    return f"Row numbers in the data, in the order of this page: {listed}{', ...' * (len(positions) > 10)}."


def _write_whole(path: Path, explanation: Explanation, _: NDArray[np.intp]) -> None:
    explanation.save(path)


_WRITERS: dict[str, Callable[[Path, Explanation, NDArray[np.intp]], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
    ".json": _write_json,
    ".html": _write_html,
    ".npz": _write_whole,
}
