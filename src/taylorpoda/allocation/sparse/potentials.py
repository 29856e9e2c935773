"""Shares from one number per player: the admissible set without its boundary, turned inside out.

Give every player a potential y_i and let the members of S share in proportion to exp(y_i) if H(S) > 0, to exp(-y_i) if
H(S) < 0. Whatever y is, these are valid shares. The attributions a(y) are the gradient of the convex function
F(y) = sum over S of |H(S)| log sum over S of exp(+-y_i), plus y . H({i}), whose gradients fill the relative interior of
the admissible set; each inner point is reached once (up to constants), points of the boundary in the limit. So a vector
is admissible if and only if F(y) - y . a is bounded below, which Newton's method decides: it ends at shares that give
the vector, or runs off in a direction whose upper level set is a row of the base polytope that the vector violates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg, sparse

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.reduced import Reduced

_STEPS = 80
_LONGEST = 2.0  # how far one step may move a potential
_EXACT = 1e-13  # relative to the scale
_LOOK = 4  # steps between two looks for a violated row
_VIOLATED = 1e-9  # relative to the scale
_NOTHING = 1e-20


@dataclass(frozen=True, eq=False)
class Reached:
    """What Newton's method ended with.

    Attributes:
        potentials: Shape (k,).
        attributions: Shape (k,): what the shares of these potentials give; admissible.
        miss: How far they are from the target, largest entry.
        violated: Rows of players, shape (r, k), that the target exceeds; none if it is admissible.
    """

    potentials: NDArray[np.float64]
    attributions: NDArray[np.float64]
    miss: float
    violated: NDArray[np.bool_]


class Potentials:
    """The shares and attributions that potentials give.

    Args:
        game: The game.
    """

    def __init__(self, game: Reduced) -> None:
        self._n_players = game.n_players
        several = (game.sizes > 1) & (game.values != 0)
        entries = several[game.owner]
        self._members = game.members[entries]
        self._values = game.values[several]
        sizes = game.sizes[several]
        self._owner = np.repeat(np.arange(len(sizes)), sizes)
        self._starts = np.cumsum(sizes) - sizes
        self._weight = abs(self._values)[self._owner]
        self._spread = self._values[self._owner]
        self._sign = np.sign(self._spread)
        self._single = game.dividends.singletons()
        self._scale = game.scale or 1.0
        self._players = np.unique(self._members)  # those with something to share

    @property
    def entries(self) -> int:
        """Members of all coalitions of two or more with a dividend."""
        return len(self._members)

    def shares(self, potentials: NDArray[np.float64]) -> NDArray[np.float64]:
        """The share of every member of the coalitions of two or more with a dividend, end to end."""
        return self._evaluate(potentials)[0]

    def attributions(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """What shares give, shape (k,)."""
        adapted = np.bincount(self._members, weights=self._spread * shares, minlength=self._n_players)
        return self._single + adapted

    def reach(self, target: NDArray[np.float64], enough: Callable[[NDArray[np.float64]], bool]) -> Reached:
        """Potentials that give a vector, or rows that show that none do.

        Args:
            target: Shape (k,).
            enough: Whether attributions met on the way, admissible as all of them, will do instead.
        """
        potentials = np.zeros(self._n_players)
        shares, height = self._evaluate(potentials)
        none = np.zeros((0, self._n_players), dtype=np.bool_)
        attributions = self.attributions(shares)
        best = Reached(potentials, attributions, float(np.max(abs(target - attributions), initial=0.0)), none)
        for step in range(_STEPS):
            attributions = self.attributions(shares)
            rest = target - attributions
            miss = float(np.max(abs(rest), initial=0.0))
            if miss < best.miss:
                best = Reached(potentials, attributions, miss, none)
            if enough(attributions):
                return Reached(potentials, attributions, miss, none)
            if miss <= _EXACT * self._scale or not len(self._players):
                break
            if step % _LOOK == _LOOK - 1:
                violated = self._violated(target, potentials)
                if len(violated):
                    return Reached(potentials, best.attributions, best.miss, violated)
            move = self._direction(shares, rest)
            length, shares_there, height_there = self._search(potentials, move, rest, target, height)
            if length == 0.0:
                break
            potentials = potentials + length * move
            shares, height = shares_there, height_there
        if best.miss > _VIOLATED * self._scale:
            return Reached(best.potentials, best.attributions, best.miss, self._violated(target, potentials))
        return best

    def vertex(self, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """What the first players of an order can get at most, one after the other: shape (k,)."""
        if not len(self._values):
            return self._single.copy()
        return self._single + np.bincount(self._receivers(order), weights=self._values, minlength=self._n_players)

    def vertex_shares(self, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """The shares, all 0 or 1, of that vertex, end to end."""
        if not len(self._values):
            return np.zeros(0)
        return (self._members == self._receivers(order)[self._owner]).astype(np.float64)

    def _receivers(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positive dividends go to their first member in an order, negative ones to the last."""
        place = np.empty(self._n_players)
        place[order] = np.arange(self._n_players)
        ranks = np.minimum.reduceat(self._sign * place[self._members], self._starts)
        return order[abs(ranks).astype(np.int64)]

    def _violated(self, target: NDArray[np.float64], potentials: NDArray[np.float64]) -> NDArray[np.bool_]:
        """The upper level sets of the potentials that have more than they can get, the worst ones."""
        order = np.argsort(-potentials, kind="stable")
        excess = np.cumsum((target - self.vertex(order))[order])[:-1]
        worst = np.argsort(-excess, kind="stable")[:3]
        worst = worst[excess[worst] > _VIOLATED * self._scale]
        rows = np.zeros((len(worst), self._n_players), dtype=np.bool_)
        for row, last in zip(rows, worst.tolist(), strict=True):
            row[order[: last + 1]] = True
        return rows

    def most(self, players: NDArray[np.bool_]) -> float:
        """g: the most that some players can get together."""
        order = np.argsort(~players, kind="stable")
        return float(np.sum(self.vertex(order)[players]))

    def _evaluate(self, potentials: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """The shares, and F without its linear part."""
        if not len(self._values):
            return np.zeros(0), 0.0
        lift = self._sign * potentials[self._members]
        highest = np.maximum.reduceat(lift, self._starts)
        weight = np.exp(lift - highest[self._owner])
        total = np.add.reduceat(weight, self._starts)
        height = float(np.sum(abs(self._values) * (highest + np.log(total))))
        return weight / total[self._owner], height

    def _direction(self, shares: NDArray[np.float64], rest: NDArray[np.float64]) -> NDArray[np.float64]:
        """Newton's step; F is flat along constants and for players that share nothing."""
        shares = np.where(shares < _NOTHING, 0.0, shares)  # products of what is smaller are slow, and worth nothing
        indptr = np.append(self._starts, len(self._members))
        shape = (len(self._values), self._n_players)
        root = sparse.csr_matrix((shares * np.sqrt(self._weight), self._members, indptr), shape=shape)
        curvature = -np.asarray((root.T @ root).toarray())
        diagonal = np.bincount(self._members, weights=self._weight * shares, minlength=self._n_players)
        place = np.arange(self._n_players)
        curvature[place, place] += diagonal + 1e-12 * self._scale
        active = self._players
        move = np.zeros(self._n_players)
        try:
            found = linalg.solve(curvature[np.ix_(active, active)], rest[active], assume_a="pos")
        except linalg.LinAlgError:
            found = linalg.lstsq(curvature[np.ix_(active, active)], rest[active])[0]
        move[active] = found - np.mean(found)
        longest = float(np.max(abs(move), initial=0.0))
        return move * min(1.0, _LONGEST / longest) if longest > 0 else move

    def _search(
        self,
        potentials: NDArray[np.float64],
        move: NDArray[np.float64],
        rest: NDArray[np.float64],
        target: NDArray[np.float64],
        height: float,
    ) -> tuple[float, NDArray[np.float64], float]:
        """How far to go: F - y . target must come down."""
        pull = target - self._single
        promise = float(rest @ move)
        now = height - float(pull @ potentials)
        length = 1.0
        for _ in range(30):
            there = potentials + length * move
            shares, height_there = self._evaluate(there)
            if height_there - float(pull @ there) <= now - 1e-4 * length * promise + 1e-12 * (abs(now) + abs(height)):
                return length, shares, height_there
            length /= 2.0
        return 0.0, np.zeros(0), height
