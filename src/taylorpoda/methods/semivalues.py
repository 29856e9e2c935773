"""Semivalues: the mean gain a player brings to coalitions, weighted by their size alone."""

from __future__ import annotations

from fractions import Fraction
from math import comb, prod
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

from taylorpoda._support.arrays import as_table
from taylorpoda._support.integers import whole_number
from taylorpoda.dividends.dense import coalition_sizes, like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def beta_size_weights(n_players: int, alpha: int, beta: int) -> NDArray[np.float64]:
    """How likely a coalition of the other players has each size, under the Beta(alpha, beta) semivalue.

    The size is beta-binomial; a large alpha favors small coalitions (Kwon and Zou, 2022). Beta(1, 1) is
    Shapley: all sizes are equally likely. Computed in exact fractions.

    Args:
        n_players: n >= 1.
        alpha: A positive integer.
        beta: A positive integer.

    Returns:
        Shape (n,): the weights of sizes 0 .. n-1, summing to 1.

    Raises:
        TypeError: If one of them is no integer.
        ValueError: If one of them is below 1.

    Example:
        >>> beta_size_weights(3, 2, 1)
        array([0.5       , 0.33333333, 0.16666667])
    """
    n_players = whole_number("n_players", n_players, least=1)
    alpha, beta = whole_number("alpha", alpha, least=1), whole_number("beta", beta, least=1)
    others = n_players - 1
    weights = [
        Fraction(
            comb(others, size) * _rising(beta, size) * _rising(alpha, others - size),
            _rising(alpha + beta, others),
        )
        for size in range(n_players)
    ]
    return np.array([float(weight) for weight in weights])


def _rising(start: int, steps: int) -> int:
    product = 1
    for step in range(steps):
        product *= start + step
    return product


def mean_gains(values: Any) -> Any:
    """The mean gain of each player over the coalitions of each size it may join.

    Args:
        values: Table of a game, shape (..., 2**n), numpy or torch.

    Returns:
        Shape (..., n, n): entry (i, s) is the mean of v(S + i) - v(S) over the S of s players without i.
    """
    xp, table, n_players = as_table(values)
    lead = table.shape[:-1]
    flat = xp.reshape(table, (prod(lead), table.shape[-1]))
    if n_players == 0:
        return xp.reshape(flat[:, :0], (*lead, 0, 0))
    sizes = coalition_sizes(n_players - 1)
    order = np.argsort(sizes, kind="stable")
    by_size = order if isinstance(table, np.ndarray) else xp.asarray(order, device=array_api_compat.device(table))
    ends = np.cumsum([comb(n_players - 1, size) for size in range(n_players)])
    players = []
    for player in range(n_players):
        rest = 1 << (n_players - 1)  # counted, not left open: there may be no games at all
        halves = xp.reshape(flat, (flat.shape[0], rest >> player, 2, 1 << player))
        gains = xp.reshape(halves[:, :, 1, :] - halves[:, :, 0, :], (flat.shape[0], rest))
        sorted_gains = xp.take(gains, by_size, axis=-1)
        means = [
            xp.sum(sorted_gains[:, int(end) - count : int(end)], axis=-1) / count
            for end, count in zip(ends, np.diff(ends, prepend=0).tolist(), strict=True)
        ]
        players.append(xp.stack(means, axis=-1))
    return xp.reshape(xp.stack(players, axis=1), (*lead, n_players, n_players))


def semivalues(values: Any, size_weights: Sequence[NDArray[np.float64]]) -> Any:
    """Several semivalues of the same games.

    Args:
        values: Table of a game, shape (..., 2**n), numpy or torch.
        size_weights: One vector of n weights for sizes 0 .. n-1 per semivalue.

    Returns:
        Shape (..., len(size_weights), n).

    Raises:
        ValueError: If a vector has another length.
    """
    gains = mean_gains(values)
    xp = array_api_compat.array_namespace(gains)
    for number, weights in enumerate(size_weights):
        if tuple(weights.shape) != (gains.shape[-1],):
            msg = (
                f"size_weights[{number}] has shape {tuple(weights.shape)}; allowed: ({gains.shape[-1]},), one per size."
            )
            raise ValueError(msg)
    columns = [xp.sum(gains * like(weights, gains), axis=-1) for weights in size_weights]
    return xp.stack(columns, axis=-2)
