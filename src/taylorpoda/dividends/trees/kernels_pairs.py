"""Compiled: trees too deep for tables, one pair of explained row and background row after the other.

A path splits a pair's players into A (only the explained row passes), B (only the background row passes) and the rest
(both pass). The leaf then adds w to every coalition that holds A and no one of B: dividends +-w on A with subsets of B.
All background rows walk down a tree together; at each node only those are left that still reach it in some coalition.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taylorpoda.dividends.trees.compiling import compiled, inlined
from taylorpoda.dividends.trees.kernels_route import goes_left
from taylorpoda.dividends.trees.kernels_tables import keep_shares

SHAPLEY, OCCLUSION, DENSE, LISTED = 0, 1, 2, 3
CHUNK = 128


@inlined
def ones(word: Any) -> int:
    """How many bits are set."""
    count = 0
    while word:
        word &= word - np.uint64(1)
        count += 1
    return count


@compiled
def pair_factors(levels: int) -> Any:
    """What a member of A gets, (a-1)! b! / (a+b)!, and what one of B loses, a! (b-1)! / (a+b)!: (a, b) tables."""
    gain, loss = np.zeros((levels + 2, levels + 2)), np.zeros((levels + 2, levels + 2))
    for a in range(levels + 2):
        for b in range(levels + 2):
            choose = 1.0  # (a + b)! / (a! b!)
            for step in range(1, b + 1):
                choose *= (a + step) / step
            if a > 0:
                gain[a, b] = 1.0 / (a * choose)
            if b > 0:
                loss[a, b] = 1.0 / (b * choose)
    return gain, loss


@compiled
def walk_pairs(
    mode: int,
    columns: Any,
    first_row: int,
    last_row: int,
    background: Any,
    weights: Any,
    column: Any,
    threshold: Any,
    flags: Any,
    lookup_start: Any,
    lookup: Any,
    values: Any,
    end: Any,
    depth: Any,
    side: Any,
    above: Any,
    bit: Any,
    player: Any,
    starts: Any,
    slots: Any,
    chosen: Any,
    levels: int,
    result: Any,
    listed: Any,
) -> int:
    """Add what the chosen trees give to rows.

    Args:
        mode: SHAPLEY or OCCLUSION: `result` is (rows, outputs, players). DENSE: the dividends, (rows, outputs, 2**n).
            LISTED: dividends of one row, appended to `listed` as (tree, leaf, A, B, weight) for the caller to expand.
        columns: Columns of the rows, (columns, rows).
        first_row: The first row to explain; row r of `result` belongs to row first_row + r.
        last_row: One past the last.
        background: Columns of the background, (columns, background rows).
        weights: Their weights.
        column: Column of each split, -1 at leaves; the trees come as in the layout.
        threshold: Its threshold.
        flags: Its flags.
        lookup_start: Where its categories begin.
        lookup: All categories.
        values: Shape (nodes, width): leaf values per unit of background weight.
        end: One past each node's subtree.
        depth: Depth of every node.
        side: 1 at left children.
        above: Distinct players above every node.
        bit: Bit of every split, -1 at leaves.
        player: Player of every split.
        starts: Where trees start.
        slots: First output of each tree.
        chosen: The trees to walk.
        levels: The largest depth.
        result: Added to.
        listed: (leaf, A, B, weight) arrays for LISTED.

    Returns:
        How many entries LISTED would have; more than fit are counted but not written.
    """
    total = background.shape[1]
    width = values.shape[1]
    gain, loss = pair_factors(min(levels, 64))
    alive = np.empty((2, levels + 2, CHUNK), np.int32)
    only_x = np.empty((2, levels + 2, CHUNK), np.uint64)
    only_b = np.empty((2, levels + 2, CHUNK), np.uint64)
    count = np.zeros((2, levels + 2), np.int64)
    path = np.empty(levels + 2, np.int64)
    amounts = np.empty(levels + 2)
    list_leaf, list_x, list_b, list_weight = listed
    entries = 0
    for row in range(first_row, last_row):
        for begin in range(0, total, CHUNK):
            size = min(CHUNK, total - begin)
            for tree in chosen:
                for item in range(size):
                    alive[0, 0, item] = begin + item
                    only_x[0, 0, item] = np.uint64(0)
                    only_b[0, 0, item] = np.uint64(0)
                count[0, 0] = size
                node = starts[tree]
                while node < starts[tree + 1]:
                    level, which = depth[node], side[node]
                    many = count[which, level]
                    if many == 0:
                        node = end[node]
                        continue
                    here, x_here, b_here = alive[which, level], only_x[which, level], only_b[which, level]
                    if bit[node] < 0:
                        known = above[node]
                        if mode <= OCCLUSION:
                            for place in range(known):
                                amounts[place] = 0.0
                            for item in range(many):
                                x_set, b_set = x_here[item], b_here[item]
                                a, b = ones(x_set), ones(b_set)
                                weight = weights[here[item]]
                                if mode == SHAPLEY:
                                    plus, minus = weight * gain[a, b], weight * loss[a, b]
                                else:
                                    plus = weight if b == 0 else 0.0
                                    minus = weight if b == 1 else 0.0
                                for place in range(known):
                                    amounts[place] += plus * float(x_set >> np.uint64(place) & np.uint64(1))
                                    amounts[place] -= minus * float(b_set >> np.uint64(place) & np.uint64(1))
                            for slot in range(width):
                                for place in range(known):
                                    result[row - first_row, slots[tree] + slot, path[place]] += (
                                        values[node, slot] * amounts[place]
                                    )
                        elif mode == DENSE:
                            for item in range(many):
                                base = 0
                                members = 0
                                for place in range(known):
                                    if x_here[item] >> np.uint64(place) & np.uint64(1):
                                        base |= 1 << path[place]
                                    if b_here[item] >> np.uint64(place) & np.uint64(1):
                                        members |= 1 << path[place]
                                weight = weights[here[item]]
                                subset = members
                                while True:
                                    sign = weight if ones(np.uint64(subset)) % 2 == 0 else -weight
                                    for slot in range(width):
                                        result[row - first_row, slots[tree] + slot, base | subset] += (
                                            sign * values[node, slot]
                                        )
                                    if subset == 0:
                                        break
                                    subset = (subset - 1) & members
                        else:
                            for item in range(many):
                                if entries < len(list_leaf):
                                    list_leaf[entries] = node
                                    list_x[entries], list_b[entries] = x_here[item], b_here[item]
                                    list_weight[entries] = weights[here[item]]
                                entries += 1
                        node += 1
                        continue
                    path[bit[node]] = player[node]
                    one = np.uint64(1) << np.uint64(bit[node])
                    line = column[node]
                    went = goes_left(columns[line, row], threshold[node], flags[node], lookup_start[node], lookup)
                    x_side = 1 if went else 0
                    n_x, n_b = 0, 0
                    to_x, x_x, b_x = alive[x_side, level + 1], only_x[x_side, level + 1], only_b[x_side, level + 1]
                    to_b, x_b, b_b = (
                        alive[1 - x_side, level + 1],
                        only_x[1 - x_side, level + 1],
                        only_b[1 - x_side, level + 1],
                    )
                    for item in range(many):
                        other = here[item]
                        x_set, b_set = x_here[item], b_here[item]
                        same = (
                            goes_left(background[line, other], threshold[node], flags[node], lookup_start[node], lookup)
                            == went
                        )
                        to_x[n_x] = other
                        x_x[n_x] = x_set if same or b_set & one else x_set | one
                        b_x[n_x] = b_set
                        n_x += 1 if same or not b_set & one else 0
                        to_b[n_b] = other
                        x_b[n_b] = x_set
                        b_b[n_b] = b_set | one
                        n_b += 0 if same or x_set & one else 1
                    count[x_side, level + 1] = n_x
                    count[1 - x_side, level + 1] = n_b
                    node += 1
    return entries


@compiled
def walk_covers(
    occlusion: bool,
    columns: Any,
    first_row: int,
    last_row: int,
    column: Any,
    threshold: Any,
    flags: Any,
    lookup_start: Any,
    lookup: Any,
    values: Any,
    depth: Any,
    side: Any,
    above: Any,
    bit: Any,
    player: Any,
    shares: Any,
    starts: Any,
    slots: Any,
    chosen: Any,
    levels: int,
    points: Any,
    point_weights: Any,
    result: Any,
) -> None:
    """The same for the path-dependent game, Shapley values as an integral over the multilinear extension.

    A leaf's game is the product over its players j of (1 where j is present and passes, 0 where present and failing,
    r_j where absent), so phi_i is the integral over t of (pass_i - r_i) times the product over the others of
    r_j + t (pass_j - r_j): a polynomial, which Gauss-Legendre points integrate exactly.
    """
    width = values.shape[1]
    passes = np.ones((levels + 2, levels + 2))
    kept = np.ones((levels + 2, levels + 2))
    outcome = np.empty(levels + 2, np.int32)
    parent = np.empty(levels + 2, np.int32)
    path = np.empty(levels + 2, np.int64)
    for row in range(first_row, last_row):
        for tree in chosen:
            for node in range(starts[tree], starts[tree + 1]):
                level = depth[node]
                parent[level] = node
                if level > 0:
                    over = parent[level - 1]
                    keep_shares(kept, shares, node, level, over, above, bit)
                    for other in range(above[over]):
                        passes[level, other] = passes[level - 1, other]
                    first = 1.0 if bit[over] == above[over] else passes[level - 1, bit[over]]
                    passes[level, bit[over]] = first if outcome[level - 1] == side[node] else 0.0
                if bit[node] >= 0:
                    path[bit[node]] = player[node]
                    cell = columns[column[node], row]
                    outcome[level] = (
                        1 if goes_left(cell, threshold[node], flags[node], lookup_start[node], lookup) else 0
                    )
                    continue
                known = above[node]
                here, share = passes[level], kept[level]
                for place in range(known):
                    amount = 0.0
                    if occlusion:
                        amount = 1.0
                        for other in range(known):
                            if other != place:
                                amount *= here[other]
                    else:
                        for point in range((known + 1) // 2):
                            spot = points[(known + 1) // 2, point]
                            product = point_weights[(known + 1) // 2, point]
                            for other in range(known):
                                if other != place:
                                    product *= share[other] + spot * (here[other] - share[other])
                            amount += product
                    amount *= here[place] - share[place]
                    for slot in range(width):
                        result[row - first_row, slots[tree] + slot, path[place]] += amount * values[node, slot]


@compiled
def coalition_values(
    row: int,
    columns: Any,
    present: Any,
    background: Any,
    weights: Any,
    column: Any,
    threshold: Any,
    flags: Any,
    lookup_start: Any,
    lookup: Any,
    values: Any,
    end: Any,
    bit: Any,
    player: Any,
    starts: Any,
    slots: Any,
    chosen: Any,
    result: Any,
) -> None:
    """Add the values of coalitions of one row in the chosen trees, by walking hybrid rows, to (coalitions, outputs)."""
    width = values.shape[1]
    for coalition in range(present.shape[0]):
        members = present[coalition]
        for other in range(background.shape[1]):
            for tree in chosen:
                node = starts[tree]
                while bit[node] >= 0:
                    line = column[node]
                    cell = columns[line, row] if members[player[node]] else background[line, other]
                    left = goes_left(cell, threshold[node], flags[node], lookup_start[node], lookup)
                    node = node + 1 if left else end[node + 1]
                for slot in range(width):
                    result[coalition, slots[tree] + slot] += weights[other] * values[node, slot]


@compiled
def coalition_covers(
    row: int,
    columns: Any,
    present: Any,
    column: Any,
    threshold: Any,
    flags: Any,
    lookup_start: Any,
    lookup: Any,
    values: Any,
    end: Any,
    depth: Any,
    side: Any,
    bit: Any,
    player: Any,
    shares: Any,
    starts: Any,
    slots: Any,
    chosen: Any,
    levels: int,
    result: Any,
) -> None:
    """The same for the path-dependent game; `shares` is the part of its parent's training weight a node kept."""
    width = values.shape[1]
    reach = np.empty(levels + 2)
    outcome = np.empty(levels + 2, np.int32)
    for coalition in range(present.shape[0]):
        members = present[coalition]
        for tree in chosen:
            node = starts[tree]
            while node < starts[tree + 1]:
                level = depth[node]
                if level == 0:
                    reach[0] = 1.0
                elif outcome[level - 1] < 0:
                    reach[level] = reach[level - 1] * shares[node]
                else:
                    reach[level] = reach[level - 1] if outcome[level - 1] == side[node] else 0.0
                if reach[level] == 0.0:
                    node = end[node]
                    continue
                if bit[node] < 0:
                    for slot in range(width):
                        result[coalition, slots[tree] + slot] += reach[level] * values[node, slot]
                elif members[player[node]]:
                    cell = columns[column[node], row]
                    outcome[level] = (
                        1 if goes_left(cell, threshold[node], flags[node], lookup_start[node], lookup) else 0
                    )
                else:
                    outcome[level] = -1
                node += 1
