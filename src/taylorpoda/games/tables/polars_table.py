"""polars DataFrames: every column keeps its own type, categories and nulls included."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.games.tables.base import factorize_bits, factorize_objects
from taylorpoda.games.tables.frame_table import FrameTable, coded_with_gaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray


def read_polars(data: Any, parameter: str) -> PolarsTable | None:
    """The table of a polars DataFrame; None for anything else."""
    polars = sys.modules.get("polars")
    if polars is None:
        return None
    if isinstance(data, polars.LazyFrame):
        msg = f"{parameter} is a polars LazyFrame; call .collect() first."
        raise TypeError(msg)
    return PolarsTable.of(data, parameter) if isinstance(data, polars.DataFrame) else None


class PolarsTable(FrameTable):
    """Rows of a polars DataFrame."""

    kind = "polars DataFrame"

    @classmethod
    def _split(cls, frame: pl.DataFrame) -> tuple[list[pl.Series], list[str]]:
        return frame.get_columns(), list(frame.columns)

    def _join(self, columns: Sequence[pl.Series]) -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame([column.alias(name) for column, name in zip(columns, self.names, strict=True)])

    def _is_native(self, data: Any) -> bool:
        import polars as pl

        return isinstance(data, pl.DataFrame)

    @property
    def row_bytes(self) -> int:
        """Bytes of one row, as measured; at least 8 a cell where there are no rows."""
        if not self.n_rows:
            return 8 * self.n_columns
        return max(1, int(sum(column.estimated_size() for column in self._columns)) // self.n_rows)

    def column(self, position: int) -> NDArray[Any]:
        """One column as numpy sees it."""
        return np.asarray(self._columns[position].to_numpy())

    def _gather(self, column: pl.Series, rows: NDArray[np.intp]) -> pl.Series:
        return column.gather(rows)

    def _append(self, column: pl.Series, other: pl.Series) -> pl.Series:
        import polars as pl

        return pl.concat([column, other], rechunk=True)

    def _type_of(self, column: pl.Series) -> Any:
        return column.dtype

    def _build(self, cells: NDArray[Any] | list[Any], name: str) -> pl.Series:
        import polars as pl

        if isinstance(cells, list):
            kinds = {type(cell) for cell in cells if cell is not None}
            if kinds == {int, float}:  # polars settles on integers after the first cell
                cells = [_as_float(cell) for cell in cells]
        return pl.Series(name, cells, strict=True)

    def _cast(self, column: pl.Series, wanted: Any) -> pl.Series | None:
        import polars as pl

        if not _same_family(column.dtype, wanted, pl):
            return None
        try:
            cast = column.cast(wanted, strict=True)
            back = cast.cast(column.dtype, strict=True)
        except pl.exceptions.PolarsError:
            return None
        return cast if bool(column.eq_missing(back).all()) else None

    def _codes(self, column: pl.Series) -> NDArray[np.int64]:
        import polars as pl

        missing = column.is_null().to_numpy()
        if column.dtype == pl.String:
            column = column.cast(pl.Categorical)
        if column.dtype == pl.Boolean:
            column = column.cast(pl.UInt8)
        physical = column.to_physical()
        if not physical.dtype.is_numeric() or "128" in str(physical.dtype) or physical.dtype.is_decimal():
            return factorize_objects(column.to_list())
        return coded_with_gaps(factorize_bits(physical.fill_null(0).to_numpy()), missing)


def _as_float(cell: float | None) -> float | None:
    if cell is not None and float(cell) != cell and isinstance(cell, int):
        msg = f"{cell} is no float64"
        raise ValueError(msg)
    return None if cell is None else float(cell)


def _same_family(have: Any, wanted: Any, pl: Any) -> bool:
    """Whether a cast can be one without loss: numbers to numbers, text to categories, times to times."""

    def family(dtype: Any) -> str:
        if dtype == pl.Null:
            return "any"
        if dtype.is_numeric() or dtype == pl.Boolean:
            return "number"
        if dtype in (pl.String, pl.Categorical) or isinstance(dtype, pl.Enum):
            return "text"
        return "time" if dtype in (pl.Date, pl.Datetime) else str(dtype)

    return family(have) in ("any", family(wanted))
