"""Trees too deep for tables, paths of more features than a word has bits, and trees that hardly are any."""

from __future__ import annotations

import numpy as np
import pytest
import shap
import xgboost
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from taylorpoda.dividends.trees import make_game, read_ensemble
from taylorpoda.dividends.trees.budget import table_bytes

MANY = 90


def long_path():
    """A caterpillar by hand: feature k is asked at depth k, and its left branch ends."""
    rows = 1.0 - np.eye(MANY)
    target = np.random.default_rng(1).permutation(MANY) + 0.5
    model = DecisionTreeRegressor(random_state=0, min_samples_leaf=1)
    return model.fit(rows, target), rows


def some_coalitions(n, count, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((count, n)) < rng.random((count, 1))


def check_against_predictions(game, model, row, rows, background, columns, coalitions):
    """The values of coalitions are means over hybrid rows; dividends and attributions are theirs."""
    present = coalitions[:, None, :]
    hybrids = np.where(present, rows[row], background[None]).reshape(-1, rows.shape[1])
    expected = np.asarray(model.predict(hybrids), dtype=float).reshape(len(coalitions), len(background)).mean(axis=1)
    close = 1e-10 * np.max(abs(expected)) + 1e-12
    assert np.max(abs(game.values(columns, row, coalitions)[0] - expected)) <= close
    dividends = game.dividends(columns, row)[0]
    assert np.max(abs(dividends.value_of(coalitions) - expected)) <= close
    one = columns[:, row : row + 1]
    assert np.max(abs(game.attributions(one)[0, 0] - dividends.shapley())) <= close
    assert np.max(abs(game.attributions(one, occlusion=True)[0, 0] - dividends.occlusion())) <= close


def test_more_features_on_a_path_than_a_word_has_bits():
    model, rows = long_path()
    ensemble = read_ensemble(model)
    background = rows[:12]
    game = make_game(ensemble, np.arange(MANY), background, max_memory=2**28)
    assert game.layout.above.max() > 64
    columns = ensemble.encoder.encode(rows)
    for row in (0, 40, 89):
        check_against_predictions(game, model, row, rows, background, columns, some_coalitions(MANY, 200))
    masker = shap.maskers.Independent(background, max_samples=12)
    explainer = shap.TreeExplainer(model, masker, feature_perturbation="interventional")
    expected = explainer.shap_values(rows[:30])
    found = game.attributions(columns[:, :30])[:, 0]
    assert np.max(abs(found - expected)) <= 1e-6 * np.max(abs(expected))


def test_wide_paths_beside_narrow_ones_and_path_dependent():
    rng = np.random.default_rng(3)
    model, rows = long_path()
    small = DecisionTreeRegressor(max_depth=4, random_state=0).fit(rows, rng.normal(size=MANY))
    forest = ExtraTreesRegressor(2, random_state=0).fit(rows, model.predict(rows))
    forest.estimators_ = [model, small]
    ensemble = read_ensemble(forest)
    columns = ensemble.encoder.encode(rows)
    game = make_game(ensemble, np.arange(MANY), rows[::9], max_memory=2**28)
    assert game.tabled.tolist() == [False, True]
    check_against_predictions(game, forest, 7, rows, rows[::9], columns, some_coalitions(MANY, 100))
    covered = make_game(ensemble, np.arange(MANY), None, max_memory=2**28)
    found = covered.attributions(columns)[:, 0]  # shap's own sums are 1e8 off on paths this long
    gap = covered.full(columns)[:, 0] - covered.empty[0]
    assert np.max(abs(found.sum(axis=1) - gap)) <= 1e-10 * np.max(abs(gap))
    without = covered.values(columns, 7, ~np.eye(MANY, dtype=bool))[0]
    occlusion = covered.attributions(columns[:, 7:8], occlusion=True)[0, 0]
    assert np.max(abs(covered.full(columns)[7, 0] - without - occlusion)) <= 1e-10 * np.max(abs(gap))
    deep = "89 players meet on a path, and tables take at most 24, whatever max_memory is. Ways out: a background"
    with pytest.raises(ValueError, match=deep):
        covered.dividends(columns, 0)


def test_more_memory_is_advised_only_where_it_helps():
    """Without a background the limits are those of tables; the error once asked for memory that changed nothing."""
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(2000, 30))
    target = rows[:, 0] * rows[:, 1] + rng.normal(size=2000)
    ensemble = read_ensemble(RandomForestRegressor(20, max_depth=14, random_state=0).fit(rows, target))
    columns = ensemble.encoder.encode(rows[:2])
    for memory in (2**20, 2**40):
        game = make_game(ensemble, np.arange(30), None, max_memory=memory)
        with pytest.raises(ValueError, match=r"at most 256\.0 MiB are made, whatever max_memory is") as caught:
            game.dividends(columns, 0)
        assert 'policy="shapley"' in str(caught.value)
        found = game.attributions(columns).sum(axis=2) - (game.full(columns) - game.empty)
        assert np.max(abs(found)) <= 1e-10 * np.max(abs(game.full(columns)))
    small = read_ensemble(RandomForestRegressor(5, max_depth=6, random_state=0).fit(rows, target))
    with pytest.raises(ValueError, match=r"half of max_memory=64.0 KiB is for them; with more than .* they are made"):
        make_game(small, np.arange(30), None, max_memory=2**16).dividends(columns, 0)
    assert len(make_game(small, np.arange(30), None, max_memory=2**30).dividends(columns, 0)[0]) > 1
    with_background = make_game(small, np.arange(30), rows[:5], max_memory=2**22)
    assert len(with_background.dividends(columns, 0)[0]) > 1


