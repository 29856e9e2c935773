"""pandas DataFrames: every column keeps its own dtype, categories included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.games.tables.base import (
    Table,
    cast_without_loss,
    check_columns,
    factorize_bits,
    factorize_objects,
)
from taylorpoda.games.tables.frames import columns_of, labeled_rows
from taylorpoda.games.tables.grid import HybridGrid, choose

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from numpy.typing import NDArray


class PandasTable(Table):
    """Rows of a pandas DataFrame.

    Args:
        frame: The rows; column names must be unique.
    """

    kind = "pandas DataFrame"
    named = True

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame
        self.names = tuple(str(name) for name in frame.columns)
        self._block = self._as_block()
        self._columns: list[Any] | None = None

    @classmethod
    def of(cls, frame: pd.DataFrame, parameter: str) -> PandasTable:
        """Read a DataFrame."""
        names = [str(name) for name in frame.columns]
        check_columns(names, names, parameter)
        if not names:
            msg = f"{parameter} has no columns; at least one is needed."
            raise ValueError(msg)
        return cls(frame)

    def _as_block(self) -> NDArray[Any] | None:
        dtypes = set(self._frame.dtypes)
        if len(dtypes) == 1 and isinstance(dtype := next(iter(dtypes)), np.dtype) and dtype.kind in "fiub":
            return self._frame.to_numpy()
        return None

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self._frame)

    @property
    def row_bytes(self) -> int:
        """Bytes of one row; 8 for a cell whose size is not fixed."""
        return sum(int(getattr(dtype, "itemsize", 8)) for dtype in self._frame.dtypes)

    @property
    def index(self) -> Any:
        """The row index."""
        return self._frame.index

    def native(self) -> pd.DataFrame:
        """The DataFrame."""
        return self._frame

    def take(self, rows: NDArray[np.intp]) -> PandasTable:
        """Some rows."""
        return PandasTable(self._frame.iloc[rows])

    def column(self, position: int) -> NDArray[Any]:
        """One column as numpy sees it."""
        return np.asarray(self._frame.iloc[:, position].to_numpy())

    def read(self, data: Any, parameter: str) -> PandasTable:
        """Other rows, by name where there are names; see `Table.read`."""
        import pandas as pd

        if isinstance(data, pd.Series):
            data = self._row_of_series(data, parameter)
        if not isinstance(data, pd.DataFrame):
            foreign = columns_of(data, parameter) or labeled_rows(data, parameter)
            if foreign is None:
                data = self._frame_of_array(data, parameter)
            else:
                names, cells = foreign
                check_columns(names, names, parameter)
                data = pd.DataFrame(dict(zip(names, map(_series, cells), strict=True)))
        order = check_columns(self.names, [str(name) for name in data.columns], parameter)
        frame = data.iloc[:, order]
        columns = []
        for position, name in enumerate(self.names):
            wanted, series = self._frame.dtypes.iloc[position], frame.iloc[:, position]
            columns.append(series if series.dtype == wanted else self._cast(series, wanted, name, parameter))
        return PandasTable(self._joined(columns, frame.index))

    def _row_of_series(self, series: pd.Series[Any], parameter: str) -> pd.DataFrame:
        names = [str(name) for name in series.index]
        order = check_columns(self.names, names, parameter)
        frame = series.iloc[order].to_frame().T.astype(object)
        frame.columns = self._frame.columns
        return frame

    def _frame_of_array(self, data: Any, parameter: str) -> pd.DataFrame:
        import pandas as pd

        array = np.asarray(data, dtype=None if isinstance(data, np.ndarray) else object)
        if array.ndim == 1 and array.shape[0] == self.n_columns:
            array = array[None, :]
        elif array.size == 0:
            array = array.reshape(0, self.n_columns)
        if array.ndim != 2 or array.shape[1] != self.n_columns:
            msg = (
                f"{parameter} has shape {array.shape}; the background is a DataFrame with the "
                f"{self.n_columns} columns {list(self.names)}."
            )
            raise ValueError(msg)
        return pd.DataFrame(array, columns=self._frame.columns)

    @staticmethod
    def _cast(series: pd.Series[Any], wanted: Any, name: str, parameter: str) -> pd.Series[Any]:
        import pandas as pd

        if isinstance(wanted, pd.CategoricalDtype):
            unseen = sorted(set(series.dropna().astype(object)) - set(wanted.categories), key=str)
            if unseen:
                msg = (
                    f"column {name!r} of {parameter} holds {unseen}, which the background's categories "
                    f"{list(wanted.categories)} do not name; add them to both, e.g. with .cat.add_categories({unseen})."
                )
                raise ValueError(msg)
        if isinstance(wanted, np.dtype) and isinstance(series.dtype, np.dtype):
            cells = cast_without_loss(series.to_numpy(), wanted, parameter, name)
            return pd.Series(cells, index=series.index)
        msg = (
            f"column {name!r} of {parameter} has dtype {series.dtype} but the background has {wanted}, and "
            f"not every cell fits; convert one of them so that both agree, e.g. "
            f"{parameter}[{name!r}].astype(...)."
        )
        try:
            cast = series.astype(wanted)
            lost = bool((cast.isna() != series.isna()).any())
            known = ~series.isna()
            same = not lost and bool((cast[known].astype(object) == series[known].astype(object)).all())
        except (TypeError, ValueError) as error:
            raise ValueError(msg) from error
        if not same:
            raise ValueError(msg)
        return cast

    def stack(self, other: Table) -> PandasTable:
        """Rows of both, every column in its own dtype."""
        import pandas as pd

        both = (self._frame, other.native())
        return PandasTable(
            self._joined(
                [pd.concat([part.iloc[:, j] for part in both], ignore_index=True) for j in range(self.n_columns)]
            )
        )

    def _joined(self, columns: Sequence[pd.Series[Any]], index: Any = None) -> pd.DataFrame:
        """Columns under our labels, by position: labels such as 1 and True are one key to a mapping."""
        import pandas as pd

        frame = pd.DataFrame(dict(enumerate(columns)), index=index, copy=False)
        frame.columns = self._frame.columns
        return frame

    def mix(self, rows: NDArray[np.intp], present: NDArray[np.bool_], donors: NDArray[np.intp]) -> pd.DataFrame:
        """Hybrid rows, listed: one `take` a column."""
        import pandas as pd

        if self._block is not None:
            mixed = choose(present, self._block[rows], self._block[donors])
            return pd.DataFrame(mixed, columns=self._frame.columns, copy=False)
        if self._columns is None:
            self._columns = [self._frame.iloc[:, j].array for j in range(self.n_columns)]
        cells = []
        for j, dtype in enumerate(self._frame.dtypes):
            column = self._columns[j].take(np.where(present[:, j], rows, donors))
            cells.append(pd.Series(column, dtype=dtype, copy=False))  # without its dtype pandas reads texts as strings
        return self._joined(cells)

    def grid(self, rows: NDArray[np.intp], donors: NDArray[np.intp]) -> Callable[[NDArray[np.bool_]], pd.DataFrame]:
        """Hybrid rows, all combinations."""
        import pandas as pd

        if self._block is None:
            return super().grid(rows, donors)
        grid = HybridGrid(self._block[rows], self._block[donors])
        return lambda present: pd.DataFrame(grid(present), columns=self._frame.columns, copy=False)

    def codes(self) -> NDArray[np.int64]:
        """Cells as integers."""
        codes = np.zeros((self.n_rows, self.n_columns), dtype=np.int64)
        for j in range(self.n_columns):
            series = self._frame.iloc[:, j]
            cells = series.cat.codes.to_numpy() if hasattr(series, "cat") else series.to_numpy()
            if isinstance(cells, np.ndarray) and cells.dtype.kind not in "OT":
                codes[:, j] = factorize_bits(cells)
            else:
                codes[:, j] = factorize_objects(list(cells))
        return codes


def _series(cells: NDArray[Any] | list[Any]) -> pd.Series[Any]:
    """Cells as a column: an array keeps its type, a list with missing cells stays the objects they are."""
    import pandas as pd

    return pd.Series(cells, dtype=None if isinstance(cells, np.ndarray) else object)
