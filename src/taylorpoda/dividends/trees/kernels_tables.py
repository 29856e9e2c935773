"""Compiled: the background's patterns at every leaf, and the tables of Shapley values made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from taylorpoda.dividends.trees.compiling import compiled, inlined

BLOCK = 64


@inlined
def outcomes(
    cells: Any, threshold: float, flags: int, start: int, lookup: Any, first: int, count: int, result: Any
) -> None:
    """1 for every row of a block that goes left at a split, else 0."""
    if flags & 2:
        for row in range(count):
            result[row] = lookup[start + int(cells[first + row])]
    elif flags & 1:
        for row in range(count):
            result[row] = 0 if cells[first + row] > threshold else 1
    else:
        for row in range(count):
            result[row] = 1 if cells[first + row] <= threshold else 0


@compiled
def count_patterns(
    columns: Any,
    weights: Any,
    column: Any,
    threshold: Any,
    flags: Any,
    lookup_start: Any,
    lookup: Any,
    depth: Any,
    side: Any,
    bit: Any,
    starts: Any,
    chosen: Any,
    leaf_start: Any,
    levels: int,
    counts: Any,
) -> None:
    """Add up the weight of the background rows of each pattern at each leaf of the chosen trees."""
    rows = columns.shape[1]
    outcome = np.empty((levels + 1, BLOCK), np.int32)
    pattern = np.empty((levels + 2, BLOCK), np.int32)
    place = np.empty(levels + 2, np.int32)
    for tree in chosen:
        for first in range(0, rows, BLOCK):
            count = min(BLOCK, rows - first)
            for node in range(starts[tree], starts[tree + 1]):
                level = depth[node]
                here = pattern[level]
                if level == 0:
                    for row in range(count):
                        here[row] = -1
                else:
                    before, went, left, shift = pattern[level - 1], outcome[level - 1], side[node], place[level - 1]
                    for row in range(count):
                        here[row] = before[row] & ~((went[row] ^ left) << shift)
                if bit[node] >= 0:
                    place[level] = bit[node]
                    outcomes(
                        columns[column[node]],
                        threshold[node],
                        flags[node],
                        lookup_start[node],
                        lookup,
                        first,
                        count,
                        outcome[level],
                    )
                else:
                    start = leaf_start[node]
                    mask = np.int32(leaf_start[node + 1] - start - 1)
                    for row in range(count):
                        counts[start + (here[row] & mask)] += weights[first + row]


@compiled
def superset_sums(counts: Any, leaf_start: Any, bit: Any, starts: Any, chosen: Any) -> None:
    """Turn each leaf's counts into C(q), the weight of the background rows whose pattern holds q."""
    for tree in chosen:
        for node in range(starts[tree], starts[tree + 1]):
            if bit[node] >= 0:
                continue
            table = counts[leaf_start[node] : leaf_start[node + 1]]
            step = 1
            while step < len(table):
                for low in range(0, len(table), 2 * step):
                    for index in range(low, low + step):
                        table[index] += table[index + step]
                step *= 2


@inlined
def keep_shares(kept: Any, shares: Any, node: int, level: int, over: int, above: Any, bit: Any) -> None:
    """For the path-dependent game: per player above a node the product of the cover shares of its branches.

    Args:
        kept: Row k belongs to the node at depth k on the path; row `level` is filled from the one before.
        shares: Part of its parent's training weight that each node has.
        node: The node.
        level: Its depth, at least 1.
        over: Its parent.
        above: Distinct players above every node.
        bit: Bit of every split.
    """
    known, place = above[over], bit[over]
    for other in range(known):
        kept[level, other] = kept[level - 1, other]
    kept[level, place] = shares[node] * (kept[level - 1, place] if place < known else 1.0)


@compiled
def branch_shares(cover: Any, end: Any, bit: Any) -> Any:
    """For each node the part of its and its sibling's training weight that it has; roots have 1.

    A branch below a node that no training row reached has nothing to go by: both sides count alike.
    """
    shares = np.ones(len(cover))
    for node in range(len(cover)):
        if bit[node] >= 0:
            left, right = node + 1, end[node + 1]
            both = cover[left] + cover[right]  # the parent's own may be rounded; shares add up to 1
            shares[left] = cover[left] / both if both > 0 else 0.5
            shares[right] = cover[right] / both if both > 0 else 0.5
    return shares


@compiled
def product_counts(
    shares: Any, depth: Any, above: Any, bit: Any, starts: Any, levels: int, chosen: Any, leaf_start: Any, counts: Any
) -> None:
    """C(q) of the path-dependent game: the product of the shares kept over the players in q."""
    kept = np.ones((levels + 2, levels + 2))
    parent = np.empty(levels + 2, np.int32)
    for tree in chosen:
        for node in range(starts[tree], starts[tree + 1]):
            level = depth[node]
            parent[level] = node
            if level > 0:
                keep_shares(kept, shares, node, level, parent[level - 1], above, bit)
            if bit[node] >= 0:
                continue
            table = counts[leaf_start[node] : leaf_start[node + 1]]
            table[0] = 1.0
            for place in range(above[node]):
                for subset in range(1 << place):
                    table[subset | 1 << place] = table[subset] * kept[level, place]


@compiled
def leaf_table(weight: Any, players: int, plus: Any, minus: Any, without: Any) -> None:
    """Shapley values of one leaf of value 1 as subset sums.

    For a row of pattern p: a player outside p gets -minus(p), one in p gets plus(p) - plus(p - i) - minus(p - i).

    Args:
        weight: C(q), length 2**players.
        players: Distinct players on the path.
        plus: Filled: subset sums of (s - 1)! (d - s)! / d! * C(complement).
        minus: Filled: subset sums of s! (d - s - 1)! / d! * C(complement).
        without: The factors s! (d - s - 1)! / d! for s = 0 .. d - 1.
    """
    size = 1 << players
    full = size - 1
    for subset in range(size):
        members = 0
        rest = subset
        while rest:
            rest &= rest - 1
            members += 1
        value = weight[full ^ subset]
        plus[subset] = value * without[members - 1] if members > 0 else 0.0
        minus[subset] = value * without[members] if members < players else 0.0
    step = 1
    while step < size:
        for low in range(0, size, 2 * step):
            for index in range(low, low + step):
                plus[index + step] += plus[index]
                minus[index + step] += minus[index]
        step *= 2
