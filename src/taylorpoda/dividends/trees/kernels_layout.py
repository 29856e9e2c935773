"""Compiled: trees in preorder, with what each split adds to its path.

Along a path the distinct players are numbered in order of appearance; a split's *bit* is its player's number. A row's
*pattern* at a node has bit k set as long as the row satisfies every split of player k above the node.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taylorpoda.dividends.trees.compiling import compiled


@compiled
def ascending(array: Any, first: int, last: int) -> None:
    """Sort a short stretch in place; numba's own sort takes longer to compile than all of this room's trees to walk."""
    for place in range(first + 1, last):
        value = array[place]
        before = place
        while before > first and array[before - 1] > value:
            array[before] = array[before - 1]
            before -= 1
        array[before] = value


@compiled
def constant_below(left: Any, right: Any, values: Any, roots: Any) -> Any:
    """For each node whether all leaves below hold the same values; then splits below it change nothing."""
    nodes, width = values.shape
    same = np.zeros(nodes, np.bool_)
    first = values.copy()
    order = np.empty(nodes, np.int32)
    for tree in range(len(roots)):
        count = 1
        order[0] = roots[tree]
        position = 0
        while position < count:
            node = order[position]
            if left[node] >= 0:
                order[count] = left[node]
                order[count + 1] = right[node]
                count += 2
            position += 1
        for position in range(count - 1, -1, -1):
            node = order[position]
            if left[node] < 0:
                same[node] = True
                continue
            equal = same[left[node]] and same[right[node]]
            for slot in range(width):
                first[node, slot] = first[left[node], slot]
                equal = equal and first[left[node], slot] == first[right[node], slot]
            same[node] = equal
    return same, first


@compiled
def preorder(left: Any, right: Any, column: Any, cut: Any, roots: Any, player_of_column: Any) -> Any:
    """Visit every tree parents first, left before right; nodes marked in `cut` become leaves.

    Returns:
        For each visited node: its index in the ensemble, one past its subtree, depth, whether it is a left child, the
        distinct players above it, its bit, whether its player is above it already; then where each tree starts.
    """
    nodes = len(left)
    source = np.empty(nodes, np.int32)
    end = np.empty(nodes, np.int32)
    depth = np.empty(nodes, np.int32)
    side = np.zeros(nodes, np.int32)
    above = np.empty(nodes, np.int32)
    bit = np.full(nodes, -1, np.int32)
    repeat = np.zeros(nodes, np.bool_)
    starts = np.empty(len(roots) + 1, np.int32)
    stack = np.empty(nodes + 1, np.int32)
    stack_depth = np.empty(nodes + 1, np.int32)
    stack_side = np.empty(nodes + 1, np.int32)
    stack_above = np.empty(nodes + 1, np.int32)
    players = np.empty(nodes + 1, np.int32)
    count = 0
    for tree in range(len(roots)):
        starts[tree] = count
        top = 1
        stack[0], stack_depth[0], stack_side[0], stack_above[0] = roots[tree], 0, 0, 0
        while top > 0:
            top -= 1
            node, level, known = stack[top], stack_depth[top], stack_above[top]
            source[count], depth[count], side[count], above[count] = node, level, stack_side[top], known
            if left[node] >= 0 and not cut[node]:
                player = player_of_column[column[node]]
                place = 0
                while place < known and players[place] != player:
                    place += 1
                bit[count] = place
                repeat[count] = place < known
                players[place] = player
                below = max(known, place + 1)
                for child in range(2):
                    stack[top] = right[node] if child == 0 else left[node]
                    stack_depth[top], stack_side[top], stack_above[top] = level + 1, child, below
                    top += 1
            count += 1
        for position in range(count - 1, starts[tree] - 1, -1):
            if bit[position] < 0:
                end[position] = position + 1
            else:
                end[position] = end[end[position + 1]]
    starts[len(roots)] = count
    return source[:count], end[:count], depth[:count], side[:count], above[:count], bit[:count], repeat[:count], starts


@compiled
def units(end: Any, above: Any, bit: Any, player: Any, starts: Any, least: int) -> Any:
    """Choose subtrees that are looked up as one: each has the pattern of its root and the outcomes of its own splits.

    Returns:
        For each node 1 if it is a unit's root, 0 if above all units, -1 if inside one; for each unit its node, the
        bits of its index, and where its players start in the list of players, which comes last.
    """
    nodes = len(end)
    kind = np.full(nodes, -1, np.int32)
    deepest = np.empty(nodes, np.int32)
    for node in range(nodes - 1, -1, -1):
        if bit[node] < 0:
            deepest[node] = above[node]
        else:
            deepest[node] = max(deepest[node + 1], deepest[end[node + 1]])
    unit_node = np.empty(nodes, np.int32)
    unit_bits = np.empty(nodes, np.int32)
    unit_start = np.empty(nodes + 1, np.int64)
    unit_players = np.empty(max(nodes, 16), np.int32)
    path = np.empty(nodes + 1, np.int32)
    count = 0
    used = 0
    for tree in range(len(starts) - 1):
        node = starts[tree]
        while node < starts[tree + 1]:
            bits = above[node] + (end[node] - node - 1) // 2
            if bit[node] >= 0 and bits > max(least, deepest[node] + 1):
                kind[node] = 0
                path[bit[node]] = player[node]
                node += 1
                continue
            kind[node] = 1
            unit_node[count], unit_bits[count], unit_start[count] = node, bits, used
            if used + bits > len(unit_players):
                grown = np.empty(2 * len(unit_players) + bits, np.int32)
                for place in range(used):
                    grown[place] = unit_players[place]
                unit_players = grown
            for place in range(above[node]):
                unit_players[used] = path[place]
                used += 1
            for inner in range(node, end[node]):
                if bit[inner] < 0:
                    continue
                seen = unit_start[count]
                while seen < used and unit_players[seen] != player[inner]:
                    seen += 1
                if seen == used:
                    unit_players[used] = player[inner]
                    used += 1
            count += 1
            node = end[node]
    unit_start[count] = used
    return kind, unit_node[:count], unit_bits[:count], unit_start[: count + 1], unit_players[:used]


@compiled
def path_players(above: Any, bit: Any, player: Any, starts: Any, chosen: Any) -> Any:
    """The players on the path to each leaf of the chosen trees, end to end, and where each leaf's begin."""
    start = np.zeros(len(above), np.int64)
    used = 0
    for tree in chosen:
        for node in range(starts[tree], starts[tree + 1]):
            if bit[node] < 0:
                start[node] = used
                used += above[node]
    players = np.empty(used, np.int32)
    path = np.empty(len(above) + 1, np.int32)
    for tree in chosen:
        for node in range(starts[tree], starts[tree + 1]):
            if bit[node] >= 0:
                path[bit[node]] = player[node]
            else:
                for place in range(above[node]):
                    players[start[node] + place] = path[place]
    return players, start


