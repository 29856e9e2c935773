"""Compiled: trees with more players on a path than a word has bits, one explained and one background row at a time.

The pair walks down together until a split parts them; from there on that split's player belongs to A (its path goes
on with the explained row) or to B (with the background row). What the leaf adds is as in `kernels_pairs`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taylorpoda.dividends.trees.compiling import compiled
from taylorpoda.dividends.trees.kernels_pairs import OCCLUSION, SHAPLEY, pair_factors
from taylorpoda.dividends.trees.kernels_route import goes_left

FREE, ONLY_X, ONLY_B = 0, 1, 2
MOST_LISTED = 63  # players in A and B together of a pair whose dividends are listed


@compiled
def walk_wide(
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
    bit: Any,
    player: Any,
    starts: Any,
    slots: Any,
    chosen: Any,
    n_players: int,
    levels: int,
    result: Any,
    listed: Any,
) -> int:
    """The same as `kernels_pairs.walk_pairs`, for SHAPLEY, OCCLUSION and LISTED.

    Args:
        mode: One of these three.
        columns: Columns of the rows, (columns, rows).
        first_row: The first row to explain.
        last_row: One past the last.
        background: Columns of the background, (columns, background rows).
        weights: Their weights.
        column: Column of each split; the trees come as in the layout.
        threshold: Its threshold.
        flags: Its flags.
        lookup_start: Where its categories begin.
        lookup: All categories.
        values: Shape (nodes, width): leaf values per unit of background weight.
        end: One past each node's subtree.
        bit: Negative at leaves.
        player: Player of every split.
        starts: Where trees start.
        slots: First output of each tree.
        chosen: The trees to walk.
        n_players: How many players.
        levels: The largest depth.
        result: Added to, (rows, outputs, players).
        listed: (leaf, A, B, weight, players) arrays for LISTED; bit k of A and B is players[entry, k].

    Returns:
        How many entries LISTED would have; -1 if a pair parts over more players than can be listed.
    """
    width = values.shape[1]
    gain, loss = pair_factors(min(levels, n_players))
    belongs = np.zeros(n_players, np.int8)
    apart = np.empty(n_players + 1, np.int32)
    # What is still to be done, last first: walk on from a node with a player in B, or set that player free again.
    todo_node = np.empty(2 * levels + 2, np.int32)
    todo_player = np.empty(2 * levels + 2, np.int32)
    todo_side = np.empty(2 * levels + 2, np.int8)
    list_leaf, list_x, list_b, list_weight, list_players = listed
    entries = 0
    for row in range(first_row, last_row):
        for other in range(background.shape[1]):
            for tree in chosen:
                a, b, known = 0, 0, 0
                todo_node[0], todo_player[0], todo_side[0] = starts[tree], -1, FREE
                top = 1
                while top > 0:
                    top -= 1
                    node, changed, now = todo_node[top], todo_player[top], todo_side[top]
                    if changed >= 0:
                        a -= 1 if now == ONLY_B else 0
                        b += 1 if now == ONLY_B else -1
                        belongs[changed] = now
                        if now == FREE:
                            known -= 1
                            continue
                    while bit[node] >= 0:
                        line, who = column[node], player[node]
                        x_left = goes_left(columns[line, row], threshold[node], flags[node], lookup_start[node], lookup)
                        b_left = goes_left(
                            background[line, other], threshold[node], flags[node], lookup_start[node], lookup
                        )
                        left, right = node + 1, end[node + 1]
                        if x_left == b_left or belongs[who] == ONLY_X:
                            node = left if x_left else right
                        elif belongs[who] == ONLY_B:
                            node = left if b_left else right
                        else:
                            todo_node[top], todo_player[top], todo_side[top] = node, who, FREE
                            todo_node[top + 1] = left if b_left else right
                            todo_player[top + 1], todo_side[top + 1] = who, ONLY_B
                            top += 2
                            a += 1
                            belongs[who] = ONLY_X
                            apart[known] = who
                            known += 1
                            node = left if x_left else right
                    weight = weights[other]
                    if mode <= OCCLUSION:
                        if mode == SHAPLEY:
                            plus, minus = weight * gain[a, b], weight * loss[a, b]
                        else:
                            plus, minus = weight if b == 0 else 0.0, weight if b == 1 else 0.0
                        for place in range(known):
                            who = apart[place]
                            amount = plus if belongs[who] == ONLY_X else -minus
                            for slot in range(width):
                                result[row - first_row, slots[tree] + slot, who] += amount * values[node, slot]
                        continue
                    if known > MOST_LISTED:
                        return -1
                    if entries < len(list_leaf):
                        x_set, b_set = np.uint64(0), np.uint64(0)
                        for place in range(known):
                            list_players[entries, place] = apart[place]
                            if belongs[apart[place]] == ONLY_X:
                                x_set |= np.uint64(1) << np.uint64(place)
                            else:
                                b_set |= np.uint64(1) << np.uint64(place)
                        list_leaf[entries], list_weight[entries] = node, weight
                        list_x[entries], list_b[entries] = x_set, b_set
                    entries += 1
    return entries
