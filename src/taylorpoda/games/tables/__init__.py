"""Containers behind one seam: a new one is one file here plus one line in `_READERS`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from taylorpoda.games.tables.numpy_table import NumpyTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from taylorpoda.games.tables.base import Table


def _pandas(data: Any, parameter: str) -> Table | None:
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(data, pandas.DataFrame):
        return None
    from taylorpoda.games.tables.pandas_table import PandasTable

    return PandasTable.of(data, parameter)


_READERS: list[Callable[[Any, str], Table | None]] = [_pandas]


def read_table(data: Any, parameter: str) -> Table:
    """A user's rows behind the container seam.

    Args:
        data: A DataFrame, a two-dimensional array, or nested lists.
        parameter: The name the user gave it, for messages.

    Returns:
        The table.
    """
    for reader in _READERS:
        table = reader(data, parameter)
        if table is not None:
            return table
    return NumpyTable.of(data, parameter)
