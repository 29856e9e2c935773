"""The Harsanyi dividends of a whole table, and what is linear in them.

Every function here takes tables with any leading axes, numpy or torch, and never changes its argument. A row
gets the same bits whether it comes alone or in a batch: sums run along one contiguous axis, never through a
matrix product whose order of summation depends on the number of rows.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

from taylorpoda._support.arrays import as_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_BLOCK_BITS = 16  # 2**16 float64 are 512 KiB: the passes over one block stay in the second-level cache
_BUFFERED = 6  # from this player on numpy's inner loop is faster with the smallest buffer
_SMALL_BUFFER = 16
_SHORT = 4  # below this player numpy's inner loop would be a few numbers long
_PAIRED = {np.dtype(np.float32): np.complex64, np.dtype(np.float64): np.complex128}


def harsanyi(values: Any) -> Any:
    """Transform the values of all coalitions into Harsanyi dividends, H(S) = sum over T in S of (-1)^(|S|-|T|) v(T).

    Works in place inside one copy: n * 2**(n-1) subtractions per table. A player that never matters gets
    dividends of exactly zero.

    Args:
        values: Real array of shape (..., 2**n), numpy or torch; bit j of the last index is player j.

    Returns:
        A new array of the same shape and kind; entry S is the dividend of S, entry 0 is v(empty).

    Raises:
        ValueError: If the last axis is no power of two, or a value is not finite.
        TypeError: If the values are not real numbers.

    Example:
        >>> import numpy as np
        >>> harsanyi(np.array([0.0, 1.0, 2.0, 5.0]))
        array([0., 1., 2., 2.])
    """
    return _transform(values, "values", inverse=False)


def values_from(dividends: Any) -> Any:
    """Transform Harsanyi dividends back into values, v(S) = sum over T in S of H(T): the inverse of `harsanyi`.

    Args:
        dividends: Real array of shape (..., 2**n), numpy or torch.

    Returns:
        A new array of the same shape and kind.

    Example:
        >>> import numpy as np
        >>> values_from(np.array([0.0, 1.0, 2.0, 2.0]))
        array([0., 1., 2., 5.])
    """
    return _transform(dividends, "dividends", inverse=True)


def _transform(table: Any, parameter: str, *, inverse: bool) -> Any:
    xp, table, n_players = as_table(table, parameter)
    if isinstance(table, np.ndarray):
        result: Any = np.array(table, order="C", copy=True)
        _sweep(result.reshape(-1), n_players, np.add if inverse else np.subtract)
        return result
    result = xp.astype(table, table.dtype, copy=True)  # keeps a tensor's place in its graph, unlike xp.asarray
    flat = xp.reshape(result, (-1,))
    for player in range(n_players):
        halves = xp.reshape(flat, (-1, 2, 1 << player))
        if inverse:
            halves[:, 1, :] += halves[:, 0, :]
        else:
            halves[:, 1, :] -= halves[:, 0, :]
    return xp.reshape(flat, table.shape)


def _sweep(flat: NDArray[Any], n_players: int, combine: Callable[..., Any]) -> None:
    """All passes: low players block by block, then the high ones on column strips that fit the cache too."""
    block = 1 << _BLOCK_BITS
    low = min(n_players, _BLOCK_BITS)
    for start in range(0, flat.size, block):
        for player in range(min(low, _BUFFERED)):
            _pass(flat[start : start + block], player, combine)
        # numpy walks runs shorter than half its buffer in a slower way; this setting belongs to the thread.
        usual = np.setbufsize(_SMALL_BUFFER)
        try:
            for player in range(_BUFFERED, low):
                _pass(flat[start : start + block], player, combine)
        finally:
            np.setbufsize(usual)
    if n_players == low:
        return
    rows = 1 << (n_players - low)
    width = max(1 << 7, block // rows)
    for table in flat.reshape(-1, rows, 1 << low):
        for start in range(0, 1 << low, width):
            strip = table[:, start : start + width]
            for player in range(n_players - low):
                halves = strip.reshape(rows >> (player + 1), 2, 1 << player, width)  # a view: only one axis is split
                combine(halves[:, 1], halves[:, 0], out=halves[:, 1])


def _pass(flat: NDArray[Any], player: int, combine: Callable[..., Any]) -> None:
    """One player's pass; for the first few players as a handful of long strided operations on pairs of numbers."""
    paired = _PAIRED.get(flat.dtype)
    if player == 0:
        combine(flat[1::2], flat[0::2], out=flat[1::2])
    elif player <= _SHORT and paired is not None:
        pairs: NDArray[Any] = flat.view(paired)
        half = 1 << (player - 1)
        for offset in range(half):
            present = pairs[half + offset :: 2 * half]
            combine(present, pairs[offset :: 2 * half], out=present)
    else:
        halves = flat.reshape(-1, 2, 1 << player)
        combine(halves[:, 1], halves[:, 0], out=halves[:, 1])


@lru_cache(maxsize=8)
def coalition_sizes(n_players: int) -> NDArray[np.intp]:
    """How many players each of the 2**n coalitions has, shape (2**n,), read-only."""
    sizes = np.zeros(1, dtype=np.intp)
    for _ in range(n_players):
        sizes = np.concatenate([sizes, sizes + 1])
    sizes.flags.writeable = False
    return sizes


@lru_cache(maxsize=8)
def membership(n_players: int) -> NDArray[np.bool_]:
    """Who belongs to which coalition, shape (2**n, n), read-only."""
    members = (np.arange(1 << n_players)[:, None] >> np.arange(n_players) & 1).astype(np.bool_)
    members.flags.writeable = False
    return members


