"""Rows without a background: what takes the place of its table where trees need none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from taylorpoda.dividends.trees import UnsupportedTreesError, read_ensemble
from taylorpoda.engines.tree_quantity import owner_of
from taylorpoda.games.tables import read_table
from taylorpoda.games.tables.base import check_columns
from taylorpoda.games.tables.frames import columns_of, labeled_rows
from taylorpoda.games.tables.numpy_table import NumpyTable

if TYPE_CHECKING:
    from taylorpoda.games.models.base import BoundModel
    from taylorpoda.games.tables.base import Table

_NEEDED = "background is None; pass rows of the training data (an array, a DataFrame), or one baseline row."


class NoBackground:
    """Reads explained rows by what the model itself knows of its columns.

    Args:
        estimator: The user's own model.
        model: The same, bound.

    Raises:
        TypeError: If the model is no tree ensemble, so that there must be a background.
    """

    n_rows = 0

    def __init__(self, estimator: Any, model: BoundModel) -> None:
        try:
            width = read_ensemble(owner_of(estimator)).n_features
        except UnsupportedTreesError as error:
            msg = f"{_NEEDED} Trees in closed form need none, but: {error}"
            raise TypeError(msg) from error
        known = model.quantity.feature_names
        self._known = known if known is not None and len(known) == width else None
        self.names = self._known if self._known is not None else tuple(f"x{j}" for j in range(width))

    def read(self, data: Any, parameter: str) -> Table:
        """Rows behind the container seam, reordered by name where the model and the rows name their columns.

        Raises:
            ValueError: If columns are missing or extra.
        """
        frame = columns_of(data, parameter)
        if frame is None:
            return self._array(self._in_order(data, parameter), parameter)
        own = frame[0]
        if self._known is not None:
            order = check_columns(self._known, own, parameter)
            if not np.array_equal(order, np.arange(len(own))):
                data = nw.from_native(data)[:, order.tolist()].to_native()
        elif len(own) != len(self.names):
            msg = f"{parameter} has {len(own)} columns {own[:40]}; the model takes {len(self.names)}."
            raise ValueError(msg)
        return read_table(data, parameter)

    def _in_order(self, data: Any, parameter: str) -> Any:
        """Rows whose cells are named, in the model's order; anything else as it is."""
        named = labeled_rows(data, parameter)
        if named is None:
            return data
        names, columns = named
        spelled = isinstance(data, dict | list | tuple)  # mappings, whose order says nothing
        if spelled or (self._known is not None and set(names) & set(self._known)):
            columns = [columns[j] for j in check_columns(self.names, names, parameter)]
        return [list(row) for row in zip(*columns, strict=True)]

    def _array(self, data: Any, parameter: str) -> Table:
        one = isinstance(data, list | tuple) and len(data) > 0 and np.ndim(data[0]) == 0
        if one or (isinstance(data, np.ndarray) and data.ndim == 1):
            data = np.asarray(data)[None, :]
        table = read_table(data, parameter)
        if table.n_columns != len(self.names):
            msg = f"{parameter} has {table.n_columns} columns; the model takes {len(self.names)}."
            raise ValueError(msg)
        return table.renamed(self.names) if isinstance(table, NumpyTable) else table
