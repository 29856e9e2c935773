"""Values of chosen coalitions only: for reports that need a few of the 2**n."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.games.coalitions import describe
from taylorpoda.games.hybrids import listed_values
from taylorpoda.games.masking.base import DirectMasking

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.masking.base import HybridMasking, MaskingContext
    from taylorpoda.games.tables.base import Table

_BATCH_BYTES = 2**21
_FEWEST_ROWS = 2048
_WORKING_SHARE = 4


def spot_values(
    context: MaskingContext, masking: HybridMasking | DirectMasking, rows: Table, coalitions: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Values of the same coalitions of every row.

    Args:
        context: The model, the players and the memory bound.
        masking: A fitted rule.
        rows: r rows.
        coalitions: Shape (m, n_players); the full one is answered by the rule, not by the model.

    Returns:
        Shape (r, m, outputs).
    """
    if isinstance(masking, DirectMasking):
        return masking.values(rows, coalitions)
    size = max(rows.row_bytes, 1)
    batch = min(max(_BATCH_BYTES // size, _FEWEST_ROWS), max(1, context.max_memory // (_WORKING_SHARE * size)))
    # The engine leaves the last coalition to the model's own answer: give it one more.
    full = np.ones((1, coalitions.shape[1]), dtype=bool)
    columns = context.players.columns_of(np.concatenate([coalitions, full]))
    values = np.empty((rows.n_rows, len(coalitions), context.model.n_outputs))
    for row in range(rows.n_rows):

        def where(k: int, row: int = row) -> str:
            return f"row {row} with coalition {describe(coalitions[k], context.players.names)}"

        values[row] = listed_values(context.model, masking, rows, row, columns, batch=batch, where=where)[:-1]
    return values


def random_orders(generator: np.random.Generator, count: int, n: int) -> NDArray[np.intp]:
    """Random orders of the players, each followed by its reverse: shape (count, n)."""
    half = np.argsort(generator.random((-(-count // 2), n)), axis=1)
    return np.stack([half, half[:, ::-1]], axis=1).reshape(-1, n)[:count]


def prefixes(orders: NDArray[np.intp]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """The coalitions met along orders.

    Args:
        orders: Shape (p, n).

    Returns:
        The distinct coalitions, shape (m, n), and which of them each order has met after each step, shape (p, n + 1).
    """
    count, n = orders.shape
    place = np.argsort(orders, axis=1)
    met = place[:, None, :] < np.arange(n + 1)[None, :, None]
    coalitions, where = np.unique(met.reshape(-1, n), axis=0, return_inverse=True)
    return coalitions, where.reshape(count, n + 1)