def shapley_of(values: Any) -> Any:
    """The Shapley values of a table, straight from the values: well conditioned at any n.

    Args:
        values: Real array of shape (..., 2**n).

    Returns:
        Array of shape (..., n); sums to v(N) - v(empty).

    Example:
        >>> import numpy as np
        >>> shapley_of(np.array([0.0, 1.0, 2.0, 5.0]))
        array([2., 3.])
    """
    xp, table, n_players = as_table(values)
    if n_players == 0:
        return table[..., :0]
    by_size = np.array([1.0 / (n_players * comb(n_players - 1, size)) for size in range(n_players)])
    weight = like(by_size[coalition_sizes(n_players - 1)], table)
    flat = _rows(xp, table)
    columns = []
    for player in range(n_players):
        gains = _half(xp, flat, player, present=True) - _half(xp, flat, player, present=False)
        columns.append(xp.sum(gains * weight, axis=-1))
    return xp.reshape(xp.stack(columns, axis=-1), (*table.shape[:-1], n_players))


def shapley_from(dividends: Any) -> Any:
    """The Shapley values from the dividends: every member of S gets H(S) / |S|.

    Args:
        dividends: Real array of shape (..., 2**n).

    Returns:
        Array of shape (..., n).
    """
    xp, table, n_players = as_table(dividends, "dividends")
    return _sum_over_members(xp, table / like(np.maximum(coalition_sizes(n_players), 1).astype(np.float64), table))


def occlusion_of(values: Any) -> Any:
    """OCC-1 from the values, v(N) - v(N without i): shape (..., 2**n) -> (..., n)."""
    xp, table, n_players = as_table(values)
    full = table.shape[-1] - 1
    without = [table[..., full] - table[..., full ^ (1 << player)] for player in range(n_players)]
    return xp.stack(without, axis=-1) if without else table[..., :0]


def occlusion_from(dividends: Any) -> Any:
    """OCC-1 from the dividends, the sum of H(S) over all S that hold i: shape (..., 2**n) -> (..., n)."""
    xp, table, _ = as_table(dividends, "dividends")
    return _sum_over_members(xp, table)


def members_sum(table: Any) -> Any:
    """For every player the sum of the table over all coalitions that hold it: (..., 2**n) -> (..., n)."""
    xp, table, _ = as_table(table, "table")
    return _sum_over_members(xp, table)


def pairwise_dividends(dividends: Any) -> Any:
    """The dividends of pairs as a symmetric matrix, single players on the diagonal: (..., 2**n) -> (..., n, n)."""
    xp, table, n_players = as_table(dividends, "dividends")
    rows = [
        xp.stack([table[..., (1 << first) | (1 << second)] for second in range(n_players)], axis=-1)
        for first in range(n_players)
    ]
    return xp.stack(rows, axis=-2) if rows else xp.zeros((*table.shape[:-1], 0, 0), dtype=table.dtype)


def shapley_interactions(dividends: Any) -> Any:
    """The Shapley interaction index of every pair, sum over S holding both of H(S) / (|S| - 1); diagonal: Shapley.

    Args:
        dividends: Real array of shape (..., 2**n).

    Returns:
        Symmetric array of shape (..., n, n).
    """
    xp, table, n_players = as_table(dividends, "dividends")
    single = shapley_from(table)
    weighted = table / like(np.maximum(coalition_sizes(n_players) - 1, 1).astype(np.float64), table)
    flat = _rows(xp, weighted)
    rows: list[list[Any]] = [[None] * n_players for _ in range(n_players)]
    for first in range(n_players):
        rows[first][first] = single[..., first]
        held = _half(xp, flat, first, present=True)
        for second in range(first + 1, n_players):
            total = xp.sum(_half(xp, held, second - 1, present=True), axis=-1)
            rows[first][second] = rows[second][first] = xp.reshape(total, table.shape[:-1])
    if not rows:
        return xp.zeros((*table.shape[:-1], 0, 0), dtype=table.dtype)
    return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)


def _sum_over_members(xp: Any, table: Any) -> Any:
    n_players = table.shape[-1].bit_length() - 1
    if n_players == 0:
        return table[..., :0]
    flat = _rows(xp, table)
    columns = [xp.sum(_half(xp, flat, player, present=True), axis=-1) for player in range(n_players)]
    return xp.reshape(xp.stack(columns, axis=-1), (*table.shape[:-1], n_players))


def _rows(xp: Any, table: Any) -> Any:
    """The table as (rows, 2**n), contiguous, so that a row is summed in one order whatever its neighbors are."""
    flat = xp.reshape(table, (-1, table.shape[-1]))
    return np.ascontiguousarray(flat) if isinstance(flat, np.ndarray) else flat


def _half(xp: Any, flat: Any, player: int, *, present: bool) -> Any:
    """The coalitions with (or without) a player: (rows, 2**n) -> (rows, 2**(n-1)), contiguous."""
    rows, length = flat.shape
    halves = xp.reshape(flat, (rows, length >> (player + 1), 2, 1 << player))
    half = xp.reshape(halves[:, :, int(present), :], (rows, length // 2))
    return np.ascontiguousarray(half) if isinstance(half, np.ndarray) else half


def like(array: NDArray[Any], table: Any) -> Any:
    """A numpy constant brought to the kind, dtype and device of a table."""
    if isinstance(table, np.ndarray):
        return array.astype(table.dtype, copy=False)
    xp = array_api_compat.array_namespace(table)
    return xp.asarray(array.copy(), dtype=table.dtype, device=array_api_compat.device(table))
