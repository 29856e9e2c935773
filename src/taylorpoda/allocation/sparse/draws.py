"""Random shares of sparse interactions: those of the dense room where its tables are small, else keyed by coalition."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaincinv

from taylorpoda.allocation.dirichlet import share_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.dividends.sparse import SparseDividends
    from taylorpoda.dividends.sparse_coalitions import Coalitions

TABLED = 12  # up to so many players the tables of the dense room are read, so that both rooms draw the same
_SMALL_ALPHA = 0.1  # below it gamma variates underflow to zero
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def drawn_shares(
    coalitions: Coalitions, seed: int, alpha: float, candidate: int, row_key: tuple[int, ...] | None = None
) -> NDArray[np.float64]:
    """Dirichlet shares of coalitions of two players or more.

    Up to `TABLED` players these are the rows of the dense room's table of the same candidate. Above, a coalition's
    shares depend on (seed, players, candidate, coalition) and nothing else, so that it has the same shares in every
    game it occurs in, whatever else the game holds.

    Args:
        coalitions: The coalitions.
        seed: The seed of the policy.
        alpha: The parameter of the symmetric Dirichlet distribution.
        candidate: Which table, from 1.
        row_key: A row's own key, for tables that rows do not share.

    Returns:
        Shape (members,): a share for each entry of `coalitions.members`.
    """
    n_players = coalitions.n_players
    if n_players <= TABLED:
        table = share_table(seed, n_players, alpha, candidate, row_key)
        return np.asarray(table[coalitions.indices()[coalitions.owner], coalitions.members])
    words = hashlib.blake2b(repr((seed, n_players, candidate, row_key)).encode(), digest_size=8).digest()
    entry = _entry_keys(coalitions, np.uint64(int.from_bytes(words, "little")))
    logs = _log_gamma_variates(entry, alpha)
    starts = coalitions.indptr[:-1]
    if not len(starts):
        return logs
    logs -= np.repeat(np.maximum.reduceat(logs, starts), coalitions.sizes)
    weight = np.exp(logs)
    return weight / np.repeat(np.add.reduceat(weight, starts), coalitions.sizes)


def content_key(dividends: SparseDividends) -> tuple[int, ...]:
    """A key of the content of a game, whatever the order of its coalitions."""
    order = np.lexsort(dividends.coalitions.words.T)
    digest = hashlib.blake2b(digest_size=16)
    digest.update(dividends.coalitions.words[order].astype("<u8").tobytes())
    digest.update((dividends.values[order] + 0.0).astype("<f8").tobytes())
    return tuple(int(word) for word in np.frombuffer(digest.digest(), dtype="<u4"))


def _entry_keys(coalitions: Coalitions, seed: np.uint64) -> NDArray[np.uint64]:
    """A pseudorandom word for every entry of `members`."""
    mixed = np.full(len(coalitions), seed, dtype=np.uint64)
    for word in coalitions.words.T:
        mixed = _mix(mixed ^ word)
    return _mix(np.repeat(mixed, coalitions.sizes) + (coalitions.members.astype(np.uint64) + np.uint64(1)) * _STEP)


def _mix(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalizer of splitmix64: every bit of the word moves every bit of the result."""
    word = word + _STEP
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return word ^ (word >> np.uint64(31))


def _uniform(word: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Numbers between 0 and 1, neither end among them."""
    return ((word >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def _log_gamma_variates(entry: NDArray[np.uint64], alpha: float) -> NDArray[np.float64]:
    uniform = _uniform(entry)
    if alpha == 1.0:
        return np.log(-np.log(uniform))
    if alpha >= _SMALL_ALPHA:
        return np.log(np.maximum(gammaincinv(alpha, uniform), np.finfo(np.float64).tiny))
    # A gamma variate of shape a is one of shape a + 1 times a uniform to the power 1 / a.
    return np.log(gammaincinv(alpha + 1.0, uniform)) + np.log(_uniform(_mix(entry))) / alpha
