"""Games of trees against their definition: the library's own predictions of hybrid rows."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import taylorpoda as tp
from taylorpoda.dividends.trees import budget, kernels_layout, make_game, read_ensemble

ALONE = np.arange(6)
GROUPED = np.array([0, 1, 0, 2, 3, 2])
BACKGROUND = np.array([3, 60, 61, 62, 100, 143, 199])
WEIGHTS = np.array([1.0, 0.25, 3.0, 1.0, 0.0, 2.0, 1.5])
TABLES, PAIRS = 2**30, 0  # all trees have tables; none has
CLOSE = 1e-10


def shares_of(members, n):
    return np.array([index for index in range(1 << n) if index >> members & 1])


def shapley(dividends):
    """Every member of S gets H(S) / |S|, from the definition: (outputs, 2**n) -> (outputs, n)."""
    n = dividends.shape[1].bit_length() - 1
    sizes = np.bitwise_count(np.arange(1 << n))
    return np.stack([(dividends[:, s] / sizes[s]).sum(axis=1) for s in (shares_of(i, n) for i in range(n))], axis=1)


def occlusion(values):
    """v(N) - v(N without i): (outputs, 2**n) -> (outputs, n)."""
    n = values.shape[1].bit_length() - 1
    return np.stack([values[:, -1] - values[:, (1 << n) - 1 - (1 << i)] for i in range(n)], axis=1)


def game_of(case, rows_of, players, *, weights=None, max_memory=TABLES):
    ensemble = read_ensemble(case.model)
    game = make_game(ensemble, players, rows_of(case.table, BACKGROUND), weights, max_memory=max_memory)
    return game, ensemble.encoder.encode(case.table)


def check(game, columns, row, values):
    """Everything a game says about a row, against its values (outputs, 2**players)."""
    n = game.n_players
    dividends = tp.harsanyi(values)
    scale = np.max(abs(values))
    one = columns[:, row : row + 1]
    assert np.max(abs(game.full(one)[0] - values[:, -1])) <= CLOSE * scale
    assert np.max(abs(game.empty - values[:, 0])) <= CLOSE * scale
    assert np.max(abs(game.attributions(one)[0] - shapley(dividends))) <= CLOSE * scale
    assert np.max(abs(game.attributions(one, occlusion=True)[0] - occlusion(values))) <= CLOSE * scale
    assert np.max(abs(game.dense_dividends(columns, row) - dividends)) <= CLOSE * scale
    coalitions = (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(bool)
    assert np.max(abs(game.values(columns, row, coalitions) - values)) <= CLOSE * scale
    for output, sparse in enumerate(game.dividends(columns, row)):
        assert np.max(abs(sparse.value_of(coalitions) - values[output])) <= CLOSE * scale


def test_games_equal_brute_force(case, rows_of, brute_tree_values):
    for players, weights, max_memory in product((ALONE, GROUPED), (None, WEIGHTS), (TABLES, PAIRS)):
        game, columns = game_of(case, rows_of, players, weights=weights, max_memory=max_memory)
        assert game.tabled.all() if max_memory else not game.tabled.any()
        known = np.ones(len(BACKGROUND)) if weights is None else weights
        for row in (0, 31, 61):
            values = brute_tree_values(case.exact, case.table, row, BACKGROUND, known, players)
            check(game, columns, row, values)


@pytest.mark.parametrize("name", ["xgboost", "forest_classes"])
def test_more_background_rows_than_a_block(name, fitted_case, rows_of):
    """Rows are counted 64 and 128 at a time: the pieces must add up to the mean over single rows."""
    case = fitted_case(name)
    ensemble = read_ensemble(case.model)
    columns = ensemble.encoder.encode(case.table)
    many = np.arange(200)
    for max_memory in (TABLES, PAIRS):
        whole = make_game(ensemble, ALONE, rows_of(case.table, many), max_memory=max_memory)
        backgrounds = [rows_of(case.table, many[k : k + 1]) for k in many]
        games = [make_game(ensemble, ALONE, background, max_memory=max_memory) for background in backgrounds]
        single = np.stack([game.attributions(columns) for game in games])
        difference = whole.attributions(columns) - single.mean(axis=0)
        assert np.max(abs(difference)) <= CLOSE * np.max(abs(single))


def test_weights_leave_no_rounding_where_a_dividend_is_zero(case, rows_of):
    """Sums over supersets transformed back once left 1e-17 on a fifth of the coalitions that have no dividend."""
    weights = np.random.default_rng(0).dirichlet(np.ones(len(BACKGROUND)))
    weighted, columns = game_of(case, rows_of, ALONE, weights=weights)
    counted, _ = game_of(case, rows_of, ALONE)
    for row in (5, 40):
        for ours, plain in zip(weighted.dividends(columns, row), counted.dividends(columns, row), strict=True):
            assert set(ours.coalitions.numbers()) <= set(plain.coalitions.numbers())


def test_tables_for_some_trees_and_pairs_for_others(case, rows_of, monkeypatch):
    """Where tables may take half of what all of them need, some trees go without; the answers stay."""
    tabled, columns = game_of(case, rows_of, ALONE)
    sizes = budget.table_bytes(tabled.layout, tabled._units)
    monkeypatch.setattr(budget, "_LARGEST", sizes.sum() / 2)
    part, _ = game_of(case, rows_of, ALONE)
    assert sizes[part.tabled].sum() <= sizes.sum() / 2
    assert part.tabled.any() == (len(sizes) > 1)
    assert not part.tabled.all()
    scale = np.max(abs(tabled.full(columns)))
    assert np.max(abs(part.attributions(columns) - tabled.attributions(columns))) <= CLOSE * scale
    for row in (2, 61):
        difference = part.dense_dividends(columns, row) - tabled.dense_dividends(columns, row)
        assert np.max(abs(difference)) <= CLOSE * scale


def test_a_row_is_answered_alone_as_in_a_batch_and_in_threads(case, rows_of):
    game, columns = game_of(case, rows_of, ALONE)
    ensemble = read_ensemble(case.model)
    threaded = make_game(ensemble, ALONE, rows_of(case.table, BACKGROUND), max_memory=TABLES, n_jobs=4)
    together = game.attributions(columns)
    assert np.array_equal(threaded.attributions(columns), together)
    alone = np.concatenate([game.attributions(columns[:, row : row + 1]) for row in range(70)])
    assert np.array_equal(alone, together[:70])


def test_dividends_that_cannot_be_are_not_listed(case, rows_of):
    """A coalition of players that share no path has no dividend; the empty one comes first."""
    game, columns = game_of(case, rows_of, ALONE)
    layout = game.layout
    paths = set()
    players, start = kernels_layout.path_players(
        layout.above, layout.bit, layout.player, layout.starts, np.arange(layout.n_trees)
    )
    for leaf in np.flatnonzero(layout.leaves):
        paths.add(frozenset(players[start[leaf] : start[leaf] + layout.above[leaf]].tolist()))
    for sparse in game.dividends(columns, 5):
        listed = sparse.coalitions
        assert listed.sizes[0] == 0
        assert np.all(sparse.values[1:] != 0)
        for first, last in zip(listed.indptr[1:-1], listed.indptr[2:], strict=True):
            members = frozenset(listed.members[first:last].tolist())
            assert any(members <= path for path in paths)
