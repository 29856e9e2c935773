"""Best-first search over signed prefixes of rankings for the least cost an admissible attribution can have.

A node is a signed prefix ((i1, s1), (i2, s2), ...). Its bound is what its coalitions cost plus the cheapest way on from
there, read off the lattice. Nodes are worked off level by level: all whose bound is the least there is, up to the
tolerance within which costs are equal. If none of them is attainable the level rises. The first ranking attained is
therefore of least cost among all attainable ones; within a level it is looked for depth first, because one good guess
proves it.
"""

from __future__ import annotations

import heapq
import time
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taylorpoda.allocation.lattice import cost_to_go
from taylorpoda.allocation.probe import UndecidedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from taylorpoda.allocation.probe import Probe

_MOST_SIGNS = 6  # coalitions with more players of either sign are not closed: 2**6 questions are enough
_QUICK = 14  # above this many players the lattice is worked through again only for many closed coalitions
_LISTED = 12  # up to this many players the lattice is kept as a list too
_NO_SIGN = 1e-12  # an interval that reaches no further over zero has no second sign


class Node(NamedTuple):
    """A signed prefix.

    Attributes:
        order: The players placed, largest first.
        signs: Their signs.
        coalition: Their subset index.
        cost: What their prefixes cost.
        bound: A lower bound for the cost of every ranking that starts like this.
        guide: A vector whose entries suggest how to go on.
        attainable: Whether the prefix is known to be attainable.
    """

    order: tuple[int, ...]
    signs: tuple[float, ...]
    coalition: int
    cost: float
    bound: float
    guide: NDArray[np.float64]
    attainable: bool


class LimitReachedError(Exception):
    """The node limit or the deadline ended the search."""


class Lattice:
    """The rankings of one game and what they cost: children and dives, without asking who is attainable.

    Args:
        costs: Shape (2**n,): c, infinite where precedence forbids a coalition.
        to_go: Shape (2**n,): W of these costs.
        tolerance: Costs closer than this are equal.
        signs: For every player the signs its interval allows.
    """

    def __init__(
        self,
        costs: NDArray[np.float64],
        to_go: NDArray[np.float64],
        tolerance: float,
        signs: Sequence[tuple[float, ...]],
    ) -> None:
        self.costs = costs
        self.to_go = to_go
        self.tolerance = tolerance
        self.signs = signs
        self.n_players = len(signs)
        self._look_up(to_go)

    def close(self, coalitions: set[int]) -> None:
        """Forbid coalitions and tighten every bound."""
        self.costs = self.costs.copy()
        self.costs[list(coalitions)] = np.inf
        self._look_up(cost_to_go(self.costs[None, :])[0])

    def _look_up(self, to_go: NDArray[np.float64]) -> None:
        self.to_go = to_go
        # Single numbers come faster from a list, which takes a while to make.
        self._entries: Sequence[float] = to_go.tolist() if self.n_players <= _LISTED else to_go.data

    def ahead(self, node: Node) -> list[tuple[int, float]]:
        """The players that may come next, with the bound of the ranking that goes on so."""
        entries, coalition, cost = self._entries, node.coalition, node.cost
        return [
            (player, bound)
            for player in range(self.n_players)
            if not coalition >> player & 1 and (bound := cost + entries[coalition | 1 << player]) != np.inf
        ]

    def child(self, node: Node, player: int, sign: float, bound: float, guide: NDArray[np.float64]) -> Node:
        """The prefix with one player more."""
        coalition = node.coalition | 1 << player
        cost = node.cost + float(self.costs[coalition])
        return Node((*node.order, player), (*node.signs, sign), coalition, cost, bound, guide, attainable=False)

    def sign_of(self, player: int, guide: Sequence[float] | NDArray[np.float64]) -> float:
        """The sign a guide suggests, if the interval allows it."""
        wanted = 1.0 if guide[player] >= 0 else -1.0
        return wanted if wanted in self.signs[player] else self.signs[player][0]

    def dive(self, node: Node, level: float) -> Node:
        """The complete ranking of the level that follows the node's guide: largest suggestion first."""
        guide, entries, coalition, cost = node.guide.tolist(), self._entries, node.coalition, node.cost
        bound, order, signs = node.bound, list(node.order), list(node.signs)
        left = [player for player in range(self.n_players) if not coalition >> player & 1]
        left.sort(key=lambda player: -abs(guide[player]))
        while left:
            limit = level + self.tolerance
            for player in left:
                bound = cost + entries[coalition | 1 << player]
                if bound <= limit:
                    break
            else:  # rounding carried the bound of the cheapest way on just over the level
                bound, _, player = min((cost + entries[coalition | 1 << p], k, p) for k, p in enumerate(left))
            left.remove(player)
            order.append(player)
            signs.append(self.sign_of(player, guide))
            coalition |= 1 << player
            cost += float(self.costs[coalition])
        return Node(tuple(order), tuple(signs), coalition, cost, bound, node.guide, attainable=False)

    def complete(self, order: Sequence[int], guide: NDArray[np.float64]) -> Node:
        """A ranking of least cost with the signs that a guide suggests."""
        signs = tuple(self.sign_of(player, guide) for player in order)
        cost = float(self.to_go[0])
        return Node(tuple(order), signs, (1 << self.n_players) - 1, cost, cost, guide, attainable=False)

    def root(self, guide: NDArray[np.float64]) -> Node:
        """The empty prefix."""
        return Node((), (), 0, 0.0, float(self.to_go[0]), guide, attainable=True)


