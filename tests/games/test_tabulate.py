from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import taylorpoda as tp
from taylorpoda.games.coalitions import index_of, members


@given(
    n=st.integers(0, 8),
    outputs=st.sampled_from([None, 1, 3]),
    chunk=st.sampled_from([None, 1, 7, 64]),
    seed=st.integers(0, 2**16),
)
def test_a_table_game_tabulates_to_itself_in_chunks_of_any_size(n, outputs, chunk, seed):
    shape = (2**n,) if outputs is None else (outputs, 2**n)
    table = np.random.default_rng(seed).normal(size=shape)
    assert np.array_equal(tp.tabulate(tp.TableGame(table), n, chunk=chunk), table)


def test_bit_j_of_an_index_is_player_j():
    table = tp.tabulate(lambda coalitions: coalitions @ np.array([1.0, 10.0, 100.0]), 3)
    assert table.tolist() == [0, 1, 10, 11, 100, 101, 110, 111]


@given(hnp.arrays(np.int64, st.integers(0, 20), elements=st.integers(0, 2**12 - 1)))
def test_indices_and_rows_of_booleans_are_the_same_coalitions(indices):
    assert np.array_equal(index_of(members(indices, 12)), indices)


@pytest.mark.parametrize(
    ("game", "n", "error", "message"),
    [
        (lambda s: s.sum(axis=1)[:-1], 2, ValueError, r"the game gave shape \(3,\) for 4 rows"),
        (lambda s: np.where(s.all(axis=1), np.nan, 0.0), 2, ValueError, r"NaN or infinity for coalition \{0, 1\}"),
        (lambda s: np.array(["a"] * len(s)), 2, TypeError, "real numbers are needed"),
        (lambda s: 1 / 0, 2, ValueError, r"the game raised ZeroDivisionError .* starting at \{\}"),
        (lambda s: s.sum(axis=1), -1, ValueError, "n_players=-1 is negative"),
        (lambda s: s.sum(axis=1), 2.5, TypeError, "n_players=2.5 has type float"),
        (lambda s: s.sum(axis=1), 60, ValueError, r"needs 2\*\*60 values"),
        ("game", 2, TypeError, "game has type str"),
    ],
)
def test_a_game_that_cannot_be_tabulated_says_why(game, n, error, message):
    with pytest.raises(error, match=message):
        tp.tabulate(game, n)


def test_an_error_of_the_game_is_chained():
    def game(coalitions):
        msg = "sensor offline"
        raise RuntimeError(msg)

    with pytest.raises(ValueError, match="sensor offline") as caught:
        tp.tabulate(game, 3)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_table_larger_than_max_memory_is_refused_before_any_call():
    calls = []
    with pytest.raises(ValueError, match=r"max_memory is 1\.0 KiB"):
        tp.tabulate(calls.append, 12, max_memory=1024)
    assert calls == []


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([1.0, 2.0, 3.0], ValueError, "last axis of length 3; it must be a power of two"),
        ([1.0, np.nan], ValueError, "holds NaN or infinity"),
        (["a", "b"], TypeError, "real numbers"),
        (3.0, ValueError, "single number"),
    ],
)
def test_bad_tables_are_refused(values, error, message):
    with pytest.raises(error, match=message):
        tp.TableGame(values)


def test_a_table_of_integers_and_a_game_without_players_are_fine():
    assert tp.TableGame([0, 1, 2, 4])(np.array([[True, True]])).tolist() == [4.0]
    assert tp.tabulate(lambda coalitions: np.full(len(coalitions), 7.0), 0).tolist() == [7.0]
