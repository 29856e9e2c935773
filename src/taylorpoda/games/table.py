"""A game that is its own table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import as_table, to_numpy
from taylorpoda.games.coalitions import index_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TableGame:
    """The game whose values are written down.

    Args:
        values: Shape (2**n,) or (outputs, 2**n); bit j of an index is player j.

    Example:
        >>> import numpy as np
        >>> game = TableGame([0.0, 1.0, 2.0, 5.0])
        >>> game(np.array([[True, True], [False, True]]))
        array([5., 2.])
    """

    def __init__(self, values: Any) -> None:
        _, table, self.n_players = as_table(values)
        if table.ndim > 2:
            msg = f"values has shape {tuple(table.shape)}; allowed: (2**n,) or (outputs, 2**n)."
            raise ValueError(msg)
        self._table = np.asarray(to_numpy(table), dtype=np.float64)

    def __call__(self, coalitions: NDArray[np.bool_], /) -> NDArray[np.float64]:
        """Look coalitions up: (m, n) -> (m,) or (m, outputs)."""
        present = np.asarray(coalitions)
        if present.dtype.kind not in "iub" or not np.isin(present, (0, 1)).all():
            msg = f"coalitions has dtype {present.dtype}; allowed: booleans, True where a player is present."
            raise TypeError(msg)
        present = present.astype(bool)
        if present.ndim != 2 or present.shape[1] != self.n_players:
            msg = f"coalitions has shape {present.shape}; expected (m, {self.n_players})."
            raise ValueError(msg)
        return self._table[..., index_of(present)].T
