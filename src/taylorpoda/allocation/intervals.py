"""How far each attribution can move: the admissible interval of every player, in closed form."""

from __future__ import annotations

from typing import Any

from taylorpoda._support.arrays import as_table
from taylorpoda.dividends.dense import coalition_sizes, like, members_sum


def interaction_parts(dividends: Any) -> tuple[Any, Any]:
    """The positive and the negative parts of all dividends of two or more players.

    Args:
        dividends: Real array of shape (..., 2**n).

    Returns:
        H+ and H-, both non-negative, of the same shape, zero at the empty coalition and at single players.
    """
    xp, table, n_players = as_table(dividends, "dividends")
    several = like(coalition_sizes(n_players) > 1, table)
    interactions = table * several
    zero = xp.zeros_like(interactions)
    return xp.where(interactions > 0, interactions, zero), xp.where(interactions < 0, -interactions, zero)


def singletons(dividends: Any) -> Any:
    """H({i}) of every player: (..., 2**n) -> (..., n)."""
    xp, table, n_players = as_table(dividends, "dividends")
    single = [table[..., 1 << player] for player in range(n_players)]
    return xp.stack(single, axis=-1) if single else table[..., :0]


def admissible_intervals(dividends: Any) -> tuple[Any, Any]:
    """The smallest and the largest attribution each player can get from any valid shares.

    lower_i = H({i}) - sum of H-(S) and upper_i = H({i}) + sum of H+(S) over S holding i, |S| > 1. Both ends
    are attained. A player whose interval excludes 0 has a sign that no choice of shares can flip.

    Args:
        dividends: Real array of shape (..., 2**n).

    Returns:
        Lower and upper ends, each of shape (..., n).

    Example:
        >>> import numpy as np
        >>> admissible_intervals(np.array([0.0, 1.0, 2.0, 2.0]))
        (array([1., 2.]), array([3., 4.]))
    """
    xp, table, n_players = as_table(dividends, "dividends")
    several = like(coalition_sizes(n_players) > 1, table) > 0
    zero = xp.zeros_like(table[..., :1])
    single = singletons(table)
    return (
        single + members_sum(xp.where(several & (table < 0), table, zero)),
        single + members_sum(xp.where(several & (table > 0), table, zero)),
    )
