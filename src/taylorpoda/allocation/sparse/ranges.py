"""How large and how small the value of m players can be, for every m, from functions linear in membership.

With x_i = 1 for members of P and 0 for all others, v(P) is the sum of H(S) over the coalitions inside P. A positive
dividend counts at most for its shares, the sum of xi_i x_i over S with xi_i >= 0 that sum to one. A negative one counts
at least for mu (sum of x_i over S - |S| + 1) of itself, for any mu from 0 to 1. So v(P) is at most a constant plus a
weight for every member, and the m largest weights bound all coalitions of m players. Many choices of xi and mu are
tried; each is a bound, so the least of them is one too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.allocation.sparse.reduced import negated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.reduced import Reduced

_CHARGED = (0.0, 0.25, 0.5, 0.75, 1.0)  # mu
_SMALL = 6  # up to so many players inside or outside get weights of their own
_BALANCING = 30  # passes
_FORCE = 8.0  # how fast shares move toward members with small weights, over the range of weights


class Choices:
    """Which coalitions can be the first m players of an order, as far as single players tell.

    Args:
        n_players: How many players.
        before: Who must join before whom, transitive; None where all orders are allowed.

    Attributes:
        earliest: Shape (k,): the first place each player can have, from 0.
        latest: Shape (k,): the last one.
    """

    def __init__(self, n_players: int, before: NDArray[np.bool_] | None) -> None:
        self._before = np.zeros((n_players, n_players), dtype=np.bool_) if before is None else before
        self.earliest = np.sum(self._before, axis=0)
        self.latest = n_players - 1 - np.sum(self._before, axis=1)
        length = np.arange(1, n_players)[:, None]
        self._inside = self.latest[None, :] < length
        self._free = (self.earliest[None, :] < length) & ~self._inside

    def next_to_each_other(self, *, front: bool = True) -> NDArray[np.bool_]:
        """Which pairs (first, second) can be the first two players, or (last but one, last) the last two."""
        before = self._before
        others = self.earliest[None, :] - before if front else (len(before) - 1 - self.latest)[:, None] - before
        alone = self.earliest == 0 if front else self.latest == len(before) - 1
        allowed = (others == 0) & (alone[:, None] if front else alone[None, :]) & ~before.T
        np.fill_diagonal(allowed, val=False)
        return np.asarray(allowed)

    def largest_sums(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest sum of the weights of m players, for m = 1, ..., k - 1."""
        certain = np.sum(np.where(self._inside, weights, 0.0), axis=1)
        ranked = -np.sort(np.where(self._free, -weights, np.inf), axis=1)
        more = np.arange(1, len(weights)) - np.sum(self._inside, axis=1)
        sums = np.cumsum(ranked, axis=1)
        chosen = np.take_along_axis(sums, np.maximum(more - 1, 0)[:, None], axis=1)[:, 0]
        return certain + np.where(more > 0, chosen, 0.0)


def value_ranges(game: Reduced, choices: Choices) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest value that 1, ..., k - 1 players can have, each shape (k - 1,)."""
    return -_highest(negated(game), choices), _highest(game, choices)


def _highest(game: Reduced, choices: Choices) -> NDArray[np.float64]:
    found = np.full(game.n_players - 1, np.inf)
    for constant, weights in _linear(game):
        np.minimum(found, constant + choices.largest_sums(weights), out=found)
    for few in range(1, min(_SMALL, game.n_players - 1) + 1):
        constant, weights = _few_inside(game, few)
        found[few - 1] = min(found[few - 1], constant + choices.largest_sums(weights)[few - 1])
        constant, weights = _few_outside(game, few)
        found[-few] = min(found[-few], constant + choices.largest_sums(weights)[-few])
    return found


def _linear(game: Reduced) -> Iterator[tuple[float, NDArray[np.float64]]]:
    """Constants and weights that are never below v."""
    gains, losses = np.maximum(game.values, 0.0), np.maximum(-game.values, 0.0) * (game.sizes > 1)
    single = game.dividends.singletons()
    shared = gains * (game.sizes > 1)
    charge = game.by_player(losses[game.owner])
    for part in _CHARGED:
        constant = game.base + part * float(np.sum(losses * (game.sizes - 1)))
        yield from ((constant, weights) for weights in _balanced(game, shared, single - part * charge))


def _balanced(game: Reduced, shared: NDArray[np.float64], fixed: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Weights from shares that are even, and from shares that make the weights as even as they can be.

    The more even, the smaller the sums of the largest.
    """
    amounts = shared[game.owner]
    shares = 1.0 / game.sizes[game.owner]
    weights = fixed + game.by_player(shares * amounts)
    yield weights
    if not np.any(shared):
        return
    for step in range(_BALANCING):
        reach = float(np.ptp(weights)) or 1.0
        excess = (weights - np.min(weights)) / reach
        shares = shares * np.exp(-_FORCE / (1.0 + 0.2 * step) * excess[game.members])
        shares /= np.add.reduceat(shares, game.starts)[game.owner]
        weights = fixed + game.by_player(shares * amounts)
        if step % 10 == 9:
            yield weights


def _few_inside(game: Reduced, count: int) -> tuple[float, NDArray[np.float64]]:
    """For coalitions of so few players: larger dividends are not met."""
    met = np.where(game.sizes <= count, np.maximum(game.values, 0.0), 0.0)
    met = np.where(game.sizes == 1, game.values, met)
    return game.base, game.by_player((met / game.sizes)[game.owner])


def _few_outside(game: Reduced, count: int) -> tuple[float, NDArray[np.float64]]:
    """For coalitions of all but so few players: each of those takes a larger part of a positive dividend with it."""
    parts = 1.0 / np.minimum(count, game.sizes)
    factor = np.where((game.values > 0) & (game.sizes > 1), parts, 1.0)
    constant = game.base + float(np.sum(game.values * (1.0 - factor * game.sizes)))
    return constant, game.by_player((game.values * factor)[game.owner])
