"""The paper's policy: Shapley and random share tables, the best of them by the utility."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import to_numpy
from taylorpoda._support.seeds import stream
from taylorpoda.allocation.game import per_row_product
from taylorpoda.allocation.intervals import singletons
from taylorpoda.dividends.dense import coalition_sizes, like, membership

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from taylorpoda.allocation.game import Games

_CHUNK_BITS = 10  # share tables are drawn and used 1,024 coalitions at a time, so that they never have to fit at once
_KEPT_BITS = 12  # those of so few players are kept from call to call
_DRAWN_CELLS = 2**17  # shares of tables that are drawn together
_SMALL_ALPHA = 0.1  # below it gamma variates underflow to zero


def dirichlet_candidates(games: Games, candidates: int, alpha: float, seed: int) -> Any:
    """Shapley and candidates - 1 attributions from share tables drawn once and used for every row.

    Args:
        games: The games.
        candidates: How many, the Shapley values among them.
        alpha: The parameter of the symmetric Dirichlet distribution of every coalition's shares.
        seed: Table k depends on (seed, n, alpha, k) alone: more candidates only add to fewer.

    Returns:
        Array of shape (..., candidates, n), Shapley first.
    """
    xp = games.xp
    lead, n_players = games.lead, games.n_players
    if candidates == 1:
        return games.shapley[..., None, :]
    total: Any = 0.0
    for start, tables in _shared_tables(seed, n_players, candidates, alpha):
        piece = games.dividends[..., start : start + tables.shape[0]]
        total = total + per_row_product(piece, like(tables, games.values))
    drawn = xp.reshape(total, (*lead, candidates - 1, n_players)) + singletons(games.dividends)[..., None, :]
    return xp.concat([games.shapley[..., None, :], games.closed(drawn)], axis=-2)


def independent_candidates(games: Games, candidates: int, alpha: float, seed: int) -> Any:
    """The same with share tables of each row's own: the paper's experiment.

    A row's stream is keyed by the content of its table, so it depends on neither its position nor its
    neighbors; equal rows get equal draws.

    Returns:
        Array of shape (..., candidates, n), Shapley first.
    """
    xp = games.xp
    lead, n_players = games.lead, games.n_players
    rows = np.reshape(to_numpy(games.dividends), (-1, 1 << n_players))
    drawn = np.zeros((len(rows), candidates - 1, n_players), dtype=rows.dtype)
    for row, key in enumerate(row_keys(games)):
        generator = stream(seed, n_players, *key)
        for some, start, shares in _tables_in_turn(generator, n_players, candidates - 1, alpha):
            drawn[row, some] += per_row_product(rows[row, start : start + shares.shape[-2]], shares)
    tensor = xp.reshape(like(drawn, games.values), (*lead, candidates - 1, n_players))
    tensor = tensor + singletons(games.dividends)[..., None, :]
    return xp.concat([games.shapley[..., None, :], games.closed(tensor)], axis=-2)


def row_keys(games: Games) -> list[tuple[int, ...]]:
    """A key of the content of every row, rows counted over all leading axes."""
    rows = np.reshape(to_numpy(games.values), (-1, 1 << games.n_players)).astype(np.float64) + 0.0
    digests = [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in rows]
    return [tuple(int(word) for word in np.frombuffer(digest, dtype="<u4")) for digest in digests]


def share_table(
    seed: int, n_players: int, alpha: float, candidate: int, row_key: tuple[int, ...] | None = None
) -> NDArray[np.float64]:
    """The whole share table of a candidate, shape (2**n, n): a shared one, or one of the row with this key."""
    if row_key is None:
        chunks = _share_chunks(stream(seed, n_players, candidate), n_players, alpha)
        return np.concatenate([shares for _, shares in chunks])
    generator = stream(seed, n_players, *row_key)
    for _ in range(candidate):  # a row's tables follow one another in its stream
        pieces = [shares for _, shares in _share_chunks(generator, n_players, alpha)]
    return np.concatenate(pieces)


def _tables_in_turn(
    generator: np.random.Generator, n_players: int, count: int, alpha: float
) -> Iterator[tuple[slice, int, NDArray[np.float64]]]:
    """Share tables of one stream: (which tables, first coalition, shares of shape (tables, m, n)).

    Tables of one piece each are drawn together; they follow one another in the stream all the same.
    """
    together = _DRAWN_CELLS // (n_players << n_players) if n_players else 1
    if n_players > _CHUNK_BITS or alpha < _SMALL_ALPHA:  # two draws a piece alternate in the stream
        together = 1
    step = max(1, together)
    for first in range(0, count, step):
        some = slice(first, min(first + step, count))
        lead = (some.stop - some.start,)
        for start, shares in _share_chunks(generator, n_players, alpha, lead):
            yield some, start, shares


def _share_chunks(
    generator: np.random.Generator, n_players: int, alpha: float, lead: tuple[int, ...] = ()
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """One share table, piece by piece: (first coalition, shares of shape (*lead, m, n)).

    Coalitions of fewer than two players have shares of zero.
    """
    sizes, members = coalition_sizes(n_players), membership(n_players)
    for start in range(0, 1 << n_players, 1 << _CHUNK_BITS):
        piece = slice(start, start + (1 << _CHUNK_BITS))
        shape = (*lead, *members[piece].shape)
        if alpha < _SMALL_ALPHA:
            # A gamma variate of shape a is one of shape a + 1 times a uniform to the power 1 / a: taken in logarithms.
            logs = np.log(generator.standard_gamma(alpha + 1.0, size=shape))
            logs += np.log1p(-generator.random(size=shape)) / alpha
            logs = np.where(members[piece], logs, -np.inf)
            logs -= np.max(logs, axis=-1, keepdims=True, initial=np.finfo(np.float64).min)
            weight = np.exp(logs)
        elif alpha == 1.0:
            weight = generator.standard_exponential(size=shape)
            weight *= members[piece]
        else:
            weight = generator.standard_gamma(alpha, size=shape)
            weight *= members[piece]
        several = (sizes[piece] > 1)[:, None]
        sums = np.sum(weight, axis=-1, keepdims=True)
        weight /= np.where(several, sums, np.inf)
        yield start, weight


def _shared_tables(
    seed: int, n_players: int, candidates: int, alpha: float
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """The tables of all drawn candidates side by side, piece by piece: (first coalition, (m, (candidates-1)*n))."""
    if n_players <= _KEPT_BITS:
        yield 0, _small_tables(seed, n_players, candidates, alpha)
        return
    tables = [_share_chunks(stream(seed, n_players, candidate), n_players, alpha) for candidate in range(1, candidates)]
    for pieces in zip(*tables, strict=True):
        yield pieces[0][0], np.concatenate([shares for _, shares in pieces], axis=1)


@lru_cache(maxsize=2)
def _small_tables(seed: int, n_players: int, candidates: int, alpha: float) -> NDArray[np.float64]:
    """Kept between calls: an explainer asks for the same tables batch after batch."""
    tables = [share_table(seed, n_players, alpha, candidate) for candidate in range(1, candidates)]
    joined = np.concatenate(tables, axis=1)
    joined.flags.writeable = False
    return joined
