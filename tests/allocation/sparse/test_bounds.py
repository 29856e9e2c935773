"""Ranges of values and gains of moves, against every coalition and every order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taylorpoda.allocation.sparse.few import table_of
from taylorpoda.allocation.sparse.moves import best_moves, move_gains, moved
from taylorpoda.allocation.sparse.ranges import Choices, value_ranges
from taylorpoda.allocation.sparse.reduced import Reduced, reduced
from taylorpoda.allocation.sparse.spacing import spaced


def game_of(dividends):
    n = dividends.n_players
    return reduced(dividends, np.arange(n), dividends.base_value, dividends.full_value, others_present=False)


def transitive(rng, n, chance):
    """A random precedence."""
    place = rng.permutation(n)
    before = (rng.random((n, n)) < chance) & (place[:, None] < place[None, :])
    for _ in range(n):
        before = before | ((before.astype(int) @ before.astype(int)) > 0)
    return before


@given(seed=st.integers(0, 10_000), n=st.integers(2, 9), chance=st.sampled_from([0.0, 0.1, 0.3]))
def test_every_coalition_lies_in_its_range(seed, n, chance, dividends_of):
    rng = np.random.default_rng(seed)
    game = game_of(dividends_of(rng, n, 3 * n, singles=bool(seed % 2)))
    before = transitive(rng, n, chance)
    lowest, highest = value_ranges(game, Choices(n, before if chance else None))
    table = table_of(game)
    for index in range(1, (1 << n) - 1):
        inside = np.array([index >> player & 1 for player in range(n)], dtype=bool)
        if not np.any(before & inside[None, :] & ~inside[:, None]):
            m = int(inside.sum())
            assert lowest[m - 1] - 1e-9 <= table[index] <= highest[m - 1] + 1e-9


def test_the_ends_of_the_range_are_met_without_interactions(dividends_of):
    game = game_of(dividends_of(np.random.default_rng(0), 8, 0))
    lowest, highest = value_ranges(game, Choices(8, None))
    table, sizes = table_of(game), np.array([index.bit_count() for index in range(256)])
    for m in range(1, 8):
        assert abs(lowest[m - 1] - table[sizes == m].min()) <= 1e-12
        assert abs(highest[m - 1] - table[sizes == m].max()) <= 1e-12


class Errors:
    """An objective: the distance from f(x)."""

    def __init__(self, game: Reduced) -> None:
        self.games = [game]

    def guided(self, values):
        return abs(values[0] - self.games[0].full)


@pytest.mark.parametrize("chance", [0.0, 0.2])
def test_gains_of_moves_are_what_the_moved_order_costs(chance, dividends_of):
    rng = np.random.default_rng(4)
    game = game_of(dividends_of(rng, 9, 30))
    objective = Errors(game)
    before = transitive(rng, 9, chance)
    order = np.array(sorted(range(9), key=lambda player: int(before[:, player].sum())))

    def cost(players):
        return float(np.sum(objective.guided(game.along(players)[None, 1:-1])))

    now, change = move_gains(objective, order, before if chance else None)
    assert abs(now - cost(order)) <= 1e-12
    for to in range(9):
        for source in range(9):
            there = moved(order, [(source, to)])
            allowed = not any(before[there[k], there[j]] for j in range(9) for k in range(j + 1, 9))
            assert np.isfinite(change[to, source]) == allowed
            if allowed:
                assert abs(cost(there) - now - change[to, source]) <= 1e-12
    moves, gain = best_moves(change)
    assert gain <= min(0.0, float(np.min(change)))
    assert abs(cost(moved(order, moves)) - now - gain) <= 1e-12


def test_players_that_can_only_be_small_get_the_room_they_need():
    largest = np.array([5.0, 1.0, 5.0, 2.0, 3.0, 9.0])
    nothing, gap = np.zeros(6), np.ones(6)
    wanted = np.array([1, 3, 4, 0, 2, 5])
    found = spaced(wanted, nothing, largest, gap, None)
    need = np.arange(6, 0, -1)
    assert np.all(largest[found] >= need)
    loose = np.full(6, 99.0)
    assert np.array_equal(spaced(wanted, nothing, loose, gap, None), wanted)
