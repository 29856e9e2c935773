"""A user's own shares: checked, applied, kept."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import to_numpy
from taylorpoda.allocation.game import per_row_product
from taylorpoda.allocation.intervals import singletons
from taylorpoda.allocation.result import ShareView
from taylorpoda.dividends.dense import coalition_sizes, like, membership

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.game import Games

_SUM_TOLERANCE = 1e-9


def attributions_from_shares(games: Games, shares: Any) -> Any:
    """a_i = H({i}) + sum over S holding i, |S| > 1, of share_{i,S} H(S).

    Args:
        games: The games.
        shares: Shape (..., 2**n, n), checked; leading axes broadcast against those of the games.

    Returns:
        Array of shape (..., n).
    """
    several = like(coalition_sizes(games.n_players) > 1, games.values)
    adapted = per_row_product(games.dividends * several, like(shares, games.values))
    return games.closed(singletons(games.dividends) + adapted)


def checked_shares(games: Games, shares: Any) -> NDArray[np.float64]:
    """Bring shares to an array and check them.

    Args:
        games: The games they are for.
        shares: A mapping {subset index: n shares}, which may leave out coalitions without a dividend; or an
            array of shape (..., 2**n, n), whose rows of fewer than two players are not read.

    Returns:
        Array of shape (..., 2**n, n).

    Raises:
        ValueError: If a share is negative, belongs to a player outside its coalition, the shares of a
            coalition do not sum to 1, or a coalition with a dividend has none. The message names the
            coalition.
        TypeError: If it is neither a mapping nor an array of real numbers.
    """
    n_players = games.n_players
    needed = np.any(np.reshape(to_numpy(games.dividends), (-1, 1 << n_players)) != 0, axis=0)
    needed &= coalition_sizes(n_players) > 1
    if isinstance(shares, Mapping):
        table, given = _from_mapping(shares, n_players)
    else:
        table = np.array(to_numpy(shares))
        if table.dtype.kind not in "fiub":
            msg = (
                f"shares has type {type(shares).__name__} and dtype {table.dtype}; allowed: a mapping "
                "{subset index: n shares}, or an array of shape (..., 2**n, n)."
            )
            raise TypeError(msg)
        table = table.astype(np.float64)
        _check_shape(table, games)
        given = coalition_sizes(n_players) > 1
        # An empty row says nothing about a coalition that has nothing to share.
        given = given & (needed | np.any(table != 0, axis=(*range(table.ndim - 2), -1)))
        table[..., ~given, :] = 0.0
    _check_rows(table, given)
    missing = needed & ~given
    if np.any(missing):
        subset = int(np.argmax(missing))
        msg = f"shares has no entry for {_named(subset)}, whose dividend is not zero."
        raise ValueError(msg)
    return table


def even_shares(n_players: int) -> NDArray[np.float64]:
    """The Shapley values' shares, 1 / |S| for every member: shape (2**n, n)."""
    shares: NDArray[np.float64] = membership(n_players) / np.maximum(coalition_sizes(n_players), 1)[:, None]
    return shares


def view_of_shares(table: NDArray[np.float64], dividends: NDArray[np.float64]) -> ShareView:
    """The shares of the coalitions that have something to share: (2**n, n), (2**n,) -> a mapping view."""
    n_players = table.shape[-1]
    coalitions = np.flatnonzero((dividends != 0) & (coalition_sizes(n_players) > 1))
    return ShareView(coalitions, table[coalitions])


def _from_mapping(shares: Mapping[Any, Any], n_players: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    table = np.zeros((1 << n_players, n_players))
    given = np.zeros(1 << n_players, dtype=np.bool_)
    if isinstance(shares, ShareView) and isinstance(shares.coalitions, np.ndarray):
        subsets, rows = shares.coalitions, shares.array
    else:
        for subset, row in shares.items():
            if isinstance(subset, bool) or not isinstance(subset, int | np.integer):
                msg = f"shares has the key {subset!r}; keys are subset indices, integers whose bit j is player j."
                raise TypeError(msg)
            if np.shape(row) != (n_players,):
                msg = f"shares of {_named(int(subset))} have shape {np.shape(row)}; expected {n_players} numbers."
                raise ValueError(msg)
        subsets = np.array([int(subset) for subset in shares], dtype=object)
        rows = np.array([to_numpy(row) for row in shares.values()], dtype=np.float64).reshape(-1, n_players)
    bad = [subset for subset in subsets if not 0 <= subset < 1 << n_players]
    if bad or rows.shape[1:] != (n_players,):
        key, last = (bad[0] if bad else subsets[0]), (1 << n_players) - 1
        msg = f"shares has the key {key}; with {n_players} players keys are 0 to {last}."
        raise ValueError(msg)
    places = subsets.astype(np.intp)
    several = coalition_sizes(n_players)[places] > 1
    table[places[several]] = rows[several]
    given[places[several]] = True
    return table, given


def _check_shape(table: NDArray[np.float64], games: Games) -> None:
    n_players, lead = games.n_players, games.lead
    expected = (1 << n_players, n_players)
    if table.shape[-2:] != expected or table.ndim < 2:
        msg = f"shares has shape {table.shape}; expected (..., {expected[0]}, {expected[1]})."
        raise ValueError(msg)
    try:
        fits = np.broadcast_shapes(table.shape[:-2], lead) == lead
    except ValueError:
        fits = False
    if not fits:
        msg = f"shares has leading axes {table.shape[:-2]}, which do not broadcast to {lead}, those of the values."
        raise ValueError(msg)


def _check_rows(table: NDArray[np.float64], given: NDArray[np.bool_]) -> None:
    n_players = table.shape[-1]
    rows = table.reshape(prod(table.shape[:-2]), 1 << n_players, n_players)
    outside = ~membership(n_players)
    problems = (
        (~np.isfinite(rows) & given[:, None], "holds NaN or infinity; shares are numbers from 0 to 1"),
        ((rows < 0) & given[:, None], "is negative; shares are numbers from 0 to 1"),
        ((rows != 0) & outside & given[:, None], "goes to a player outside the coalition"),
    )
    for problem, text in problems:
        if np.any(problem):
            _, subset, player = (int(axis[0]) for axis in np.nonzero(problem))
            received = float(rows[problem][0])
            msg = f"shares of {_named(subset)}: {received!r} for player {player} {text}."
            raise ValueError(msg)
    sums = np.sum(rows, axis=-1)
    wrong = (abs(sums - 1.0) > _SUM_TOLERANCE) & given
    if np.any(wrong):
        _, subset = (int(axis[0]) for axis in np.nonzero(wrong))
        msg = f"shares of {_named(subset)} sum to {float(sums[wrong][0])!r}; they must sum to 1."
        raise ValueError(msg)


def _named(subset: int) -> str:
    players = [player for player in range(max(subset, 0).bit_length()) if subset >> player & 1]
    return f"subset {subset} (players {', '.join(map(str, players))})" if players else f"subset {subset}"
