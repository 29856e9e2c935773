"""Tables of text: CSV with or without a header, and dense ARFF."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_MISSING = frozenset({"", "?", "na", "nan", "null"})


class DataFormatError(ValueError):
    """A file was read but is not the data set it should be."""


@dataclass(frozen=True)
class Records:
    """A table of text cells.

    Attributes:
        header: One name per column.
        rows: The cells, stripped, row by row.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def column(self, *aliases: str) -> list[str]:
        """The cells of the column that goes by one of these names, compared without case and punctuation."""
        index = self._index(aliases)
        if not self.rows:
            msg = f"no rows below the header {list(self.header)}."
            raise DataFormatError(msg)
        return [row[index] for row in self.rows]

    def numbers(self, *aliases: str) -> NDArray[np.float64]:
        """A column as float64; missing cells are NaN."""
        cells = self.column(*aliases)
        try:
            return np.array([np.nan if cell.lower() in _MISSING else float(cell) for cell in cells])
        except ValueError as error:
            msg = f"column {aliases[0]!r} holds a cell that is not a number: {error}"
            raise DataFormatError(msg) from error

    def codes(self, meaning: dict[str, int], *aliases: str) -> NDArray[np.int64]:
        """A column of names as integers, by a table of what each name means."""
        cells = self.column(*aliases)
        unknown = sorted({cell for cell in cells if cell not in meaning})
        if unknown:
            msg = f"column {aliases[0]!r} holds {unknown[:3]}; known: {sorted(meaning)}."
            raise DataFormatError(msg)
        return np.array([meaning[cell] for cell in cells], dtype=np.int64)

    def _index(self, aliases: Sequence[str]) -> int:
        known = [_plain(name) for name in self.header]
        for alias in aliases:
            if _plain(alias) in known:
                return known.index(_plain(alias))
        msg = f"no column {' or '.join(map(repr, aliases))}; the columns are {list(self.header)}."
        raise DataFormatError(msg)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def read_csv(content: bytes, header: Sequence[str] | None = None) -> Records:
    """Read comma-separated text.

    Args:
        content: The bytes of the file, UTF-8.
        header: Column names where the file has no header line.
    """
    try:
        lines = [tuple(cell.strip() for cell in row) for row in csv.reader(io.StringIO(_text(content))) if row]
    except csv.Error as error:
        msg = f"not comma-separated text: {error}"
        raise DataFormatError(msg) from error
    if not lines:
        msg = "the file is empty."
        raise DataFormatError(msg)
    if header is None:
        names, rows = lines[0], lines[1:]
    else:
        names, rows = tuple(header), lines
    return _checked(names, rows)


def read_arff(content: bytes) -> Records:
    """Read a dense ARFF file (OpenML's form)."""
    names: list[str] = []
    rows: list[tuple[str, ...]] = []
    in_data = False
    for line in io.StringIO(_text(content)):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if in_data:
            rows.append(_arff_row(text))
        elif text.lower().startswith("@attribute"):
            match = re.match(r"@attribute\s+(?:'([^']*)'|\"([^\"]*)\"|(\S+))", text, flags=re.IGNORECASE)
            if match is None:
                msg = f"an ARFF attribute line that names nothing: {text!r}."
                raise DataFormatError(msg)
            names.append(next(group for group in match.groups() if group is not None))
        elif text.lower().startswith("@data"):
            in_data = True
    if not in_data:
        msg = "no @data line: not an ARFF file."
        raise DataFormatError(msg)
    return _checked(tuple(names), rows)


def _arff_row(text: str) -> tuple[str, ...]:
    try:
        cells = next(csv.reader([text], quotechar="'", skipinitialspace=True))
    except csv.Error as error:
        msg = f"an ARFF row that is not comma-separated: {error}"
        raise DataFormatError(msg) from error
    return tuple(cell.strip().strip("\"'") for cell in cells)


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"not UTF-8 text: {error}"
        raise DataFormatError(msg) from error


def _checked(names: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Records:
    for number, row in enumerate(rows):
        if len(row) != len(names):
            msg = f"row {number} has {len(row)} cells and the header {len(names)}."
            raise DataFormatError(msg)
    return Records(names, tuple(rows))
