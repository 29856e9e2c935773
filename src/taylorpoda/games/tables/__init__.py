"""Containers behind one seam: a new one is one file here plus one line in `_READERS`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from taylorpoda.games.tables.arrow_table import read_arrow
from taylorpoda.games.tables.frame_table import FrameTable
from taylorpoda.games.tables.frames import columns_of
from taylorpoda.games.tables.numpy_table import NumpyTable
from taylorpoda.games.tables.polars_table import read_polars
from taylorpoda.games.tables.sparse_table import read_sparse
from taylorpoda.games.tables.torch_table import read_tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from taylorpoda.games.tables.base import Table


def _pandas(data: Any, parameter: str) -> Table | None:
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(data, pandas.DataFrame):
        return None
    from taylorpoda.games.tables.pandas_table import PandasTable

    return PandasTable.of(data, parameter)


_READERS: list[Callable[[Any, str], Table | None]] = [_pandas, read_polars, read_arrow, read_sparse, read_tensor]


def read_table(data: Any, parameter: str) -> Table:
    """A user's rows behind the container seam.

    Args:
        data: A DataFrame, a sparse matrix, a tensor, a two-dimensional array, or nested lists.
        parameter: The name the user gave it, for messages.

    Returns:
        The table.
    """
    for reader in _READERS:
        table = reader(data, parameter)
        if table is not None:
            return table
    if columns_of(data, parameter) is not None:
        msg = (
            f"{parameter} is a DataFrame of a kind that is not read here, {type(data).__module__}."
            f"{type(data).__name__}; allowed: pandas, polars, pyarrow, scipy sparse, torch, numpy."
        )
        raise TypeError(msg)
    return NumpyTable.of(data, parameter)


def read_background(data: Any, fitted_names: tuple[str, ...] | None) -> tuple[Table, NDArray[np.float64]]:
    """The background behind the container seam, with its weights.

    Args:
        data: Rows in any container (one row may be one-dimensional), or an object with `rows` and `weights`.
        fitted_names: The feature names the model was fitted with: an array takes them on for display, a frame with the
            same columns in another order is put into theirs.

    Returns:
        The rows, and their weights summing to 1.

    Raises:
        ValueError: If there are no rows or no columns.
        TypeError: If it is None.
    """
    if data is None:
        msg = "background is None; pass rows of the training data (an array, a DataFrame), or one baseline row."
        raise TypeError(msg)
    weights = None
    # A DataFrame may have columns of these names.
    if hasattr(data, "weights") and hasattr(data, "rows") and not hasattr(data, "columns"):
        data, weights = data.rows, _weights(data.weights)
    table = read_table(_rows(data), "background")
    if table.n_rows == 0:
        msg = f"background has no rows (shape {(0, table.n_columns)}); at least one is needed."
        raise ValueError(msg)
    if fitted_names is not None and len(fitted_names) == table.n_columns:
        table = table.renamed(fitted_names) if isinstance(table, NumpyTable) else _in_fitted_order(table, fitted_names)
    if weights is None:
        return table, np.full(table.n_rows, 1.0 / table.n_rows)
    if weights.shape != (table.n_rows,) or not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
        bad = weights[~(weights >= 0)] if weights.shape == (table.n_rows,) else weights[:0]
        holding = f" and hold {float(bad[0])}" if len(bad) else ""
        msg = f"weights have shape {weights.shape}{holding}; expected {table.n_rows} finite numbers >= 0, not all 0."
        raise ValueError(msg)
    return table, weights / weights.sum()


def _in_fitted_order(table: Table, fitted_names: tuple[str, ...]) -> Table:
    """A frame with the columns in the order the model was fitted with; not every library reads frames by name."""
    known = {name.replace(" ", "_"): name for name in table.names}  # LightGBM keeps names without blanks
    wanted = [known[name] for name in (name.replace(" ", "_") for name in fitted_names) if name in known]
    frame = nw.from_native(table.native(), eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or len(set(wanted)) != table.n_columns or tuple(wanted) == table.names:
        return table
    return read_table(frame.select(wanted).to_native(), "background")


def _rows(data: Any) -> Any:
    """One row without its axis as a table of one row; anything else as it is."""
    if isinstance(data, list | tuple) and data and isinstance(data[0], dict):
        msg = "background is a list of dictionaries; allowed: a DataFrame, e.g. pandas.DataFrame(background)."
        raise TypeError(msg)
    pandas = sys.modules.get("pandas")
    labeled = pandas is not None and isinstance(data, pandas.Series) and len(data) > 0
    if labeled and all(isinstance(label, str) for label in data.index):  # df.iloc[0], df.mean()
        return data.to_frame().T.infer_objects()
    if isinstance(data, np.ndarray) and data.ndim == 1:
        return data[None, :]
    if isinstance(data, list | tuple) and data and np.ndim(data[0]) == 0:
        return [data]  # as it is: numpy would turn the numbers among texts into texts
    return data


def _weights(weights: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"weights are no numbers ({error}); expected one finite number >= 0 per background row."
        raise TypeError(msg) from error


def frame_kind(data: Any, background: Table) -> str:
    """The DataFrame library the user works with: that of the explained rows, else of the background, else pandas."""
    for kind, library in (("pandas DataFrame", "pandas"), ("polars DataFrame", "polars"), ("pyarrow Table", "pyarrow")):
        if type(data).__module__.split(".")[0] == library:
            return kind
    return background.kind if isinstance(background, FrameTable) else "pandas DataFrame"
