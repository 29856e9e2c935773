"""Compiled: tables of attributions per unit, and looking rows up in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from taylorpoda.dividends.trees.compiling import compiled
from taylorpoda.dividends.trees.kernels_tables import BLOCK, leaf_table, outcomes


@compiled
def unit_tables(
    counts: Any,
    leaf_start: Any,
    values: Any,
    end: Any,
    depth: Any,
    above: Any,
    bit: Any,
    player: Any,
    unit_node: Any,
    unit_bits: Any,
    unit_start: Any,
    unit_players: Any,
    table_start: Any,
    chosen: Any,
    occlusion: bool,
    tables: Any,
) -> None:
    """Shapley values (or OCC-1) of every unit of the chosen ones, for every index its rows can have.

    Args:
        counts: C(q) of every leaf, end to end.
        leaf_start: Where each leaf's begin.
        values: Shape (nodes, width): leaf values per unit of background weight.
        end: Where each node's subtree ends.
        depth: Depth of every node.
        above: Distinct players above every node.
        bit: Bit of every split, -1 at leaves.
        player: Player of every split.
        unit_node: Root of every unit.
        unit_bits: Index bits of every unit.
        unit_start: Where each unit's players start.
        unit_players: The players of every unit.
        table_start: Where each unit's table starts; negative for units without one.
        chosen: The units to fill.
        occlusion: OCC-1 instead of Shapley values.
        tables: Filled: per unit (width, players, 2**bits).
    """
    width = values.shape[1]
    for unit in chosen:
        root, bits, first = unit_node[unit], unit_bits[unit], unit_start[unit]
        members = unit_start[unit + 1] - first
        size = 1 << bits
        table = tables[table_start[unit] : table_start[unit] + width * members * size].reshape((width, members, size))
        for entry in range(table_start[unit], table_start[unit] + width * members * size):
            tables[entry] = 0.0
        pattern = np.empty(size, np.int32)
        prefix = above[root]
        steps = depth[root]
        step_bit = np.empty(end[root] - root + 1, np.int32)
        step_place = np.empty(end[root] - root + 1, np.int32)
        step_side = np.empty(end[root] - root + 1, np.int32)
        place_player = np.empty(bits + 1, np.int32)
        for place in range(prefix):
            place_player[place] = place
        inner = prefix
        for node in range(root, end[root]):
            if bit[node] >= 0:
                level = depth[node] - steps
                step_bit[level] = inner
                step_place[level] = bit[node]
                inner += 1
                if bit[node] == above[node]:
                    index = 0
                    while unit_players[first + index] != player[node]:
                        index += 1
                    place_player[bit[node]] = index
                continue
            known = above[node]
            small = 1 << known
            leaf = single_leaf(counts[leaf_start[node] : leaf_start[node + 1]], known, occlusion)
            path_sides(root, node, end, step_side)
            for index in range(size):
                here = index & ((1 << prefix) - 1) | (small - 1) >> prefix << prefix
                for level in range(depth[node] - steps):
                    if index >> step_bit[level] & 1 != step_side[level]:
                        here &= ~(1 << step_place[level])
                pattern[index] = here
            for slot in range(width):
                value = values[node, slot]
                for place in range(known):
                    row = table[slot, place_player[place]]
                    source = leaf[place]
                    for index in range(size):
                        row[index] += value * source[pattern[index]]


@compiled
def path_sides(root: int, leaf: int, end: Any, result: Any) -> None:
    """Whether the path from a root goes left (1) or right (0) at each level down to a leaf."""
    node = root
    level = 0
    while node != leaf:
        if leaf < end[node + 1]:
            result[level] = 1
            node += 1
        else:
            result[level] = 0
            node = end[node + 1]
        level += 1


@compiled
def single_leaf(weight: Any, players: int, occlusion: bool) -> Any:
    """Attributions of a leaf of value 1: (players, patterns)."""
    size = 1 << players
    full = size - 1
    result = np.zeros((players, size))
    if occlusion:
        for place in range(players):
            one = 1 << place
            result[place, full] = weight[0] - weight[one]
            result[place, full ^ one] = -weight[one]
        return result
    plus, minus = np.empty(size), np.empty(size)
    without = np.empty(max(players, 1))
    factor = 1.0 / max(players, 1)
    for members in range(players):
        without[members] = factor
        factor *= (members + 1.0) / max(players - 1.0 - members, 1.0)
    leaf_table(weight, players, plus, minus, without)
    for place in range(players):
        one = 1 << place
        row = result[place]
        for pattern in range(size):
            if pattern & one:
                row[pattern] = plus[pattern] - plus[pattern ^ one] - minus[pattern ^ one]
            else:
                row[pattern] = -minus[pattern]
    return result


@compiled
def look_up(
    columns: Any,
    first_row: int,
    last_row: int,
    column: Any,
    threshold: Any,
    flags: Any,
    lookup_start: Any,
    lookup: Any,
    end: Any,
    depth: Any,
    side: Any,
    above: Any,
    bit: Any,
    starts: Any,
    kind: Any,
    unit_start: Any,
    unit_players: Any,
    unit_bits: Any,
    unit_of_node: Any,
    table_start: Any,
    tables: Any,
    slots: Any,
    width: int,
    chosen: Any,
    levels: int,
    result: Any,
) -> None:
    """Add every row's attributions from the chosen trees to `result`, shape (outputs, players, rows)."""
    outcome = np.empty((levels + 1, BLOCK), np.int32)
    pattern = np.empty((levels + 2, BLOCK), np.int32)
    place = np.empty(levels + 2, np.int32)
    index = np.empty(BLOCK, np.int32)
    went = np.empty(BLOCK, np.int32)
    for first in range(first_row, last_row, BLOCK):
        count = min(BLOCK, last_row - first)
        for tree in chosen:
            slot = slots[tree]
            node = starts[tree]
            last = starts[tree + 1]
            while node < last:
                level = depth[node]
                here = pattern[level]
                if level == 0:
                    for row in range(count):
                        here[row] = -1
                else:
                    before, taken, left, shift = pattern[level - 1], outcome[level - 1], side[node], place[level - 1]
                    for row in range(count):
                        here[row] = before[row] & ~((taken[row] ^ left) << shift)
                if kind[node] == 0:
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
                    node += 1
                    continue
                used = above[node]
                mask = np.int32((1 << used) - 1)
                for row in range(count):
                    index[row] = here[row] & mask
                for inner in range(node, end[node]):
                    if bit[inner] >= 0:
                        outcomes(
                            columns[column[inner]],
                            threshold[inner],
                            flags[inner],
                            lookup_start[inner],
                            lookup,
                            first,
                            count,
                            went,
                        )
                        for row in range(count):
                            index[row] |= went[row] << used
                        used += 1
                unit = unit_of_node[node]
                size = 1 << unit_bits[unit]
                begin = table_start[unit]
                for output in range(slot, slot + width):
                    for member in range(unit_start[unit], unit_start[unit + 1]):
                        source = tables[begin : begin + size]
                        total = result[output, unit_players[member], first : first + count]
                        for row in range(count):
                            total[row] += source[index[row]]
                        begin += size
                node = end[node]
