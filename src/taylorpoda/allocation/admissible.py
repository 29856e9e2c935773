"""The admissible set of one game: every attribution that some valid shares give."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import as_table, to_numpy
from taylorpoda.allocation.boundary import boundary
from taylorpoda.allocation.result import ShareView
from taylorpoda.allocation.wolfe import Corral, nearest_member
from taylorpoda.dividends.dense import coalition_sizes, harsanyi

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MEMBER = 1e-9  # relative to the scale: how far outside rounding may put a member
_CHUNK = 1 << 22  # coalition sums handled at a time
_PIECE = 1 << 13  # coalitions whose shares are written at a time: they fit a cache


class AdmissibleSet:
    """The base polytope of a game's boundary function g: all a with a(T) <= g(T) and a(N) = g(N).

    Every valid way to share the interactions gives a point of it, and every point of it comes from valid shares.

    Args:
        values: Shape (2**n,): v of every coalition.

    Raises:
        ValueError: If it is not one table of finite values.

    Example:
        >>> import numpy as np
        >>> admissible = AdmissibleSet(np.array([0.0, 1.0, 2.0, 5.0]))
        >>> admissible.lower, admissible.upper
        (array([1., 2.]), array([3., 4.]))
        >>> bool(admissible.contains(np.array([1.5, 3.5])))
        True
    """

    def __init__(self, values: Any) -> None:
        _, table, n_players = as_table(values)
        if table.ndim != 1:
            msg = f"values has shape {tuple(table.shape)}; an admissible set belongs to one game, of shape (2**n,)."
            raise ValueError(msg)
        self.values: NDArray[np.float64] = to_numpy(table).astype(np.float64)
        self.n_players = n_players
        moved = self.values - self.values[0]
        self.scale = float(np.max(abs(moved)))
        self._unit = float(np.ldexp(1.0, np.frexp(self.scale)[1])) if self.scale else 1.0
        moved /= self._unit
        self._dividends = harsanyi(moved)
        self._boundary = boundary(moved, self._dividends)
        self._bits = np.left_shift(1, np.arange(n_players))

    def __repr__(self) -> str:
        """How many players, and how wide the intervals are."""
        return f"AdmissibleSet({self.n_players} players, total {self.total:g})"

    @property
    def total(self) -> float:
        """v(N) - v(empty), the sum of every member."""
        return float(self.values[-1] - self.values[0])

    @property
    def boundary(self) -> NDArray[np.float64]:
        """The most the players of every coalition can get together, g: shape (2**n,)."""
        return self._boundary * self._unit

    @property
    def lower(self) -> NDArray[np.float64]:
        """The least each player can get, shape (n,)."""
        without = (1 << self.n_players) - 1 - self._bits
        return (self._boundary[-1] - self._boundary[without]) * self._unit

    @property
    def upper(self) -> NDArray[np.float64]:
        """The most each player can get, shape (n,)."""
        return self._boundary[self._bits] * self._unit

    def violation(self, attributions: Any) -> NDArray[np.float64]:
        """How far vectors are from being members: the largest excess of a sum of players over what they can get.

        Args:
            attributions: Shape (..., n).

        Returns:
            Shape (...), in units of the values; zero or less for members, up to rounding.
        """
        vectors = self._vectors(attributions)
        flat = vectors.reshape(-1, self.n_players) / self._unit
        low_bits = self.n_players // 2
        low, high = _subset_sums(flat[:, :low_bits]), _subset_sums(flat[:, low_bits:])
        table = self._boundary.reshape(high.shape[1], low.shape[1])
        worst = np.empty(len(flat))
        step = max(1, _CHUNK >> self.n_players)
        for start in range(0, len(flat), step):
            piece = slice(start, start + step)
            excess = high[piece, :, None] + low[piece, None, :]
            excess -= table
            worst[piece] = np.max(excess, axis=(1, 2))
        off = abs(np.sum(flat, axis=1) - self._boundary[-1])
        result: NDArray[np.float64] = np.maximum(worst, off).reshape(vectors.shape[:-1])[()] * self._unit
        return result

    def contains(self, attributions: Any, tolerance: float = _MEMBER) -> NDArray[np.bool_]:
        """Whether vectors are admissible.

        Args:
            attributions: Shape (..., n).
            tolerance: How far outside still counts as inside, relative to max |v - v(empty)|.

        Returns:
            Boolean, shape (...).
        """
        inside: NDArray[np.bool_] = self.violation(attributions) <= tolerance * (self.scale or 1.0)
        return inside

    def vertex(self, order: Any) -> NDArray[np.float64]:
        """The greedy vertex of an order: positive dividends go to their first member in it, negative to the last.

        Args:
            order: Shape (..., n): permutations of the players.

        Returns:
            Shape (..., n).

        Raises:
            ValueError: If it is no permutation.
        """
        return self._vertex(self._order(order)) * self._unit

    def vertex_shares(self, order: Any) -> ShareView:
        """The shares, all 0 or 1, that give the greedy vertex of an order, shape (n,)."""
        return self._shares(self._order(order).reshape(1, self.n_players), np.ones(1))

    def maximize(self, direction: Any) -> NDArray[np.float64]:
        """The member of largest inner product with a direction, a greedy vertex: (..., n) -> (..., n)."""
        order = np.argsort(-self._vectors(direction, "direction"), axis=-1, kind="stable")
        return self._vertex(order) * self._unit

    def nearest(self, reference: Any) -> NDArray[np.float64]:
        """The member nearest to a reference vector, shape (n,) -> (n,)."""
        vector = self._vectors(reference, "reference").reshape(self.n_players)
        return self.closed(self.corral(vector))

    def shares(self, attributions: Any, tolerance: float = 1e-8) -> ShareView:
        """Shares that give a member.

        Args:
            attributions: Shape (n,).
            tolerance: How far the shares may miss it, relative to max |v - v(empty)|.

        Returns:
            A read-only mapping of subset index to n shares, for the coalitions of two or more players whose dividend
            is not zero.

        Raises:
            ValueError: If it is not a member.
        """
        vector = self._vectors(attributions).reshape(self.n_players)
        corral = self.corral(vector)
        miss = float(np.max(abs(corral.point), initial=0.0)) * self._unit
        if miss > tolerance * (self.scale or 1.0):
            msg = f"attributions are not admissible: the nearest admissible vector is {miss:g} away in some entry."
            raise ValueError(msg)
        return self._shares(corral.orders, corral.weights)

    def corral(self, reference: NDArray[np.float64]) -> Corral:
        """Vertices whose combination is nearest to a reference, by Wolfe's algorithm, in units of about the scale."""
        return nearest_member(self._vertex, reference / self._unit)

    def closed(self, corral: Corral) -> NDArray[np.float64]:
        """The member a corral stands for, with rounding taken out of its sum where there is freedom."""
        width = (self.upper - self.lower) / self._unit
        missing = self._boundary[-1] - np.sum(corral.member)
        return (corral.member + missing * width / (np.sum(width) or 1.0)) * self._unit

    def _vertex(self, order: NDArray[np.intp]) -> NDArray[np.float64]:
        reached = self._boundary[np.cumsum(self._bits[order], axis=-1)]
        result = np.empty_like(reached)
        np.put_along_axis(result, order, np.diff(reached, axis=-1, prepend=0.0), axis=-1)
        return result

    def _shares(self, orders: NDArray[np.intp], weights: NDArray[np.float64]) -> ShareView:
        coalitions = self._shared
        receivers = np.stack([self._receivers(order)[coalitions] for order in orders])
        shares = np.zeros((len(coalitions), self.n_players))
        for start in range(0, len(coalitions), _PIECE):
            piece = shares[start : start + _PIECE]
            every = np.arange(len(piece))
            for receiver, weight in zip(receivers[:, start : start + _PIECE], weights, strict=True):
                piece[every, receiver] += weight
        sums = np.sum(shares, axis=1, keepdims=True)
        shares /= np.where(sums > 0, sums, 1.0)
        return ShareView(coalitions, np.clip(shares, 0.0, 1.0, out=shares))

    @cached_property
    def _shared(self) -> NDArray[np.intp]:
        """The coalitions that have something to share."""
        return np.flatnonzero((self._dividends != 0) & (coalition_sizes(self.n_players) > 1))

    def _receivers(self, order: NDArray[np.intp]) -> NDArray[np.uint8]:
        """Who gets the dividend of every coalition at the vertex of an order, shape (2**n,)."""
        place = np.empty(self.n_players, dtype=np.uint8)
        place[order] = np.arange(self.n_players, dtype=np.uint8)
        first, last = np.full(1, 255, dtype=np.uint8), np.zeros(1, dtype=np.uint8)
        for player in range(self.n_players):
            first = np.concatenate([first, np.minimum(first, place[player])])
            last = np.concatenate([last, np.maximum(last, place[player])])
        first[0] = 0
        ranks = np.where(self._dividends > 0, first, last)
        return order.astype(np.uint8)[ranks] if self.n_players else ranks

    def _order(self, order: Any) -> NDArray[np.intp]:
        given = np.asarray(to_numpy(order))
        expected = np.arange(self.n_players)
        if given.shape[-1:] != (self.n_players,) or not np.all(np.sort(given, axis=-1) == expected):
            msg = f"order={order!r} is no permutation of the players 0 to {self.n_players - 1}."
            raise ValueError(msg)
        return given.astype(np.intp)

    def _vectors(self, array: Any, parameter: str = "attributions") -> NDArray[np.float64]:
        given = np.asarray(to_numpy(array))
        if given.dtype.kind not in "fiub":
            msg = f"{parameter} has dtype {given.dtype}; allowed: real numbers."
            raise TypeError(msg)
        if given.shape[-1:] != (self.n_players,):
            msg = f"{parameter} has shape {given.shape}; the last axis must hold {self.n_players} players."
            raise ValueError(msg)
        if not np.all(np.isfinite(given)):
            msg = f"{parameter} holds NaN or infinity."
            raise ValueError(msg)
        return given.astype(np.float64)


def _subset_sums(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over all subsets of the columns: (m, k) -> (m, 2**k)."""
    sums = np.zeros((len(vectors), 1))
    for column in range(vectors.shape[1]):
        sums = np.concatenate([sums, sums + vectors[:, column : column + 1]], axis=1)
    return sums
