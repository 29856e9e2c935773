"""A tree ensemble as arrays: every library's trees in one form, evaluated exactly as that library evaluates them.

A split sends a row left when the value of its *column* is at most the threshold, or is NaN and the split's
NaN rule says left; a categorical split looks the column's integer code up in a table. Everything else a
library does to a cell before it compares (casts, category codes, zeros that count as missing) happens once
per cell, in the ensemble's encoder, so the splits themselves are the same for all. `value < t` becomes
`value <= the number just below t`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from taylorpoda._support.optional import require

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from taylorpoda.dividends.trees.columns import ColumnBook

LEAF = -1
NAN_LEFT = 1
CATEGORICAL = 2


class UnsupportedTreesError(ValueError):
    """A model whose outputs are not, or not provably, a sum of leaves; the message says what it has."""


class NoTreesError(UnsupportedTreesError):
    """A model that is no tree ensemble at all."""


class Encoder(Protocol):
    """Turns the rows a model's predict accepts into the columns its splits read."""

    def encode(self, rows: Any) -> NDArray[np.float64]:
        """The columns of these rows, shape (columns, rows)."""
        ...


class Arithmetic(Protocol):
    """How a library itself adds up leaves, to the bit."""

    def predict(self, leaves: NDArray[np.int32], rows: Any) -> NDArray[Any]:
        """The library's own raw output from the leaf (node) of every row in every tree, (rows, trees).

        Args:
            leaves: Node indices of the ensemble, shape (rows, trees).
            rows: The rows themselves, for libraries whose sum starts from something of the row's.

        Returns:
            Shape (rows, outputs), in the library's own dtype.
        """
        ...


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A sum of trees.

    Attributes:
        column: Shape (nodes,): the column a split reads, -1 at leaves.
        threshold: Shape (nodes,): a row goes left when its value is at most this.
        flags: Shape (nodes,): NAN_LEFT and CATEGORICAL.
        lookup_start: Shape (nodes,): where a categorical split's table begins in `lookup`.
        left: Shape (nodes,): left child, an index into the same arrays.
        right: Shape (nodes,): right child.
        cover: Shape (nodes,): training weight that reached the node, NaN where the library does not say.
        values: Shape (nodes, width): what a leaf adds, scaled as it enters the sum; zero at inner nodes.
        roots: Shape (trees,): the root of each tree.
        slots: Shape (trees,): the first output a tree adds to; it adds to `width` outputs from there.
        base: Shape (outputs,): what is added once.
        lookup: For each code of a categorical split whether it goes left (1) or right (0).
        feature_of_column: Shape (columns,): the feature of the user's table that each column is computed
            from.
        n_features: Features of the user's table.
        encoder: From the user's rows to columns.
        arithmetic: The library's own sum.
        link: What the library does to the sum: "identity", "logistic", "softmax", "exp", or another name.
        slope: With link "logistic", probability = 1 / (1 + exp(-slope * sum)).
        probabilities: Whether the sum itself is class probabilities, as a forest's.
        source: What it was read from, for messages and provenance.
        raw: What the library calls the raw score, where that is another sum than the one predict makes its answer
            of: LightGBM's forests divide it by their trees first. None where it is this one.
    """

    column: NDArray[np.int32]
    threshold: NDArray[np.float64]
    flags: NDArray[np.uint8]
    lookup_start: NDArray[np.int64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    cover: NDArray[np.float64]
    values: NDArray[np.float64]
    roots: NDArray[np.int32]
    slots: NDArray[np.int32]
    base: NDArray[np.float64]
    lookup: NDArray[np.uint8]
    feature_of_column: NDArray[np.int32]
    n_features: int
    encoder: Encoder = field(repr=False)
    arithmetic: Arithmetic = field(repr=False)
    link: str = "identity"
    slope: float = 1.0
    probabilities: bool = False
    source: str = "trees"
    raw: Ensemble | None = field(default=None, repr=False)

    @property
    def n_outputs(self) -> int:
        """How many sums there are."""
        return len(self.base)

    @property
    def n_trees(self) -> int:
        """How many trees."""
        return len(self.roots)

    @property
    def width(self) -> int:
        """How many outputs one leaf adds to."""
        return int(self.values.shape[1])

    def leaves(self, columns: NDArray[np.float64]) -> NDArray[np.int32]:
        """The leaf of every row in every tree: columns (columns, rows) -> nodes (rows, trees)."""
        require("numba", "trees", 'engine="trees"')
        from taylorpoda.dividends.trees import kernels_route

        leaves = kernels_route.leaves_of(
            columns, self.column, self.threshold, self.flags, self.lookup_start, self.lookup, self.left, self.right,
            self.roots,
        )  # fmt: skip
        return np.asarray(leaves)

    def own_sum(self, rows: Any, columns: NDArray[np.float64] | None = None) -> NDArray[Any]:
        """The library's own raw output of rows, rebuilt in its own arithmetic and dtype.

        Args:
            rows: Rows as the model's predict takes them.
            columns: `encoder.encode(rows)`, where it is at hand.

        Returns:
            Shape (rows, outputs): margins, or what a forest's trees say on average.
        """
        known = self.encoder.encode(rows) if columns is None else columns
        return self.arithmetic.predict(self.leaves(known), rows)

    def __repr__(self) -> str:
        """What was read, and how large it is."""
        return f"Ensemble({self.source}: {self.n_trees} trees, {len(self.column)} nodes, {self.n_outputs} outputs)"


@dataclass(frozen=True)
class CategorySplit:
    """Which codes a categorical split sends left (1) or right (0).

    Attributes:
        table: For code 0, 1, ...
        beyond: For larger codes.
        invalid: For cells that are no category.
        missing: For NaN.
    """

    table: NDArray[np.uint8]
    beyond: int
    invalid: int
    missing: int

    def extended(self, codes: int) -> NDArray[np.uint8]:
        """The table for `codes` codes, then no category, then missing."""
        rest = np.full(codes - len(self.table), self.beyond, dtype=np.uint8)
        return np.concatenate([self.table.astype(np.uint8), rest, [self.invalid, self.missing]]).astype(np.uint8)


@dataclass
class TreeArrays:
    """One tree as a reader hands it over; children are indices into these arrays, -1 at leaves."""

    column: Any
    threshold: Any
    nan_left: Any
    left: Any
    right: Any
    cover: Any
    values: Any
    slot: int = 0
    categories: dict[int, CategorySplit] = field(default_factory=dict)


def assemble(trees: list[TreeArrays], book: ColumnBook, **rest: Any) -> Ensemble:
    """Put trees end to end.

    Args:
        trees: One entry per tree, in the library's order.
        book: The columns their splits read.
        **rest: The remaining fields of `Ensemble`.

    Returns:
        The ensemble.
    """
    sizes = [len(tree.left) for tree in trees]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if starts[-1] >= np.iinfo(np.int32).max:
        msg = f"the ensemble has {starts[-1]} nodes; at most {np.iinfo(np.int32).max - 1} are supported."
        raise UnsupportedTreesError(msg)
    left = _joined([tree.left for tree in trees], np.int64)
    right = _joined([tree.right for tree in trees], np.int64)
    is_leaf = left < 0
    offset = np.repeat(starts[:-1], sizes)
    column = np.where(is_leaf, LEAF, _joined([tree.column for tree in trees], np.int32)).astype(np.int32)
    flags = np.where(_joined([tree.nan_left for tree in trees], np.bool_), NAN_LEFT, 0).astype(np.uint8)
    lookup, lookup_start = _lookup(trees, starts, column, book, flags)
    values = [np.asarray(tree.values, dtype=np.float64).reshape(len(tree.left), -1) for tree in trees]
    stacked = np.concatenate(values) if values else np.zeros((0, 1))
    return Ensemble(
        column=column,
        threshold=_joined([tree.threshold for tree in trees], np.float64),
        flags=flags,
        lookup_start=lookup_start,
        left=np.where(is_leaf, LEAF, left + offset).astype(np.int32),
        right=np.where(is_leaf, LEAF, right + offset).astype(np.int32),
        cover=_joined([tree.cover for tree in trees], np.float64),
        values=np.ascontiguousarray(np.where(is_leaf[:, None], stacked, 0.0)),
        roots=starts[:-1].astype(np.int32),
        slots=np.array([tree.slot for tree in trees], dtype=np.int32),
        lookup=lookup,
        feature_of_column=book.features,
        **rest,
    )


def _lookup(
    trees: list[TreeArrays], starts: Any, column: Any, book: ColumnBook, flags: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The tables of all categorical splits, equal ones once, and where each begins; marks the splits in `flags`."""
    lookup_start = np.zeros(len(column), dtype=np.int64)
    tables: list[NDArray[np.uint8]] = []
    known: dict[bytes, int] = {}
    used = 0
    for tree, start in zip(trees, starts, strict=False):
        for node, split in tree.categories.items():
            table = split.extended(book.entries[column[start + node]][2])
            key = table.tobytes()
            if key not in known:
                known[key] = used
                used += len(table)
                tables.append(table)
            flags[start + node] |= CATEGORICAL
            lookup_start[start + node] = known[key]
    return (np.concatenate(tables) if tables else np.zeros(1, dtype=np.uint8)), lookup_start


def _joined(parts: list[Any], dtype: Any) -> NDArray[Any]:
    return np.concatenate([np.asarray(part, dtype=dtype) for part in parts]) if parts else np.zeros(0, dtype=dtype)


def below(threshold: NDArray[Any]) -> NDArray[np.float64]:
    """For `value < threshold` the threshold t with `value <= t`, exact in the dtype the library compares in."""
    return np.nextafter(threshold, np.array(-np.inf, dtype=threshold.dtype)).astype(np.float64)


@dataclass(frozen=True)
class FunctionEncoder:
    """An encoder from a plain function."""

    function: Callable[[Any], NDArray[np.float64]]

    def encode(self, rows: Any) -> NDArray[np.float64]:
        """Call it."""
        return self.function(rows)