def test_rows_that_part_over_too_many_features_are_refused_dividends_only():
    ensemble = read_ensemble(long_path()[0])
    everything = np.vstack([np.ones(MANY), np.zeros(MANY)])
    game = make_game(ensemble, np.arange(MANY), np.zeros((1, MANY)), max_memory=2**28)
    columns = ensemble.encoder.encode(everything)
    found = game.attributions(columns[:, :1])[0, 0]
    assert abs(found.sum() - (game.full(columns)[0, 0] - game.empty[0])) <= 1e-9 * np.max(abs(found))
    with pytest.raises(ValueError, match="than 63 features on one path"):
        game.dividends(columns, 0)


@pytest.mark.parametrize("players", [30, 12])
def test_unbounded_forests(players):
    """Beyond 18 players pairs are listed and merged; below they fill a table of all coalitions."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(120, players))
    model = RandomForestRegressor(4, random_state=0, max_features=0.4).fit(rows, rows[:, 0] * rows[:, 1] + rows[:, 2])
    ensemble = read_ensemble(model)
    columns = ensemble.encoder.encode(rows)
    for memory in (2**28, 2**27 if players > 18 else 0):
        game = make_game(ensemble, np.arange(players), rows[:15], max_memory=memory)
        object.__setattr__(game, "tabled", np.full(4, memory == 2**28))
        check_against_predictions(game, model, 50, rows, rows[:15], columns, some_coalitions(players, 150))


def test_dividends_beyond_the_memory_are_refused_and_attributions_are_not():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(200, 24))
    model = RandomForestRegressor(3, random_state=0).fit(rows, rows[:, 0] * rows[:, 1])
    ensemble = read_ensemble(model)
    game = make_game(ensemble, np.arange(24), rows[:50], max_memory=2**16)
    columns = ensemble.encoder.encode(rows)
    assert np.isfinite(game.attributions(columns[:, :3])).all()
    with pytest.raises(ValueError, match="give more max_memory"):
        game.dividends(columns, 0)


def test_more_dividends_than_half_precision_can_count():
    """Their number was once summed in float16, which ends at 65,504: larger trees were refused at any memory."""
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(600, 40))
    model = DecisionTreeRegressor(random_state=0, max_features=1, splitter="random").fit(rows, rng.normal(size=600))
    ensemble = read_ensemble(model)
    game = make_game(ensemble, np.arange(40), rows[:300], max_memory=2**33)
    object.__setattr__(game, "tabled", np.array([False]))
    columns = ensemble.encoder.encode(rows)
    (pairs,) = (found for _, found in game._walks._pairs(np.array([0]), columns, 400))
    assert sum(1 << int(count) for count in np.bitwise_count(pairs.only_b)) > 65_504
    check_against_predictions(game, model, 400, rows, rows[:300], columns, some_coalitions(40, 60))


def test_sizes_of_small_trees_survive_beside_huge_ones():
    """A running sum of bytes would lose a small tree after one of 2**70 bytes."""
    model, rows = long_path()
    small = DecisionTreeRegressor(max_depth=2, random_state=0).fit(rows, np.arange(MANY))
    forest = ExtraTreesRegressor(2, random_state=0).fit(rows, model.predict(rows))
    sizes = []
    for trees in ([model, small], [small, model]):
        forest.estimators_ = trees
        game = make_game(read_ensemble(forest), np.arange(MANY), rows[:5], max_memory=2**28)
        sizes.append(table_bytes(game.layout, game._units).tolist())
    assert sizes[0] == sizes[1][::-1]
    assert np.isinf(sizes[0][0])


@pytest.mark.parametrize("memory", [2**28, 0])
@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_models_of_no_split_at_all(rounds, memory):
    rows = np.random.default_rng(6).normal(size=(20, 3))
    model = xgboost.train({"max_depth": 3}, xgboost.DMatrix(rows, np.ones(20)), rounds)
    ensemble = read_ensemble(model)
    assert ensemble.n_trees == rounds
    columns = ensemble.encoder.encode(rows)
    for background in (rows[:4], None):
        game = make_game(ensemble, np.arange(3), background, max_memory=memory)
        assert np.array_equal(game.attributions(columns), np.zeros((20, 1, 3)))
        assert np.max(abs(game.full(columns) - model.predict(xgboost.DMatrix(rows))[:, None])) <= 1e-6
        (only,) = game.dividends(columns, 0)
        assert only.coalitions.sizes.tolist() == [0]
        assert only.base_value == game.empty[0]


@pytest.mark.parametrize("memory", [2**28, 0])
def test_no_rows_and_one(memory):
    rows = np.random.default_rng(7).normal(size=(40, 4))
    ensemble = read_ensemble(DecisionTreeRegressor(max_depth=3).fit(rows, rows[:, 0] * rows[:, 1]))
    game = make_game(ensemble, np.arange(4), rows[:6], max_memory=memory)
    columns = ensemble.encoder.encode(rows)
    assert game.attributions(columns[:, :0]).shape == (0, 1, 4)
    assert game.full(columns[:, :0]).shape == (0, 1)
    assert game.values(columns, 0, np.zeros((0, 4), dtype=bool)).shape == (1, 0)
    assert game.attributions(columns[:, :1]).shape == (1, 1, 4)
