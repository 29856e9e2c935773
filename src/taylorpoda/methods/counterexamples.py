"""Three methods that break one postulate each: the cases of the paper's first table, executable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import array_api_compat

from taylorpoda._support.arrays import as_table
from taylorpoda.dividends import harsanyi, shapley_from

if TYPE_CHECKING:
    from collections.abc import Callable


def _checked(values: Any) -> Any:
    _, table, n_players = as_table(values)
    if n_players < 3:
        msg = f"values has shape {tuple(table.shape)}, {n_players} players; these examples need at least 3."
        raise ValueError(msg)
    return table


def _moved(attributions: Any, amount: Any, giver: int | None, taker: int | None) -> Any:
    xp = array_api_compat.array_namespace(attributions)
    columns = [attributions[..., player] for player in range(attributions.shape[-1])]
    if giver is not None:
        columns[giver] = columns[giver] - amount
    if taker is not None:
        columns[taker] = columns[taker] + amount
    return xp.stack(columns, axis=-1)


def without_precision(values: Any) -> Any:
    """Credits the independent effect of the second player to the first; else the Shapley value.

    In Taylor terms: d^5 f / dx_2^5 is attributed to x_1.

    Example:
        >>> import numpy as np
        >>> only_second = np.array([0.0, 0, 1, 1, 0, 0, 1, 1])
        >>> without_precision(only_second)
        array([1., 0., 0.])
    """
    dividends = harsanyi(_checked(values))
    return _moved(shapley_from(dividends), dividends[..., 0b010], giver=1, taker=0)


def without_federation(values: Any) -> Any:
    """Credits half of the interaction of the first two players to the third; else the Shapley value.

    In Taylor terms: d^2 f / dx_1 dx_2 is attributed to x_3.

    Example:
        >>> import numpy as np
        >>> only_the_first_two = np.array([0.0, 0, 0, 1, 0, 0, 0, 1])
        >>> without_federation(only_the_first_two)
        array([0. , 0.5, 0.5])
    """
    dividends = harsanyi(_checked(values))
    return _moved(shapley_from(dividends), 0.5 * dividends[..., 0b011], giver=0, taker=2)


def without_zero_discrepancy(values: Any) -> Any:
    """Shares out only 90 % of the interaction of the first three players; else the Shapley value.

    In Taylor terms: a tenth of d^3 f / dx_1 dx_2 dx_3 is attributed to nobody.

    Example:
        >>> import numpy as np
        >>> all_three = np.array([0.0, 0, 0, 0, 0, 0, 0, 1])
        >>> round(float(without_zero_discrepancy(all_three).sum()), 12)
        0.9
    """
    dividends = harsanyi(_checked(values))
    attributions = shapley_from(dividends)
    for player in range(3):
        attributions = _moved(attributions, dividends[..., 0b111] / 30.0, giver=player, taker=None)
    return attributions


COUNTEREXAMPLES: dict[str, Callable[[Any], Any]] = {
    "precision": without_precision,
    "federation": without_federation,
    "zero_discrepancy": without_zero_discrepancy,
}