@compiled
def expand(
    leaf: Any, only_x: Any, only_b: Any, weight: Any, players: Any, first_player: Any, count_x: Any, count_b: Any
) -> Any:
    """List A with every subset of B for pairs (A, B), where bit k of a pair's sets is players[first_player + k].

    Returns:
        Members, where coalitions start, leaf, signed weight of each.
    """
    coalitions = 0
    entries = 0
    for item in range(len(leaf)):
        subsets = 1 << count_b[item]
        coalitions += subsets
        entries += subsets * count_x[item] + subsets * count_b[item] // 2
    members = np.empty(entries, np.int32)
    indptr = np.zeros(coalitions + 1, np.int64)
    node = np.empty(coalitions, np.int32)
    amounts = np.empty(coalitions)
    used = 0
    number = 0
    for item in range(len(leaf)):
        first = first_player[item]
        subset = only_b[item]
        while True:
            begin = used
            odd = False
            rest = only_x[item] | subset
            place = 0
            while rest:
                if rest & np.uint64(1):
                    members[used] = players[first + place]
                    used += 1
                    odd ^= (subset >> np.uint64(place) & np.uint64(1)) != 0
                rest >>= np.uint64(1)
                place += 1
            ascending(members, begin, used)
            node[number] = leaf[item]
            amounts[number] = -weight[item] if odd else weight[item]
            number += 1
            indptr[number] = used
            if subset == 0:
                break
            subset = (subset - np.uint64(1)) & only_b[item]
    return members, indptr, node, amounts
