"""scipy sparse rows: mixed entry by entry, never as a dense block; stored zeros stay stored."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.games.tables.base import Table, cast_without_loss, factorize_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Bytes one entry takes while rows are mixed: its value, its column, and the two keys it is sorted by.
_ENTRY_BYTES = 40


def read_sparse(data: Any, parameter: str) -> SparseTable | None:
    """The table of a scipy sparse matrix or array of any format; None for anything else."""
    sparse = sys.modules.get("scipy.sparse")
    if sparse is None or not sparse.issparse(data):
        return None
    return SparseTable.of(data, parameter)


class SparseTable(Table):
    """Rows of a scipy sparse matrix or array, in the CSR format.

    A cell that is not stored is a zero; some libraries (XGBoost) read it as missing, so it stays not stored.

    Args:
        rows: CSR rows without duplicates.
    """

    kind = "scipy sparse matrix"
    named = False

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self.names = tuple(f"x{j}" for j in range(rows.shape[1]))

    @classmethod
    def of(cls, data: Any, parameter: str) -> SparseTable:
        """Read a sparse matrix or array of any format."""
        if data.ndim != 2 or data.shape[1] == 0:
            msg = f"{parameter} has shape {data.shape}; expected (rows, columns) with at least one column."
            raise ValueError(msg)
        if data.dtype.kind not in "fiub":
            msg = f"{parameter} has dtype {data.dtype}; allowed in a sparse matrix: real numbers."
            raise TypeError(msg)
        return cls(_canonical(data))

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return int(self._rows.shape[0])

    @property
    def row_bytes(self) -> int:
        """Bytes a hybrid row takes while it is built: entries of two rows, and one flag a column."""
        stored = self._rows.nnz // max(self.n_rows, 1) + 1
        return int(2 * stored * _ENTRY_BYTES + self.n_columns)

    def native(self) -> Any:
        """The rows, in the CSR format."""
        return self._rows

    def take(self, rows: NDArray[np.intp]) -> SparseTable:
        """Some rows."""
        return SparseTable(self._rows[np.asarray(rows)])

    def column(self, position: int) -> NDArray[Any]:
        """One column, dense."""
        return np.asarray(self._rows[:, [position]].toarray())[:, 0]

    def read(self, data: Any, parameter: str) -> SparseTable:
        """Other rows: sparse ones, or dense ones whose zeros are then not stored; see `Table.read`."""
        from scipy import sparse

        if not sparse.issparse(data):
            array = np.asarray(data)
            if array.ndim == 1 and array.shape[0] == self.n_columns:
                array = array[None, :]
            if array.ndim != 2 or array.dtype.kind not in "fiub":
                msg = (
                    f"{parameter} has shape {array.shape} and dtype {array.dtype}; the background is a sparse matrix "
                    f"of {self.n_columns} columns, so (rows, {self.n_columns}) numbers are expected."
                )
                raise ValueError(msg)
            data = type(self._rows)(array)
        if data.ndim == 1 and data.shape[0] == self.n_columns:
            data = data.reshape(1, -1)
        if data.ndim != 2 or data.shape[1] != self.n_columns:
            msg = (
                f"{parameter} has shape {data.shape}; the background has {self.n_columns} columns, "
                f"so (rows, {self.n_columns}) is expected."
            )
            raise ValueError(msg)
        rows = _canonical(data)
        wanted = self._rows.dtype
        if rows.dtype != wanted:
            cells = cast_without_loss(rows.data, wanted, parameter, None)
            rows = type(rows)((cells, rows.indices, rows.indptr), shape=rows.shape)
        return SparseTable(_like(self._rows, rows))

    def stack(self, other: Table) -> SparseTable:
        """Rows of both."""
        from scipy import sparse

        both = sparse.vstack([self._rows, other.native()], format="csr", dtype=self._rows.dtype)
        return SparseTable(_like(self._rows, both))

    def mix(self, rows: NDArray[np.intp], present: NDArray[np.bool_], donors: NDArray[np.intp]) -> Any:
        """Hybrid rows: the stored entries of the row where present and of the donor elsewhere."""
        own, own_at = self._entries(rows)
        other, other_at = self._entries(donors)
        columns = self._rows.indices
        own_kept = present[own_at, columns[own]]
        other_kept = ~present[other_at, columns[other]]
        entry = np.concatenate([own[own_kept], other[other_kept]])
        at = np.concatenate([own_at[own_kept], other_at[other_kept]])
        order = np.lexsort((columns[entry], at))
        entry, at = entry[order], at[order]
        starts = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=len(rows)))])
        index = self._rows.indptr.dtype
        return type(self._rows)(
            (self._rows.data[entry], columns[entry], starts.astype(index)),
            shape=(len(rows), self.n_columns),
        )

    def _entries(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The positions of the stored entries of some rows, and which of them each belongs to."""
        starts = self._rows.indptr[rows].astype(np.int64)
        counts = self._rows.indptr[np.asarray(rows) + 1].astype(np.int64) - starts
        at = np.repeat(np.arange(len(rows)), counts)
        within = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
        return starts[at] + within, at

    def codes(self) -> NDArray[np.int64]:
        """Cells as integers; 0 for a cell that is not stored."""
        codes = np.zeros((self.n_rows, self.n_columns), dtype=np.int64)
        entries, at = self._entries(np.arange(self.n_rows))
        codes[at, self._rows.indices[entries]] = 1 + factorize_bits(self._rows.data)
        return codes

    def player_codes(self, player_of_column: NDArray[np.intp]) -> NDArray[np.int64]:
        """Codes of players from the stored entries alone; see `Table.player_codes`."""
        n_players = int(player_of_column.max(initial=-1)) + 1
        bits = factorize_bits(self._rows.data)
        entries, at = self._entries(np.arange(self.n_rows))
        columns = self._rows.indices[entries]
        player = player_of_column[columns]
        order = np.lexsort((columns, at, player))
        cells = np.stack([columns[order], bits[entries[order]]], axis=1)
        block = player[order] * self.n_rows + at[order]
        ends = np.searchsorted(block, np.arange(n_players * self.n_rows + 1))
        codes = np.zeros((self.n_rows, n_players), dtype=np.int64)
        for one in range(n_players):
            seen: dict[bytes, int] = {}
            for row in range(self.n_rows):
                place = one * self.n_rows + row
                cell = cells[ends[place] : ends[place + 1]].tobytes()
                codes[row, one] = seen.setdefault(cell, len(seen))
        return codes


def _canonical(data: Any) -> Any:
    """CSR without duplicates; the user's own object is never touched.

    Entries stay in the order they have: a product adds them up in that order, so another one gives other last bits.
    """
    rows = data.tocsr(copy=True)
    summed = rows.copy()
    summed.sum_duplicates()
    return rows if summed.nnz == rows.nnz else summed


def _like(model: Any, rows: Any) -> Any:
    """Rows as a matrix or an array, whichever the model one is."""
    return rows if type(rows) is type(model) else type(model)(rows)
