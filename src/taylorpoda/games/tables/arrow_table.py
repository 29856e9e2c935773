"""pyarrow Tables: every column keeps its own type, dictionaries and nulls included."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.games.tables.base import factorize_bits, factorize_objects
from taylorpoda.games.tables.frame_table import FrameTable, coded_with_gaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def read_arrow(data: Any, parameter: str) -> ArrowTable | None:
    """The table of a pyarrow Table or RecordBatch; None for anything else."""
    arrow = sys.modules.get("pyarrow")
    if arrow is None or not isinstance(data, arrow.Table | arrow.RecordBatch):
        return None
    return ArrowTable.of(data, parameter)


class ArrowTable(FrameTable):
    """Rows of a pyarrow Table; a RecordBatch becomes one."""

    kind = "pyarrow Table"

    @classmethod
    def _split(cls, frame: Any) -> tuple[list[Any], list[str]]:
        import pyarrow as pa

        if isinstance(frame, pa.RecordBatch):
            frame = pa.Table.from_batches([frame])
        return [_one_chunk(column) for column in frame.unify_dictionaries().columns], list(frame.column_names)

    def _join(self, columns: Sequence[Any]) -> Any:
        import pyarrow as pa

        return pa.Table.from_arrays(list(columns), names=list(self.names))

    def _is_native(self, data: Any) -> bool:
        import pyarrow as pa

        return isinstance(data, pa.Table | pa.RecordBatch)

    @property
    def row_bytes(self) -> int:
        """Bytes of one row, as measured; at least 8 a cell where there are no rows."""
        if not self.n_rows:
            return 8 * self.n_columns
        return max(1, sum(int(column.nbytes) for column in self._columns) // self.n_rows)

    def column(self, position: int) -> NDArray[Any]:
        """One column as numpy sees it."""
        return np.asarray(self._columns[position].to_numpy(zero_copy_only=False))

    def copy(self) -> ArrowTable:
        """The table itself: nobody can scribble on Arrow's memory."""
        return self

    def _gather(self, column: Any, rows: NDArray[np.intp]) -> Any:
        import pyarrow as pa

        return column.take(pa.array(np.asarray(rows, dtype=np.int64)))

    def _append(self, column: Any, other: Any) -> Any:
        import pyarrow as pa

        return _one_chunk(pa.chunked_array([column, other]).unify_dictionaries())

    def _type_of(self, column: Any) -> Any:
        return column.type

    def _build(self, cells: NDArray[Any] | list[Any], name: str) -> Any:  # noqa: ARG002 - arrow's have no names
        import pyarrow as pa

        return _one_chunk(pa.array(cells))

    def _cast(self, column: Any, wanted: Any) -> Any | None:
        import pyarrow as pa
        import pyarrow.compute as pc

        if not _same_family(column.type, wanted, pa):
            return None
        try:
            if pa.types.is_dictionary(wanted):
                plain = pc.cast(column, wanted.value_type, safe=True)
                return plain.dictionary_encode().cast(wanted)
            cast = pc.cast(column, wanted, safe=True)
            if pa.types.is_null(column.type):
                return cast
            back = pc.cast(cast, column.type, safe=True)
        except pa.ArrowException:
            return None
        return cast if _same(back, column, pa) else None

    def _codes(self, column: Any) -> NDArray[np.int64]:
        import pyarrow as pa
        import pyarrow.compute as pc

        missing = column.is_null().to_numpy(zero_copy_only=False)
        kind = column.type
        if pa.types.is_dictionary(kind):
            column = column.cast(kind.value_type)
            kind = column.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
            codes = column.dictionary_encode().indices.fill_null(0).to_numpy(zero_copy_only=False)
            return coded_with_gaps(codes.astype(np.int64), missing)
        if pa.types.is_temporal(kind) and kind.bit_width in (32, 64):
            column = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
        elif pa.types.is_boolean(kind):
            column = pc.cast(column, pa.uint8())
        elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            return factorize_objects(column.to_pylist())
        filled = column.fill_null(np.zeros((), dtype=column.type.to_pandas_dtype()).item())
        return coded_with_gaps(factorize_bits(filled.to_numpy(zero_copy_only=False)), missing)


def _one_chunk(column: Any) -> Any:
    """A column as one plain array, which gathers fast."""
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


def _same(ours: Any, theirs: Any, pa: Any) -> bool:
    """Whether two arrays of one type hold the same cells; Arrow's own comparison tells a NaN from itself."""
    if ours.equals(theirs):
        return True
    if not pa.types.is_floating(ours.type) or not ours.is_null().equals(theirs.is_null()):
        return False
    cells = [column.to_numpy(zero_copy_only=False) for column in (ours, theirs)]
    return np.array_equal(cells[0], cells[1], equal_nan=True)


def _same_family(have: Any, wanted: Any, pa: Any) -> bool:
    """Whether a cast can be one without loss: numbers to numbers, text to dictionaries, times to times."""
    types = pa.types

    def family(kind: Any) -> str:
        if types.is_dictionary(kind):
            kind = kind.value_type
        if types.is_null(kind):
            return "any"
        if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
            return "number"
        if types.is_string(kind) or types.is_large_string(kind):
            return "text"
        return "time" if types.is_timestamp(kind) or types.is_date(kind) else str(kind)

    return family(have) in ("any", family(wanted))
