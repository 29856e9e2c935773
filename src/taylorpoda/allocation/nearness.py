"""The second key: among the attainable rankings of least cost, the vector nearest to the Shapley values.

Best-first over the signed prefixes of the lattice's level by a lower bound of the distance. A prefix's nearest vector p
is the projection of the Shapley values on a convex set that holds the nearest vector q of every longer prefix; the
angle at a projection is obtuse, so |q - center|^2 >= |p - center|^2 + |q - p|^2, and the second term is bounded by how
far two players of p would have to move to come in order. Most prefixes are ruled out so, without solving anything.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.allocation.search import LimitReachedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.search import Lattice, Node, Search

_EQUAL = 1e-9  # relative: squared distances closer than this are equal


def nearest_of_level(search: Search, found: NDArray[np.float64], node_limit: float) -> tuple[NDArray[np.float64], bool]:
    """The nearest attainable vector of the level, and whether that is proven.

    Args:
        search: A search that has ended with an attainable vector.
        found: That vector.
        node_limit: How many prefixes may be tried in all, those of the search included.

    Returns:
        The best vector met, at least as near as the one given, and whether the search was finished.
    """
    search.node_limit = node_limit
    hunt = _Hunt(search, found)
    try:
        hunt.run()
    except LimitReachedError:
        return hunt.best, False
    return hunt.best, search.decided


class _Hunt:
    def __init__(self, search: Search, found: NDArray[np.float64]) -> None:
        self.best = found
        self._search = search
        self._lattice: Lattice = search.lattice
        self._center = search.probe.center
        self._margin = search.probe.margin
        self._distance = self._squared(found)
        self._queue: list[tuple[float, int, float, Node]] = []
        self._pushed = 0
        order = np.argsort(-abs(found), kind="stable")
        signs = np.where(found[order] >= 0, 1.0, -1.0)
        self._dived = {(tuple(order.tolist()), tuple(signs.tolist()))}

    def _squared(self, vector: NDArray[np.float64]) -> float:
        difference = vector - self._center
        return float(difference @ difference)

    def _open(self, bound: float) -> bool:
        return bound < self._distance * (1.0 - _EQUAL)

    def run(self) -> None:
        """Until nothing nearer is left."""
        # A node comes with the distance of the vector that guides it: its own, or that of the prefix it extends.
        self._push(0.0, 0.0, self._lattice.root(self._center))
        while self._queue:
            bound, _, distance, node = heapq.heappop(self._queue)
            if not self._open(bound):
                return
            if not node.attainable:
                self._solve(node)
            elif len(node.order) == self._lattice.n_players:
                self.best, self._distance = node.guide, distance
            else:
                self._dive(node)
                self._expand(node, distance)

    def _push(self, bound: float, distance: float, node: Node) -> None:
        self._pushed += 1
        heapq.heappush(self._queue, (bound, self._pushed, distance, node))

    def _solve(self, node: Node) -> None:
        nearest = self._search.ask(node)
        if nearest is None:
            return
        distance = self._squared(nearest)
        if self._open(distance):
            self._push(distance, distance, node._replace(guide=nearest, attainable=True))

    def _dive(self, node: Node) -> None:
        """Complete the prefix as its nearest vector suggests: often that is the answer, and it always prunes."""
        leaf = self._lattice.dive(node, self._search.level)
        if not node.order or (leaf.order, leaf.signs) in self._dived:
            return
        self._dived.add((leaf.order, leaf.signs))
        nearest = self._search.ask(leaf)
        if nearest is not None and self._open(self._squared(nearest)):
            self.best, self._distance = nearest, self._squared(nearest)

    def _expand(self, node: Node, distance: float) -> None:
        guide = node.guide.tolist()
        largest, second, leader = 0.0, 0.0, -1
        for player, suggested in enumerate(guide):
            size = abs(suggested)
            if size > second and not node.coalition >> player & 1:
                largest, second, leader = (size, largest, player) if size > largest else (largest, size, leader)
        level = self._search.level + self._lattice.tolerance
        for player, cost in self._lattice.ahead(node):
            if cost > level:
                continue
            other = second if player == leader else largest
            for sign in self._lattice.signs[player]:
                value = sign * guide[player]
                child = self._lattice.child(node, player, sign, cost, node.guide)
                if value >= other + self._margin:
                    self._push(distance, distance, child._replace(attainable=True))
                    continue
                bound = distance + _way(value, other)
                if self._open(bound):
                    self._push(bound, distance, child)


def _way(value: float, other: float) -> float:
    """The least squared move that brings a signed value up to the size of another player, which may come down."""
    if value + other <= 0.0:
        return value * value + other * other
    return max(other - value, 0.0) ** 2 / 2.0
