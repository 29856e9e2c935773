"""The trees of an ensemble laid out for one set of players: preorder, bits along paths, units looked up as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.optional import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.dividends.trees.ensemble import Ensemble

MOST_ON_A_PATH = 63  # players whose sets fit the bits of a word, with room to shift
UNIT_BITS = 7  # a table of 2**7 indices stays in the first-level cache with its rows


@dataclass(frozen=True, eq=False)
class Layout:
    """Nodes in preorder: a left child follows its parent, a right child follows the left subtree.

    Attributes:
        column: Column of each split, -1 at leaves.
        threshold: Its threshold.
        flags: Its flags.
        lookup_start: Its categories.
        lookup: All categories.
        values: Shape (nodes, width): what leaves add.
        cover: Training weight of each node.
        end: One past each node's subtree.
        depth: Depth in its tree.
        side: 1 at left children.
        above: Distinct players above.
        bit: Which of its path's players a split belongs to, -1 at leaves.
        repeat: Whether that player is above it already.
        player: Player of each split, -1 at leaves.
        starts: Where trees start, with the end last.
        slots: First output of each tree.
        levels: The largest depth.
    """

    column: NDArray[np.int32]
    threshold: NDArray[np.float64]
    flags: NDArray[np.uint8]
    lookup_start: NDArray[np.int64]
    lookup: NDArray[np.uint8]
    values: NDArray[np.float64]
    cover: NDArray[np.float64]
    end: NDArray[np.int32]
    depth: NDArray[np.int32]
    side: NDArray[np.int32]
    above: NDArray[np.int32]
    bit: NDArray[np.int32]
    repeat: NDArray[np.bool_]
    player: NDArray[np.int32]
    starts: NDArray[np.int32]
    slots: NDArray[np.int32]
    levels: int

    @property
    def n_trees(self) -> int:
        """How many trees."""
        return len(self.slots)

    @property
    def width(self) -> int:
        """Outputs a leaf adds to."""
        return int(self.values.shape[1])

    @property
    def leaves(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return self.bit < 0

    def per_tree(self, function: np.ufunc, numbers: NDArray[Any]) -> NDArray[Any]:
        """A number per node brought together for each tree, by np.add or np.maximum."""
        return np.asarray(function.reduceat(numbers, self.starts[:-1])) if self.n_trees else numbers[:0]

    def splits(self) -> tuple[Any, Any, Any, Any, Any]:
        """What decides where a row goes, in the order the kernels take it."""
        return self.column, self.threshold, self.flags, self.lookup_start, self.lookup


def lay_out(ensemble: Ensemble, player_of_feature: NDArray[Any], *, merge_constant: bool) -> Layout:
    """Lay an ensemble out for players.

    Args:
        ensemble: The trees.
        player_of_feature: Shape (features,): the player of each feature.
        merge_constant: Whether subtrees whose leaves agree become one leaf.
    """
    require("numba", "trees", 'engine="trees"')
    from taylorpoda.dividends.trees import kernels_layout

    player_of_column = np.asarray(player_of_feature, dtype=np.int32)[ensemble.feature_of_column]
    values, cut = ensemble.values, np.zeros(len(ensemble.left), dtype=np.bool_)
    if merge_constant:
        cut, values = kernels_layout.constant_below(ensemble.left, ensemble.right, values, ensemble.roots)
    source, end, depth, side, above, bit, repeat, starts = kernels_layout.preorder(
        ensemble.left, ensemble.right, ensemble.column, cut, ensemble.roots, player_of_column
    )
    leaf = bit < 0
    column = np.where(leaf, -1, ensemble.column[source]).astype(np.int32)
    inner_players = player_of_column[np.where(leaf, 0, column)] if len(player_of_column) else np.zeros(len(leaf))
    return Layout(
        column=column,
        threshold=ensemble.threshold[source],
        flags=ensemble.flags[source],
        lookup_start=ensemble.lookup_start[source],
        lookup=ensemble.lookup,
        values=np.ascontiguousarray(np.where(leaf[:, None], values[source], 0.0)),
        cover=ensemble.cover[source],
        end=end,
        depth=depth,
        side=side,
        above=above,
        bit=bit,
        repeat=repeat,
        player=np.where(leaf, -1, inner_players).astype(np.int32),
        starts=starts,
        slots=ensemble.slots,
        levels=int(depth.max(initial=0)),
    )


@dataclass(frozen=True, eq=False)
class Units:
    """Subtrees looked up as one.

    Attributes:
        kind: 1 at a unit's root, 0 above units, -1 inside.
        node: Root of each unit.
        bits: Index bits of each unit.
        start: Where each unit's players start, with the end last.
        players: Their players.
        of_node: The unit of each root, else -1.
        tree: The tree of each unit.
    """

    kind: NDArray[np.int32]
    node: NDArray[np.int32]
    bits: NDArray[np.int32]
    start: NDArray[np.int64]
    players: NDArray[np.int32]
    of_node: NDArray[np.int32]
    tree: NDArray[np.int64]

    @property
    def entries(self) -> NDArray[np.int64]:
        """Numbers in the table of each unit, for one output."""
        return np.left_shift(np.diff(self.start), np.minimum(self.bits, 62), dtype=np.int64)


def find_units(layout: Layout) -> Units:
    """The units of all trees."""
    from taylorpoda.dividends.trees import kernels_layout

    kind, node, bits, start, players = kernels_layout.units(
        layout.end, layout.above, layout.bit, layout.player, layout.starts, UNIT_BITS
    )
    of_node = np.full(len(kind), -1, dtype=np.int32)
    of_node[node] = np.arange(len(node))
    tree = np.searchsorted(layout.starts, node, side="right") - 1
    return Units(kind, node, bits, start, players, of_node, tree)
