"""policy="shares" on sparse dividends: a user's own shares, checked, applied, kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import to_numpy
from taylorpoda.allocation.result import Allocation
from taylorpoda.allocation.sparse.linear import SparseLinearProof
from taylorpoda.allocation.sparse.rounding import closed
from taylorpoda.allocation.sparse.share_view import SparseShareView, attributions_of_shares, interactions_of
from taylorpoda.dividends.sparse_coalitions import Coalitions, merged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.sparse.context import SparseContext
    from taylorpoda.dividends.sparse import SparseDividends
    from taylorpoda.utilities import Utility

_SUM_TOLERANCE = 1e-9
_MOST_TABLED = 20  # players of a table of all coalitions' shares
_FORMS = "a mapping {subset index: n shares}"


@dataclass(frozen=True, eq=False)
class GivenShares:
    """Checked shares.

    Attributes:
        coalitions: What is shared.
        values: Shape (members,).
    """

    coalitions: Coalitions
    values: NDArray[np.float64]

    def for_game(self, dividends: SparseDividends) -> SparseShareView:
        """The shares of what one game has to share.

        Raises:
            ValueError: If a coalition with a dividend has none.
        """
        wanted = interactions_of(dividends).coalitions
        union, (given_at, wanted_at) = merged([self.coalitions, wanted])
        known = np.full(len(union), -1, dtype=np.int64)
        known[given_at] = np.arange(len(self.coalitions))
        source = known[wanted_at]
        if np.any(source < 0):
            first = int(np.argmax(source < 0))
            msg = f"shares has no entry for {_named(wanted, first)}, whose dividend is not zero."
            raise ValueError(msg)
        position = np.repeat(self.coalitions.indptr[source] - wanted.indptr[:-1], wanted.sizes)
        return SparseShareView(wanted, self.values[position + np.arange(len(wanted.members))])


def allocate_shares(context: SparseContext, utility: Utility, options: Options) -> Allocation:
    """A user's own shares."""
    games = context.games
    rows, n_players = prod(games.lead), games.n_players
    if options.shares is None:
        msg = f"policy='shares' needs shares=, {_FORMS}."
        raise ValueError(msg)
    given = _read(options.shares, n_players, games.lead)
    attributions = np.empty((rows, n_players))
    views = []
    for row in range(rows):
        dividends = games.dividends(row)
        views.append(given[row % len(given)].for_game(dividends))
        total = float(np.reshape(games.full, -1)[row] - np.reshape(games.base, -1)[row])
        attributions[row] = closed(attributions_of_shares(dividends, views[-1]), dividends, total)
    shaped = attributions.reshape(*games.lead, n_players)
    proof = SparseLinearProof(context, utility, options, shaped, views.__getitem__)
    return Allocation(shaped, np.asarray(games.base)[()], "shares", utility.name, proof)


def _read(shares: Any, n_players: int, lead: tuple[int, ...]) -> list[GivenShares]:
    """One set of shares for all rows, or one per row."""
    if isinstance(shares, Mapping):
        return [_from_mapping(shares, n_players)]
    table = np.asarray(to_numpy(shares))
    if table.dtype.kind not in "fiub":
        kind = f"{type(shares).__name__} and dtype {table.dtype}"
        msg = f"shares has type {kind}; allowed: {_FORMS}, or for few players an array of shape (..., 2**n, n)."
        raise TypeError(msg)
    if n_players > _MOST_TABLED:
        msg = f"shares is an array, and there are {n_players} players (at most {_MOST_TABLED} so); allowed: {_FORMS}."
        raise ValueError(msg)
    expected = (1 << n_players, n_players)
    if table.ndim < 2 or table.shape[-2:] != expected:
        msg = f"shares has shape {table.shape}; expected (..., {expected[0]}, {expected[1]})."
        raise ValueError(msg)
    try:
        whole = np.broadcast_to(table, (*lead, *expected)) if table.ndim > 2 else table[None]
    except ValueError:
        msg = f"shares has leading axes {table.shape[:-2]}, which do not broadcast to {lead}, those of the games."
        raise ValueError(msg) from None
    everyone = Coalitions.from_indices(np.arange(1 << n_players), n_players)
    tables = whole.reshape(-1, *expected).astype(np.float64)
    listed = [np.flatnonzero((everyone.sizes > 1) & np.any(rows != 0, axis=1)) for rows in tables]
    return [_checked(everyone.take(some), rows[some]) for some, rows in zip(listed, tables, strict=True)]


def _from_mapping(shares: Mapping[Any, Any], n_players: int) -> GivenShares:
    if isinstance(shares, SparseShareView) and shares.members_of.n_players == n_players:
        return GivenShares(shares.members_of, shares.weights)
    keys = list(shares)
    for key in keys:
        if isinstance(key, bool) or not isinstance(key, int | np.integer):
            msg = f"shares has the key {key!r}; keys are subset indices, integers whose bit j is player j."
            raise TypeError(msg)
        if not 0 <= int(key) < 1 << n_players:
            msg = f"shares has the key {key}; with {n_players} players keys have bits 0 to {n_players - 1}."
            raise ValueError(msg)
        if np.shape(shares[key]) != (n_players,):
            shape = np.shape(shares[key])
            msg = f"shares of the subset {key} have shape {shape}; expected {n_players} numbers."
            raise ValueError(msg)
    width = max(1, -(-n_players // 8))
    packed = np.frombuffer(b"".join(int(key).to_bytes(width, "little") for key in keys), dtype=np.uint8)
    masks = np.unpackbits(packed.reshape(len(keys), width), axis=1, bitorder="little")[:, :n_players].astype(np.bool_)
    rows = np.array([to_numpy(shares[key]) for key in keys], dtype=np.float64).reshape(len(keys), n_players)
    several = np.sum(masks, axis=1) > 1
    return _checked(Coalitions.from_masks(masks[several]), rows[several])


def _checked(coalitions: Coalitions, rows: NDArray[np.float64]) -> GivenShares:
    """Refuse what are no shares: rows of shape (coalitions, n)."""
    problems = (
        (~np.isfinite(rows), "holds NaN or infinity; shares are numbers from 0 to 1"),
        (rows < 0, "is negative; shares are numbers from 0 to 1"),
        ((rows != 0) & ~coalitions.masks(), "goes to a player outside the coalition"),
    )
    for problem, text in problems:
        if np.any(problem):
            first, player = (int(axis[0]) for axis in np.nonzero(problem))
            received = float(rows[first, player])
            msg = f"shares of {_named(coalitions, first)}: {received!r} for player {player} {text}."
            raise ValueError(msg)
    sums = np.sum(rows, axis=1)
    wrong = abs(sums - 1.0) > _SUM_TOLERANCE
    if np.any(wrong):
        first = int(np.argmax(wrong))
        msg = f"shares of {_named(coalitions, first)} sum to {float(sums[first])!r}; they must sum to 1."
        raise ValueError(msg)
    return GivenShares(coalitions, rows[coalitions.owner, coalitions.members])


def _named(coalitions: Coalitions, position: int) -> str:
    single = coalitions.take(np.array([position]))
    return f"subset {single.numbers()[0]} (players {', '.join(map(str, single.members.tolist()))})"
