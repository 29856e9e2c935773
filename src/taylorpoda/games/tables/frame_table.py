"""What polars and pyarrow tables share: columns with types of their own, read by name, mixed by gathering."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from taylorpoda.games.tables.base import Table, check_columns
from taylorpoda.games.tables.frames import columns_of, labeled_rows, plain_cells, row_of_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class FrameTable(Table):
    """Rows of a DataFrame without a row index.

    Args:
        columns: The native columns.
        names: Their names, unique.
    """

    named = True

    def __init__(self, columns: Sequence[Any], names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._columns = list(columns)
        self._native: Any = None

    @classmethod
    def of(cls, frame: Any, parameter: str) -> Self:
        """Read a frame of this library."""
        table = cls(*cls._split(frame))
        check_columns(table.names, table.names, parameter)
        if not table.names:
            msg = f"{parameter} has no columns; at least one is needed."
            raise ValueError(msg)
        return table

    @classmethod
    @abstractmethod
    def _split(cls, frame: Any) -> tuple[list[Any], list[str]]:
        """The columns and names of a native frame."""

    @abstractmethod
    def _join(self, columns: Sequence[Any]) -> Any:
        """A native frame of columns like these, in their order."""

    @abstractmethod
    def _gather(self, column: Any, rows: NDArray[np.intp]) -> Any:
        """Some cells of a column."""

    @abstractmethod
    def _append(self, column: Any, other: Any) -> Any:
        """One column after another of the same type."""

    @abstractmethod
    def _type_of(self, column: Any) -> Any:
        """The column's type."""

    @abstractmethod
    def _build(self, cells: NDArray[Any] | list[Any], name: str) -> Any:
        """A column of cells, in whatever type suits them."""

    @abstractmethod
    def _cast(self, column: Any, wanted: Any) -> Any | None:
        """A column in another type if every cell survives, else None."""

    @abstractmethod
    def _codes(self, column: Any) -> NDArray[np.int64]:
        """One column's cells as integers."""

    @abstractmethod
    def _is_native(self, data: Any) -> bool:
        """Whether `data` is a frame of this library."""

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self._columns[0])

    def native(self) -> Any:
        """The frame."""
        if self._native is None:
            self._native = self._join(self._columns)
        return self._native

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Some rows."""
        return type(self)([self._gather(column, rows) for column in self._columns], self.names)

    def read(self, data: Any, parameter: str) -> Self:
        """Other rows, by name where there are names; see `Table.read`."""
        if self._is_native(data):
            columns, names = self._split(data)
            order = check_columns(self.names, names, parameter)
            found = [columns[j] for j in order]
        else:
            found = [
                self._column_of(cells, position, parameter)
                for position, cells in enumerate(self._foreign(data, parameter))
            ]
        fitted = [self._fit(column, position, parameter) for position, column in enumerate(found)]
        return type(self)(fitted, self.names)

    def _foreign(self, data: Any, parameter: str) -> list[NDArray[Any] | list[Any]]:
        """The cells of rows in another container, one entry per column of ours."""
        named = columns_of(data, parameter) or labeled_rows(data, parameter)
        if named is not None:
            names, columns = named
            return [columns[j] for j in check_columns(self.names, names, parameter)]
        array = row_of_cells(data, self.n_columns, parameter, self.names)
        if array.dtype.kind == "O":
            return [plain_cells(array[:, j]) for j in range(self.n_columns)]
        return [array[:, j] for j in range(self.n_columns)]

    def _column_of(self, cells: NDArray[Any] | list[Any], position: int, parameter: str) -> Any:
        name = self.names[position]
        try:
            return self._build(cells, name)
        except Exception as error:  # what a library raises on cells it cannot hold is its own
            msg = f"column {name!r} of {parameter} holds cells that fit no {self.kind} column: {error}"
            raise ValueError(msg) from error

    def _fit(self, column: Any, position: int, parameter: str) -> Any:
        wanted = self._type_of(self._columns[position])
        if self._type_of(column) == wanted:
            return column
        cast = self._cast(column, wanted)
        if cast is None:
            name = self.names[position]
            msg = (
                f"column {name!r} of {parameter} has type {self._type_of(column)} but the background has {wanted}, and "
                "not every cell fits; convert one of them so that both agree."
            )
            raise ValueError(msg)
        return cast

    def stack(self, other: Table) -> Self:
        """Rows of both."""
        if not isinstance(other, FrameTable):
            msg = f"a {self.kind} is followed by a {other.kind}; read it first"
            raise TypeError(msg)
        both = zip(self._columns, other._columns, strict=True)  # noqa: SLF001 - the other half of one class
        return type(self)([self._append(ours, theirs) for ours, theirs in both], self.names)

    def mix(self, rows: NDArray[np.intp], present: NDArray[np.bool_], donors: NDArray[np.intp]) -> Any:
        """Hybrid rows: one gather a column."""
        return self._join(
            [self._gather(column, np.where(present[:, j], rows, donors)) for j, column in enumerate(self._columns)]
        )

    def codes(self) -> NDArray[np.int64]:
        """Cells as integers."""
        if not self.n_rows:
            return np.zeros((0, self.n_columns), dtype=np.int64)
        return np.stack([self._codes(column) for column in self._columns], axis=1)


def coded_with_gaps(codes: NDArray[np.int64], missing: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Codes in which every missing cell has one code that no value has."""
    return np.where(missing, -1, codes)
