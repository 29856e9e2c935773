"""The sparse container against the definitions over all 2**n coalitions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import shapiq
from hypothesis import given
from hypothesis import strategies as st

import taylorpoda as tp
from taylorpoda.dividends.sparse import SparseDividends, sum_of
from taylorpoda.dividends.sparse_coalitions import Coalitions
from taylorpoda.dividends.sparse_rows import SparseRows

FEW = st.integers(0, 7)


@st.composite
def games(draw, players=FEW):
    """A sparse game and the same as a table of dividends."""
    n = draw(players)
    chosen = draw(st.lists(st.integers(0, (1 << n) - 1), unique=True, max_size=min(20, 1 << n)))
    numbers = st.floats(-100, 100, allow_nan=False).filter(lambda value: value == 0 or abs(value) > 1e-9)
    values = draw(st.lists(numbers, min_size=len(chosen), max_size=len(chosen)))
    table = np.zeros(1 << n)
    table[chosen] = values
    sets = [[player for player in range(n) if index >> player & 1] for index in chosen]
    return SparseDividends.from_sets(sets, values, n), table


def masks(n):
    return (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(bool)


def close(found, expected, tolerance=1e-9):
    assert np.shape(found) == np.shape(expected)
    assert np.all(abs(np.asarray(found) - expected) <= tolerance)


@given(games())
def test_everything_equals_the_dense_table(pair):
    game, table = pair
    n = game.n_players
    inside = masks(n)
    values = np.array([table[[index & mask == index for index in range(1 << n)]].sum() for mask in range(1 << n)])
    close(game.to_dense(), table, 0)
    close(game.value_of(inside), values)
    close(game.value_of(inside[-1]), values[-1])
    close(game.base_value, table[0], 0)
    close(game.full_value, values[-1])
    sizes = np.maximum(inside.sum(axis=1), 1)
    close(game.shapley(), (table / sizes) @ inside)
    close(game.occlusion(), table @ inside)
    close(game.singletons(), table[1 << np.arange(n)], 0)
    together = inside & (sizes > 1)[:, None]
    lower, upper = game.intervals()
    close(lower, table[1 << np.arange(n)] - np.maximum(-table, 0) @ together)
    close(upper, table[1 << np.arange(n)] + np.maximum(table, 0) @ together)
    matrix = np.array([[table[1 << i | 1 << j] for j in range(n)] for i in range(n)]).reshape(n, n)
    close(game.pairs(), matrix, 0)
    for index in range(1 << n):
        assert game[np.flatnonzero(inside[index]).tolist()] == table[index]


@given(games(), st.randoms(use_true_random=False))
def test_values_along_an_order(pair, random):
    game, table = pair
    n = game.n_players
    order = random.sample(range(n), n)
    values = tp.values_from(table)
    prefixes = [sum(1 << player for player in order[:count]) for count in range(n + 1)]
    close(game.prefix_values(np.array(order, dtype=int)), values[prefixes])
    close(game.suffix_values(np.array(order, dtype=int)), values[[(1 << n) - 1 - prefix for prefix in prefixes]])


@given(games(), st.randoms(use_true_random=False))
def test_restricting_to_some_players(pair, random):
    game, table = pair
    n = game.n_players
    chosen = random.sample(range(n), random.randint(0, n))
    small = game.restrict(chosen)
    spread = [sum(1 << chosen[place] for place in range(len(chosen)) if index >> place & 1)
              for index in range(1 << len(chosen))]  # fmt: skip
    close(small.to_dense(), table[spread], 0)
    members, indptr = small.coalitions.members, small.coalitions.indptr
    for first, last in pairwise(indptr):
        assert np.all(np.diff(members[first:last]) > 0)


@given(games(players=st.integers(1, 6)), st.integers(0, 25))
def test_largest_dividends(pair, count):
    game, table = pair
    top = game.top(count)
    expected = np.sort(abs(table[1:][table[1:] != 0]))[::-1][:count]
    assert np.array_equal(abs(top.values[top.values != 0]), expected)
    assert np.all(top.coalitions.sizes > 0)
    for index, value in zip(top.coalitions.indices(), top.values, strict=True):
        assert table[index] == value


@given(games(players=st.integers(1, 6)), st.floats(0, 60))
def test_a_cut_reports_what_it_dropped(pair, tolerance):
    game, table = pair
    kept, remainder = game.threshold(tolerance)
    cut = np.where((abs(table) > tolerance) | (np.arange(len(table)) == 0), table, 0)
    close(kept.to_dense(), cut, 0)
    close(remainder.total, (table - cut).sum())
    close(remainder.absolute, abs(table - cut).sum())
    close(remainder.by_player, abs(table - cut) @ masks(game.n_players))
    assert remainder.count == len(game) - len(kept)
    assert np.all(abs(game.shapley() - kept.shapley()) <= remainder.by_player + 1e-9)


@given(games(players=st.just(5)), games(players=st.just(5)), st.floats(-3, 3))
def test_sums_and_multiples(first, second, factor):
    total = first[0] + factor * second[0] + sum_of([first[0]])
    close(total.to_dense(), 2 * first[1] + factor * second[1])
    assert len({tuple(row) for row in total.coalitions.words.tolist()}) == len(total)


@given(games(players=st.just(4)), games(players=st.just(4)))
def test_games_in_rows(first, second):
    for rows in (
        SparseRows.from_games([first[0], second[0]]),
        SparseRows.from_matrix(Coalitions.from_masks(masks(4)), np.stack([first[1], second[1]])),
    ):
        assert len(rows) == 2
        for row, (game, table) in enumerate((first, second)):
            close(rows[row].to_dense(), table, 0)
            close(rows[row - 2].to_dense(), table, 0)
            close(rows.shapley()[row], game.shapley())
            close(rows.occlusion()[row], game.occlusion())
            close(rows.full_values()[row], game.full_value)
            for bound, expected in zip(rows.intervals(), game.intervals(), strict=True):
                close(bound[row], expected)
        assert [round(game.full_value, 6) for game in rows] == [round(first[0].full_value, 6),
                                                                round(second[0].full_value, 6)]  # fmt: skip
    with pytest.raises(IndexError, match="game 2 is out of range"):
        rows[2]


def test_dense_there_and_back():
    table = np.random.default_rng(0).normal(size=64)
    table[[0, 5, 9]] = 0
    game = SparseDividends.from_dense(table)
    assert len(game) == 62  # the empty coalition stays
    assert np.array_equal(game.to_dense(), table)
    assert len(SparseDividends.from_dense(table, tolerance=1e9)) == 1


def test_hundreds_of_players():
    """Bitsets span several words: the same numbers as for the few players that matter."""
    rng = np.random.default_rng(1)
    players = np.sort(rng.choice(300, 8, replace=False))
    small = rng.normal(size=256)
    sets = [players[mask].tolist() for mask in masks(8)]
    game = SparseDividends.from_sets(sets, small, 300)
    close(game.shapley()[players], tp.methods.shapley(tp.values_from(small)))
    assert np.count_nonzero(game.shapley()) == 8
    wide = np.zeros((256, 300), dtype=bool)
    wide[:, players] = masks(8)
    others = rng.random((256, 300)) < 0.5
    others[:, players] = False
    close(game.value_of(wide | others), tp.values_from(small))
    assert game.coalitions.numbers() == [sum(1 << int(player) for player in members) for members in sets]
    close(game.restrict(players).to_dense(), small, 0)
    order = rng.permutation(300)
    close(game.prefix_values(order)[-1], small.sum())
    with pytest.raises(ValueError, match="300 players do not fit"):
        game.coalitions.indices()
    with pytest.raises(ValueError, match="at most 30 players"):
        game.to_dense()


def test_shapiq_understands_it():
    table = np.random.default_rng(2).normal(size=16)
    exported = SparseDividends.from_dense(table).to_shapiq()
    assert isinstance(exported, shapiq.InteractionValues)
    assert exported.index == "Moebius"
    for members, place in exported.interaction_lookup.items():
        assert exported.values[place] == table[sum(1 << player for player in members)]
    shapley = exported.get_n_order_values(1)
    assert np.array_equal(shapley, table[1 << np.arange(4)])


ONE = SparseDividends.from_sets([[0], [1, 2]], [1.0, 2.0], 3)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: SparseDividends.from_sets([[0, 0]], [1.0], 3), "names a player twice"),
        (lambda: SparseDividends.from_sets([[3]], [1.0], 3), "out of range; allowed: 0 to 2"),
        (lambda: SparseDividends.from_sets([[0], [1]], [1.0], 3), "expected one per coalition"),
        (lambda: SparseDividends.from_sets([[0]], [1.0], 3).value_of(np.ones((1, 2))), r"expected \(m, 3\)"),
        (lambda: SparseDividends.from_sets([[0]], [1.0], 3).restrict([1, 1]), "names a player twice"),
        (lambda: SparseDividends.from_sets([[0]], [1.0], 3).restrict([1, 3]), "out of range"),
        (lambda: SparseDividends.from_sets([[0]], [1.0], 3).prefix_values(np.array([0, 0, 1])), "every player once"),
        (lambda: SparseDividends.from_dense(np.ones(3)), "dividends"),
        (lambda: SparseDividends.from_dense(np.ones((2, 4))), "expected one game"),
        (lambda: SparseDividends.from_sets([], [], 2) + SparseDividends.from_sets([], [], 3), r"\[2, 3\] players"),
        (lambda: ONE.value_of([0, 2, 1]), "neither True nor False"),
        (lambda: ONE.value_of([np.nan, 0, 1]), "neither True nor False"),
        (lambda: ONE.restrict([[0, 1]]), "players has shape"),
        (lambda: ONE.top(-1), "count=-1 is not allowed; allowed"),
        (lambda: ONE.threshold(-0.1), "tolerance=-0.1; allowed"),
        (lambda: ONE.threshold(np.nan), "tolerance=nan; allowed"),
        (lambda: ONE.nonzero(np.nan), "tolerance=nan; allowed"),
        (lambda: ONE * np.inf, "multiplied with inf"),
        (lambda: SparseDividends.from_dense([1.0, np.nan]), "dividends holds NaN"),
        (lambda: SparseDividends.from_dense([1.0, 2.0], tolerance=-1), "tolerance=-1; allowed"),
        (lambda: SparseDividends.from_sets([[0]], [np.inf], 3), "values holds NaN or infinity"),
        (lambda: ONE.take([True]), r"chosen has shape \(1,\); expected one True or False for each of 2"),
        (lambda: SparseRows.from_games([]), "cannot be gathered"),
        (lambda: Coalitions.from_masks(np.ones(3)), "expected"),
    ],
)
def test_errors_say_what_came(call, says):
    with pytest.raises(ValueError, match=says):
        call()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ONE.restrict([0.7, 1.2]), r"players=\[0.7, 1.2\] holds float64"),
        (lambda: ONE.restrict([True, False, True]), "holds bool"),
        (lambda: ONE.prefix_values([0.2, 1.1, 2.9]), "order=.* holds float64"),
        (lambda: ONE.take([0.5]), r"chosen=.*0.5.* holds float64; allowed: whole numbers, the indices of dividends"),
        (lambda: ONE.top(1.5), "count=1.5 has type float; allowed: an integer >= 0."),
        (lambda: ONE[0.5], "names 0.5"),
        (lambda: ONE[[0.5]], "names 0.5"),
        (lambda: SparseDividends.from_sets([["a"]], [1.0], 3), "names 'a'"),
    ],
)
def test_nothing_is_rounded_to_a_player(call, says):
    with pytest.raises(TypeError, match=says):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: ONE + 3,
        lambda: 3 + ONE,
        lambda: ONE - 3,
        lambda: ONE * ONE,
        lambda: np.float64(2) + ONE,
        lambda: 1 - ONE,
    ],
)
def test_adding_something_else_is_a_type_error(call):
    with pytest.raises(TypeError, match="unsupported operand"):
        call()


@given(games(players=st.just(4)), games(players=st.just(4)))
def test_differences_and_sums_by_name(first, second):
    (one, table), (two, other) = first, second
    close((-one).to_dense(), -table, 0)
    close((one - two).to_dense(), table - other)
    close(sum([one, two, one]).to_dense(), 2 * table + other)


@pytest.mark.parametrize("factor", [2, np.float64(2), np.float32(2), np.int64(2), np.array(2.0)])
def test_numbers_of_numpy_multiply_from_either_side(factor):
    """np.float64(2) * game was once an array of what game[0], game[1], ... say: the singletons."""
    for product in (factor * ONE, ONE * factor):
        assert isinstance(product, SparseDividends)
        close(product.to_dense(), 2 * ONE.to_dense(), 0)


def test_it_is_no_sequence():
    """Counting up from game[0] would list singletons and end where the players do."""
    for call in (iter, list):
        with pytest.raises(TypeError, match=r"cannot be iterated over; \.values lists the dividends"):
            call(ONE)


def test_taking_some():
    for chosen in ([1, 0], np.array([1, 0], dtype=np.uint8), [-1, -2]):
        assert ONE.take(chosen).values.tolist() == [2.0, 1.0]
    for mask in ([False, True], np.array([False, True])):
        assert ONE.take(mask).coalitions.members.tolist() == [1, 2]
    assert len(ONE.take([])) == 0
    for outside in (2, -3):
        with pytest.raises(IndexError, match=f"chosen names {outside}, which is out of range; there are 2 dividends"):
            ONE.take([outside])
