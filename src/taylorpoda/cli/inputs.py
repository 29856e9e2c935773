"""What the files of a command come to: a background, rows to explain, their labels and numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.seeds import stream
from taylorpoda.cli.columns import choose_columns, select
from taylorpoda.cli.data_files import load_data
from taylorpoda.cli.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from taylorpoda.cli.columns import Columns

_PIECE = re.compile(r"(-?\d+)|(-?\d*):(-?\d*)")


@dataclass(frozen=True, eq=False)
class Inputs:
    """What an explainer is given.

    Attributes:
        background: The rows that stand for the population: a DataFrame, or an array where the model was fitted on one.
        rows: The rows to explain, in the same container.
        labels: Their labels, or None.
        positions: Shape (rows,): the number of each row in the file, from 0.
        columns: Which columns of the file they are.
        remarks: What was done that the user may want to know.
    """

    background: Any
    rows: Any
    labels: Any
    positions: NDArray[np.intp]
    columns: Columns
    remarks: tuple[str, ...]

    @property
    def groups(self) -> list[str] | None:
        """Names for the columns of an array, which has none of its own."""
        return list(self.columns.names) if isinstance(self.background, np.ndarray) else None


def read_inputs(
    model: Any,
    data: Path,
    *,
    background: Path | None,
    background_rows: int | None,
    target: str | None,
    drop: Sequence[str],
    rows: str | None,
    seed: int,
) -> Inputs:
    """Read the files and match their columns with the model.

    Args:
        model: The model.
        data: The file with the rows to explain.
        background: The file with the background; None for the rows of `data`.
        background_rows: How many rows of the background to draw; None for all.
        target: The column with the labels, or None.
        drop: Columns that are no features.
        rows: Which rows to explain, "0:5" or "1,4,7"; None for all.
        seed: Of the draw.

    Raises:
        InputError: If a file, a column or a row is missing.
    """
    frame = load_data(data, "DATA")
    taken = [*drop, *([target] if target is not None else [])]
    for name in taken:
        if name not in frame.columns:
            parameter = "--target" if name == target else "--drop"
            msg = f"{parameter}={name!r} is no column of {data}; its columns are {list(frame.columns)[:40]}."
            raise InputError(msg)
    columns = choose_columns(model, list(frame.columns), taken)
    positions = row_numbers(rows, len(frame))
    remarks = [frame.attrs["remark"]] if "remark" in frame.attrs else []
    if columns.unread:
        remarks.append(f"not read by the model: {', '.join(columns.unread[:12])}{' ...' * (len(columns.unread) > 12)}")
    other = frame if background is None else _background(background, columns)
    chosen = _drawn(len(other), background_rows, seed)
    if background_rows is not None and len(chosen) < len(other):
        source = data if background is None else background
        remarks.append(f"background: {len(chosen)} of the {len(other):,} rows of {source}, drawn with seed {seed}")
    features = _together(other[list(columns.names)].iloc[chosen], frame[list(columns.names)].iloc[positions])
    ready = _container(select(features, columns), columns)
    cut = len(chosen)
    return Inputs(
        background=ready[:cut],
        rows=ready[cut:] if isinstance(ready, np.ndarray) else ready.iloc[cut:].reset_index(drop=True),
        labels=None if target is None else frame[target].iloc[positions].to_numpy(),
        positions=positions,
        columns=columns,
        remarks=tuple(remarks),
    )


def _background(path: Path, columns: Columns) -> Any:
    frame = load_data(path, "--background")
    missing = [name for name in columns.names if name not in frame.columns]
    if missing:
        msg = f"--background={str(path)!r} has no columns {missing[:20]}; it has {list(frame.columns)[:40]}."
        raise InputError(msg)
    return frame


def _drawn(n_rows: int, wanted: int | None, seed: int) -> NDArray[np.intp]:
    if wanted is None or wanted >= n_rows:
        return np.arange(n_rows)
    return np.sort(stream(seed, 0).choice(n_rows, size=wanted, replace=False))


def _together(background: Any, rows: Any) -> Any:
    """Both tables as one, so that a column that happens to be whole in one of the files has one type."""
    import pandas as pd

    return pd.concat([background, rows], ignore_index=True)


def _container(features: Any, columns: Columns) -> Any:
    """A DataFrame, or an array for a model that was fitted on one."""
    plain = all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in features.dtypes)
    if columns.model_names is None and plain and not columns.categories and not columns.text:
        return features.to_numpy()
    return features


def row_numbers(rows: str | None, n_rows: int) -> NDArray[np.intp]:
    """The rows that "0:5", "3" or "1,4,10:12" name, in that order; all for None.

    Raises:
        InputError: If the text is something else, or a row does not exist.
    """
    if rows is None:
        return np.arange(n_rows)
    found: list[int] = []
    for piece in rows.split(","):
        match = _PIECE.fullmatch(piece.strip())
        if match is None:
            msg = f"--rows={rows!r} is not understood; allowed: numbers and ranges such as 0:5, 3 or 1,4,10:12."
            raise InputError(msg)
        if match[1] is None:
            start, stop = (int(end) if end else None for end in (match[2], match[3]))
            found += range(n_rows)[start:stop]
            continue
        number = int(match[1])
        if not -n_rows <= number < n_rows:
            msg = f"--rows={rows!r} names row {number}, but there are {n_rows} rows, 0 to {n_rows - 1}."
            raise InputError(msg)
        found.append(number % n_rows)
    if not found:
        msg = f"--rows={rows!r} names no row; there are {n_rows}, 0 to {n_rows - 1}."
        raise InputError(msg)
    return np.array(found, dtype=np.intp)
