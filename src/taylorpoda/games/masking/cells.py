"""Cells as numbers and categories: what a rule that compares rows reads out of a user's container."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from taylorpoda.games.tables.base import Table

# Numbers become float64; times the number of their ticks; the rest is categories.
_NUMERIC, _TIMES = "fiub", "mM"
_ABSENT_TYPES = ("NAType", "NaTType", "NoneType")
# Objects that are numbers at heart; a datetime is a date, too, so it stands first.
_MEASURED = (Real, Decimal, datetime, date, time, timedelta)
_DAY_ZERO = date(1970, 1, 1)
# The level of a category the background never had.
UNSEEN = -1
_SHOWN = 4


@dataclass(frozen=True)
class ColumnKind:
    """How one column is read.

    Attributes:
        name: The column.
        kind: "number" or "category".
        levels: Of a category: its level keys, in order of appearance; a missing cell is a level of its own.
        missing: Whether the background has missing cells here.
        whole: Whether the container holds something other than floating-point numbers here.
    """

    name: str
    kind: Literal["number", "category"]
    levels: tuple[str, ...] = ()
    missing: bool = False
    whole: bool = False


@dataclass(frozen=True)
class CellReader:
    """Reads tables with the columns of one background.

    Attributes:
        columns: One entry per column.
    """

    columns: tuple[ColumnKind, ...]

    @classmethod
    def of(cls, background: Table) -> CellReader:
        """Decide from the background how each column is read."""
        return cls(tuple(_kind_of(background, position) for position in range(background.n_columns)))

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return len(self.columns)

    @property
    def categorical(self) -> NDArray[np.bool_]:
        """Shape (n_columns,): which columns hold categories."""
        return np.array([column.kind == "category" for column in self.columns], dtype=bool)

    def read(self, table: Table) -> NDArray[np.float64]:
        """Every cell as a number.

        Returns:
            Shape (rows, n_columns): a number's value, NaN where it is missing; a category's level, -1 where the
            background never had it.
        """
        cells = np.empty((table.n_rows, self.n_columns))
        for position, column in enumerate(self.columns):
            raw = table.column(position)
            if column.kind == "number":
                cells[:, position] = _numbers(raw, column.name)
            else:
                known = {level: code for code, level in enumerate(column.levels)}
                cells[:, position] = [known.get(level_key(cell), UNSEEN) for cell in raw.tolist()]
        return cells

    def numbers(self, table: Table, masking: str, parameter: str) -> NDArray[np.float64]:
        """Every cell as a number, for a rule that reads nothing else.

        Raises:
            ValueError: If a column holds categories or times, or a cell is missing or infinite; the message says
                which maskings take them.
        """
        others = f"{others_that_take('categories and missing cells')}, or give masking={masking!r} numbers only"
        for position, column in enumerate(self.columns):
            raw = np.asarray(table.column(position))
            if column.kind == "category" or raw.dtype.kind not in _NUMERIC:
                msg = (
                    f"masking={masking!r} reads numbers, but column {column.name!r} of {parameter} holds "
                    f"{_what(column, raw)}; use {others}."
                )
                raise ValueError(msg)
        cells = self.read(table)
        bad = ~np.isfinite(cells)
        if bad.any():
            row, position = (int(axis[0]) for axis in np.nonzero(bad))
            msg = (
                f"masking={masking!r} reads complete rows, but row {row} of {parameter} has {cells[row, position]} "
                f"in column {self.columns[position].name!r}; use {others}."
            )
            raise ValueError(msg)
        return cells

    def to_json(self) -> list[dict[str, Any]]:
        """As plain values."""
        return [
            {"name": c.name, "kind": c.kind, "levels": list(c.levels), "missing": c.missing, "whole": c.whole}
            for c in self.columns
        ]

    @classmethod
    def from_json(cls, stored: list[Mapping[str, Any]]) -> CellReader:
        """Rebuild from `to_json`."""
        return cls(
            tuple(
                ColumnKind(str(c["name"]), c["kind"], tuple(c["levels"]), bool(c["missing"]), bool(c["whole"]))
                for c in stored
            )
        )


def others_that_take(what: str) -> str:
    """The maskings that take categories and missing cells, for messages."""
    return f'"conditional", "neighbours" or "marginal", which take {what}'


def level_key(cell: Any) -> str:
    """A category as text that tells 1 from "1" and True from 1, the same in every container."""
    if is_missing(cell):
        return "missing"
    if isinstance(cell, bool | np.bool_):
        return f"truth {bool(cell)}"
    if isinstance(cell, Real | np.number):
        return f"number {float(cell)!r}"
    return f"text {cell}"


def is_missing(cell: Any) -> bool:
    """Whether a cell is None, NaN, NaT or NA."""
    if type(cell).__name__ in _ABSENT_TYPES:
        return True
    return isinstance(cell, float | np.floating) and cell != cell  # noqa: PLR0124 - NaN


def _kind_of(background: Table, position: int) -> ColumnKind:
    name = background.names[position]
    raw = np.asarray(background.column(position))
    if not _declared_category(background, position):
        if raw.dtype.kind in _NUMERIC:
            missing = raw.dtype.kind == "f" and bool(np.isnan(raw).any())
            return ColumnKind(name, "number", missing=missing, whole=raw.dtype.kind != "f")
        if raw.dtype.kind in _TIMES:
            return ColumnKind(name, "number", missing=bool(np.isnat(raw).any()), whole=True)
        known = [cell for cell in raw.tolist() if not is_missing(cell)]
        measures = {_measure(cell) for cell in known}
        if len(measures) == 1 and measures != {None}:
            return ColumnKind(name, "number", missing=len(known) < len(raw), whole=True)
    levels = dict.fromkeys(level_key(cell) for cell in raw.tolist())
    return ColumnKind(name, "category", tuple(levels), missing="missing" in levels, whole=True)


def _declared_category(table: Table, position: int) -> bool:
    """Whether pandas was told that the column holds categories, whatever they look like."""
    by_position: Any = getattr(getattr(table.native(), "dtypes", None), "iloc", None)
    return by_position is not None and str(by_position[position]) == "category"


def _numbers(raw: NDArray[Any], name: str) -> NDArray[np.float64]:
    raw = np.asarray(raw)
    if raw.dtype.kind in _TIMES:
        ticks = raw.astype("M8[us]" if raw.dtype.kind == "M" else "m8[us]")
        return np.where(np.isnat(ticks), np.nan, ticks.astype(np.int64).astype(np.float64))
    if raw.dtype.kind in _NUMERIC:
        return raw.astype(np.float64)
    try:
        return np.array([_number(cell) for cell in raw.tolist()], dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"column {name!r} holds numbers in the background but other cells here: {error}"
        raise ValueError(msg) from error


def _measure(cell: Any) -> str | None:
    """What kind of number an object is, or None."""
    if isinstance(cell, bool | np.bool_):
        return None
    if type(cell).__name__ == "Period":
        return "Period"
    kind = next((kind for kind in _MEASURED if isinstance(cell, kind)), None)
    return None if kind is None else kind.__name__


def _number(cell: Any) -> float:
    """An object as a number: seconds since 1970, days, or what it says."""
    if is_missing(cell):
        return np.nan
    if isinstance(cell, datetime):
        return float((cell if cell.tzinfo else cell.replace(tzinfo=UTC)).timestamp())
    if isinstance(cell, date):
        return float(cell.toordinal())
    if isinstance(cell, time):
        return datetime.combine(_DAY_ZERO, cell, tzinfo=UTC).timestamp()
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    return float(cell.ordinal if type(cell).__name__ == "Period" else cell)


def _what(column: ColumnKind, raw: NDArray[Any]) -> str:
    if column.kind == "number":
        return f"{raw.dtype} cells"
    shown = ", ".join(level.partition(" ")[2] or level for level in column.levels[:_SHOWN])
    return f"the categories {shown}{', ...' if len(column.levels) > _SHOWN else ''}"