def allowed_signs(
    lower: NDArray[np.float64], upper: NDArray[np.float64], center: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The sign to try first for every player, that of its Shapley value if it can, and whether it has another one."""
    positive, negative = upper > _NO_SIGN, lower < -_NO_SIGN
    both = positive & negative
    return np.where(np.where(both, center >= 0, ~negative), 1.0, -1.0), both


class Search:
    """The search for one game.

    Args:
        probe: Answers which prefixes are attainable.
        lattice: The rankings and their costs.
        good_enough: A cost already attained; nothing is looked for that is not cheaper.
        node_limit: How many prefixes to try.
        deadline: On the clock of time.monotonic, or None.

    Attributes:
        bound: No admissible ranking costs less.
        nodes: How many prefixes were tried.
        seen: The attainable vectors met on the way.
    """

    def __init__(
        self, probe: Probe, lattice: Lattice, good_enough: float, node_limit: float, deadline: float | None
    ) -> None:
        self.probe = probe
        self.lattice = lattice
        self.good_enough = good_enough
        self.node_limit = node_limit
        self.deadline = deadline
        self.level = float(lattice.to_go[0])
        self.nodes = 0
        self.seen: list[NDArray[np.float64]] = []
        self._largest: dict[tuple[int, int], bool] = {}  # which signed coalitions can be the largest
        self._undecided = np.inf  # the least bound of a prefix that the solver could not decide
        self._alive: set[int] = set()
        self._closed: set[int] = set()
        self._tightened: set[int] = set()
        self._higher: list[tuple[float, int, Node]] = []
        self._pushed = 0

    @property
    def bound(self) -> float:
        """No admissible ranking costs less than this."""
        return min(self.level, self._undecided)

    @property
    def decided(self) -> bool:
        """Whether every prefix of the level that was tried got an answer."""
        return self._undecided > self.level + self.lattice.tolerance

    def run(self, first: Sequence[int]) -> NDArray[np.float64] | None:
        """The attainable vector found, of cost `bound`; None if nothing is cheaper than what is good enough.

        Args:
            first: A ranking of least cost, tried first.

        Raises:
            LimitReachedError: If the node limit or the deadline is reached; `bound` holds all the same.
        """
        if not self._worthwhile():
            return None
        root = self.lattice.root(self.probe.center)
        stack = [root]
        leaf: Node | None = self.lattice.complete(first, root.guide)
        while True:
            while stack:
                node = stack.pop()
                guided = self._attainable(node)
                if guided is None:
                    continue
                found = self._explore(guided, leaf or self.lattice.dive(guided, self.level), stack)
                leaf = None
                if found is not None:
                    return found
            self._tighten()
            if not self._higher:
                self.level = np.inf
                return None
            self.level = self._higher[0][0]
            if not self._worthwhile():
                return None
            while self._higher and self._higher[0][0] <= self.level + self.lattice.tolerance:
                stack.append(heapq.heappop(self._higher)[2])
            stack.sort(key=lambda node: (len(node.order), abs(node.guide[node.order[-1]])))

    def _worthwhile(self) -> bool:
        return self.level < self.good_enough - self.lattice.tolerance

    def _attainable(self, node: Node) -> Node | None:
        """The node with its own nearest vector as guide, or None if it is not attainable."""
        if node.attainable:
            return node
        nearest = self.ask(node)
        return None if nearest is None else node._replace(guide=nearest, attainable=True)

    def ask(self, node: Node) -> NDArray[np.float64] | None:
        """The nearest attainable vector of a prefix, or None.

        Raises:
            LimitReachedError: If the node limit or the deadline is reached.
        """
        signed = self._signed(node)
        if self._largest.get(signed) is False:
            return None
        if self.nodes >= self.node_limit:
            raise LimitReachedError
        self._check_deadline()
        self.nodes += 1
        try:
            nearest = self.probe.nearest(node.order, node.signs)
            if nearest is not None:
                self.seen.append(nearest)
            elif signed not in self._largest and len(node.order) < self.lattice.n_players:
                # Many orders of one coalition would fail for the same reason: ask once for all of them. All players
                # together are no such coalition: nobody is left whom the last of them must exceed.
                self._largest[signed] = len(node.order) > 1 and self.probe.set_attainable(node.order, node.signs)
                if not self._largest[signed]:
                    self._try_other_signs(node)
        except UndecidedError:
            self._undecided = min(self._undecided, node.bound)
            return None
        return nearest

    def _check_deadline(self) -> None:
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise LimitReachedError

    def _try_other_signs(self, node: Node) -> None:
        """If no signs let these players be the largest, no ranking passes through their coalition."""
        both = sum(len(self.lattice.signs[player]) > 1 for player in node.order)
        if node.coalition in self._closed or node.coalition in self._alive or both > _MOST_SIGNS:
            return
        for signs in product(*(self.lattice.signs[player] for player in node.order)):
            signed = self._signed(node._replace(signs=signs))
            if signed not in self._largest:
                self._check_deadline()
                self._largest[signed] = self.probe.set_attainable(node.order, signs)
            if self._largest[signed]:
                self._alive.add(node.coalition)
                return
        self._closed.add(node.coalition)

    def _tighten(self) -> None:
        """Close the coalitions that no ranking can pass through, and move the bounds of what is left."""
        fresh = len(self._closed) - len(self._tightened)
        if fresh < (1 if self.lattice.n_players <= _QUICK else self.lattice.n_players):
            return
        self._tightened |= self._closed
        self.lattice.close(self._tightened)
        nodes = [
            node._replace(bound=node.cost - float(self.lattice.costs[node.coalition]) + bound)
            for _, _, node in self._higher
            if (bound := float(self.lattice.to_go[node.coalition])) != np.inf
        ]
        self._higher = []
        for node in nodes:
            if node.bound < self.good_enough - self.lattice.tolerance:
                self._pushed += 1
                heapq.heappush(self._higher, (node.bound, self._pushed, node))

    @staticmethod
    def _signed(node: Node) -> tuple[int, int]:
        negative = 0
        for player, sign in zip(node.order, node.signs, strict=True):
            if sign < 0:
                negative |= 1 << player
        return node.coalition, negative

    def _explore(self, node: Node, leaf: Node, stack: list[Node]) -> NDArray[np.float64] | None:
        """Try a ranking that starts with an attainable node; if it fails, push what else may follow the node."""
        found = self.ask(leaf)
        if found is not None:
            return found
        depth = len(node.order)
        failed = len(leaf.order)
        path = [node]
        for player, sign in zip(leaf.order[depth:], leaf.signs[depth:], strict=True):
            bound = path[-1].cost + float(self.lattice.to_go[path[-1].coalition | 1 << player])
            path.append(self.lattice.child(path[-1], player, sign, bound, node.guide))
        # The shortest prefix that fails, by bisection: longer prefixes of it fail too.
        while failed - depth > 1:
            middle = (failed + depth) // 2
            nearest = self.ask(path[middle - len(node.order)])
            if nearest is None:
                failed = middle
            else:
                depth = middle
                path[middle - len(node.order)] = path[middle - len(node.order)]._replace(guide=nearest, attainable=True)
        guide = node.guide
        for step in range(failed - len(node.order)):
            guide = path[step].guide if path[step].attainable else guide
            self._push_siblings(path[step], path[step + 1], guide, stack)
        return None

    def _push_siblings(self, parent: Node, taken: Node, guide: NDArray[np.float64], stack: list[Node]) -> None:
        """Everything that may follow a prefix except what was tried; the most promising last, popped first."""
        here: list[tuple[float, Node]] = []
        for player, bound in self.lattice.ahead(parent):
            for sign in self.lattice.signs[player]:
                if player == taken.order[-1] and sign == taken.signs[-1]:
                    continue
                child = self.lattice.child(parent, player, sign, bound, guide)
                if bound <= self.level + self.lattice.tolerance:
                    here.append((sign * float(guide[player]), child))
                elif bound < self.good_enough - self.lattice.tolerance:
                    self._pushed += 1
                    heapq.heappush(self._higher, (bound, self._pushed, child))
        here.sort(key=lambda item: item[0])
        stack.extend(child for _, child in here)
