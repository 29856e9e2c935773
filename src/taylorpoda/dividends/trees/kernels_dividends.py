"""Compiled: the dividends of a row, each coalition at the highest split that still tells it apart.

The dividends of a leaf are H(s) = (-1)^|s - p| h(s & p) over the subsets s of its path's players, p the row's pattern.
For one row, a coalition and a leaf, take the deepest split above the leaf whose player is in the coalition and has
not failed above that split. Below it every split leaves s & p and s - p as they are, so what the leaves hold for the
coalition can be added up and kept at that split: one table for rows that go left there, one for rows that go right.
A split passes on upwards only the entries without its own player; a row whose pattern has lost the split's player
already finds these entries further up, and skips the split.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taylorpoda.dividends.trees.compiling import compiled
from taylorpoda.dividends.trees.kernels_layout import ascending


@compiled
def hoist(
    counts: Any,
    leaf_start: Any,
    values: Any,
    end: Any,
    above: Any,
    bit: Any,
    repeat: Any,
    starts: Any,
    slots: Any,
    chosen: Any,
    node_start: Any,
    summed: bool,
    tables: Any,
    empty: Any,
) -> None:
    """Fill each split's tables (2, width, 2**others) and add the trees' values of nobody to `empty`."""
    width = values.shape[1]
    for tree in chosen:
        first, last = starts[tree], starts[tree + 1]
        place = np.zeros(last - first + 1, np.int64)
        for node in range(first, last):
            place[node - first + 1] = place[node - first] + (1 << above[node])
        h = np.zeros((width, place[last - first]))
        for node in range(last - 1, first - 1, -1):
            known = above[node]
            size = 1 << known
            here = place[node - first]
            if bit[node] < 0:
                leaf_dividends(
                    counts[leaf_start[node] : leaf_start[node + 1]],
                    known,
                    values[node],
                    summed,
                    h[:, here : here + size],
                )
                continue
            left, right = place[node + 1 - first], place[end[node + 1] - first]
            one = 1 << bit[node]
            others = known - 1 if repeat[node] else known
            small = 1 << others
            table = tables[node_start[node] : node_start[node] + 2 * width * small].reshape((2, width, small))
            for slot in range(width):
                for index in range(small):
                    subset = index
                    if repeat[node]:
                        subset = (index >> bit[node] << (bit[node] + 1)) | (index & (one - 1))
                    on_left, on_right = h[slot, left + subset], h[slot, right + subset]
                    table[1, slot, index] = h[slot, left + (subset | one)] - on_right
                    table[0, slot, index] = h[slot, right + (subset | one)] - on_left
                    h[slot, here + subset] = on_left + on_right
        for slot in range(width):
            empty[slots[tree] + slot] += h[slot, 0]


@compiled
def leaf_dividends(weight: Any, players: int, value: Any, summed: bool, result: Any) -> None:
    """The table h of one leaf: the Moebius transform of value * C(complement), shape (width, 2**players).

    C(q) is a sum over the supersets of q, which the transform undoes: of patterns not yet summed it is what they are.
    """
    size = 1 << players
    first = result[0]
    for subset in range(size):
        first[subset] = weight[size - 1 - subset]
    step = 1 if summed else size
    while step < size:
        for low in range(0, size, 2 * step):
            for index in range(low, low + step):
                first[index + step] -= first[index]
        step *= 2
    for slot in range(len(value) - 1, -1, -1):
        row = result[slot]
        for subset in range(size):
            row[subset] = value[slot] * first[subset]


@compiled
def catalog(
    above: Any,
    bit: Any,
    repeat: Any,
    player: Any,
    starts: Any,
    chosen: Any,
    id_start: Any,
    keys: Any,
    ids: Any,
    limit: int,
) -> Any:
    """Number the coalitions that stay at splits, equal ones alike; number 0 is the empty coalition.

    Args:
        above: Distinct players above each node.
        bit: Bit of each split.
        repeat: Whether its player is above already.
        player: Player of each split.
        starts: Where trees start.
        chosen: The trees to number.
        id_start: Where each split's numbers start in `ids`.
        keys: Shape (players, 2): random words; a coalition is known by the exclusive or of its players' words.
        ids: Filled: the number of (others of index q) + the split's player, at id_start + q.
        limit: More coalitions than this are an error of the caller's.

    Returns:
        For each number the split and index that first had it, each (coalitions,).
    """
    capacity = 1 << 12
    table = np.full(capacity, -1, np.int32)
    room = 1 << 10
    key = np.zeros((room, 2), np.uint64)
    origin_node, origin_index = np.full(room, -1, np.int32), np.zeros(room, np.int32)
    count = 1
    table[0] = 0
    path = np.empty(len(above) + 1, np.int32)
    for tree in chosen:
        for node in range(starts[tree], starts[tree + 1]):
            if bit[node] < 0:
                continue
            path[bit[node]] = player[node]
            others = above[node] - 1 if repeat[node] else above[node]
            here = np.empty((1 << others, 2), np.uint64)
            here[0, 0], here[0, 1] = keys[player[node], 0], keys[player[node], 1]
            for place in range(others):
                other = keys[path[place + 1 if repeat[node] and place >= bit[node] else place]]
                for index in range(1 << place):
                    here[index | 1 << place, 0] = here[index, 0] ^ other[0]
                    here[index | 1 << place, 1] = here[index, 1] ^ other[1]
            for index in range(1 << others):
                slot = here[index, 0] & np.uint64(capacity - 1)
                while table[slot] >= 0 and (
                    key[table[slot], 0] != here[index, 0] or key[table[slot], 1] != here[index, 1]
                ):
                    slot = (slot + np.uint64(1)) & np.uint64(capacity - 1)
                if table[slot] < 0:
                    if count == room:
                        room *= 2
                        key = grown(key, room)
                        origin_node = grown_line(origin_node, room)
                        origin_index = grown_line(origin_index, room)
                    key[count, 0], key[count, 1] = here[index, 0], here[index, 1]
                    origin_node[count], origin_index[count] = node, index
                    table[slot] = count
                    count += 1
                    if count > limit:
                        return origin_node[:0], origin_index[:0]
                ids[id_start[node] + index] = table[slot]
                if 2 * count > capacity:
                    capacity *= 4
                    table = np.full(capacity, -1, np.int32)
                    for number in range(count):
                        slot = key[number, 0] & np.uint64(capacity - 1)
                        while table[slot] >= 0:
                            slot = (slot + np.uint64(1)) & np.uint64(capacity - 1)
                        table[slot] = number
    return origin_node[:count], origin_index[:count]


@compiled
def grown(array: Any, room: int) -> Any:
    """A longer copy."""
    result = np.zeros((room, array.shape[1]), array.dtype)
    for row in range(array.shape[0]):
        for place in range(array.shape[1]):
            result[row, place] = array[row, place]
    return result


@compiled
def grown_line(array: Any, room: int) -> Any:
    """A longer copy of one axis."""
    result = np.zeros(room, array.dtype)
    for place in range(len(array)):
        result[place] = array[place]
    return result


@compiled
def members_of(
    origin_node: Any,
    origin_index: Any,
    above: Any,
    bit: Any,
    repeat: Any,
    player: Any,
    starts: Any,
    indptr: Any,
    members: Any,
) -> None:
    """List the players of each coalition of a catalog, ascending; origins come in the order of the nodes."""
    path = np.empty(len(above) + 1, np.int32)
    number = 1
    for tree in range(len(starts) - 1):
        for node in range(starts[tree], starts[tree + 1]):
            if bit[node] < 0:
                continue
            path[bit[node]] = player[node]
            others = above[node] - 1 if repeat[node] else above[node]
            while number < len(origin_node) and origin_node[number] == node:
                used = indptr[number]
                members[used] = player[node]
                used += 1
                for place in range(others):
                    if origin_index[number] >> place & 1:
                        members[used] = path[place + 1 if repeat[node] and place >= bit[node] else place]
                        used += 1
                ascending(members, indptr[number], used)
                number += 1


@compiled
def row_dividends(
    columns: Any,
    first_row: int,
    last_row: int,
    column: Any,
    threshold: Any,
    flags: Any,
    lookup_start: Any,
    lookup: Any,
    depth: Any,
    side: Any,
    above: Any,
    bit: Any,
    repeat: Any,
    starts: Any,
    slots: Any,
    chosen: Any,
    node_start: Any,
    tables: Any,
    width: int,
    id_start: Any,
    ids: Any,
    sign: Any,
    levels: int,
    result: Any,
) -> None:
    """Add the dividends of rows to `result`, shape (rows, outputs, coalitions); sign[s] is (-1)^|s|."""
    pattern = np.empty(levels + 2, np.int32)
    outcome = np.empty(levels + 2, np.int32)
    place_of = np.empty(levels + 2, np.int32)
    for row in range(first_row, last_row):
        for tree in chosen:
            for node in range(starts[tree], starts[tree + 1]):
                level = depth[node]
                if level == 0:
                    pattern[0] = -1
                else:
                    failed = outcome[level - 1] ^ side[node]
                    pattern[level] = pattern[level - 1] & ~(failed << place_of[level - 1])
                if bit[node] < 0:
                    continue
                cell = columns[column[node], row]
                if flags[node] & 2:
                    went = np.int32(lookup[lookup_start[node] + int(cell)])
                elif flags[node] & 1:
                    went = np.int32(0 if cell > threshold[node] else 1)
                else:
                    went = np.int32(1 if cell <= threshold[node] else 0)
                outcome[level] = went
                place_of[level] = bit[node]
                others = above[node]
                here = pattern[level]
                if repeat[node]:
                    if not here >> bit[node] & 1:
                        continue
                    others -= 1
                    here = (here >> (bit[node] + 1) << bit[node]) | (here & ((1 << bit[node]) - 1))
                small = 1 << others
                here &= small - 1
                names = ids[id_start[node] : id_start[node] + small]
                for slot in range(width):
                    begin = node_start[node] + (went * width + slot) * small
                    table = tables[begin : begin + small]
                    total = result[row - first_row, slots[tree] + slot]
                    for index in range(small):
                        total[names[index]] += sign[index & ~here] * table[index & here]


@compiled
def kept(values: Any, indptr: Any, members: Any) -> Any:
    """The coalitions of a catalog whose value is not zero, and number 0: where they start, members, values."""
    count, entries = 1, 0
    for number in range(1, len(values)):
        if values[number] != 0.0:
            count += 1
            entries += indptr[number + 1] - indptr[number]
    starts = np.zeros(count + 1, np.int64)
    players = np.empty(entries, np.int32)
    amounts = np.empty(count)
    amounts[0] = values[0]
    place, used = 1, 0
    for number in range(1, len(values)):
        if values[number] != 0.0:
            for entry in range(indptr[number], indptr[number + 1]):
                players[used] = members[entry]
                used += 1
            amounts[place] = values[number]
            place += 1
            starts[place] = used
    return starts, players, amounts
