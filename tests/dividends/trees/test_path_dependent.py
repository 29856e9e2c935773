"""The cover-weighted game: against its definition, one node at a time, and against shap."""

from __future__ import annotations

import numpy as np
import pytest
import shap
from sklearn.tree import DecisionTreeRegressor

import taylorpoda as tp
from taylorpoda.dividends.trees import make_game, read_ensemble

ALONE = np.arange(6)
GROUPED = np.array([0, 1, 0, 2, 3, 2])
COALITIONS = (np.arange(64)[:, None] >> np.arange(6) & 1).astype(bool)


def value_by_definition(ensemble, columns, row, members, player_of_feature):
    """Follow both branches of a split on an absent feature, in proportion to the training weight of each."""
    total = ensemble.base.copy()

    def goes_left(node):
        cell = columns[ensemble.column[node], row]
        if ensemble.flags[node] & 2:
            return ensemble.lookup[ensemble.lookup_start[node] + int(cell)] == 1
        return bool(ensemble.flags[node] & 1) if np.isnan(cell) else cell <= ensemble.threshold[node]

    def expected(node):
        if ensemble.left[node] < 0:
            return ensemble.values[node]
        left, right = ensemble.left[node], ensemble.right[node]
        if player_of_feature[ensemble.feature_of_column[ensemble.column[node]]] in members:
            return expected(left if goes_left(node) else right)
        both = ensemble.cover[left] + ensemble.cover[right]
        share = ensemble.cover[left] / both if both > 0 else 0.5
        return share * expected(left) + (1 - share) * expected(right)

    for tree, slot in enumerate(ensemble.slots):
        total[slot : slot + ensemble.width] += expected(ensemble.roots[tree])
    return total


@pytest.mark.parametrize("memory", [2**30, 0])
@pytest.mark.parametrize("players", [ALONE, GROUPED], ids=["alone", "grouped"])
def test_values_follow_the_definition(case, players, memory):
    ensemble = read_ensemble(case.model)
    game = make_game(ensemble, players, None, max_memory=memory)
    columns = ensemble.encoder.encode(case.table)
    n = game.n_players
    coalitions = COALITIONS[: 1 << n, :n]
    for row in (1, 62):
        sets = [set(np.flatnonzero(mask).tolist()) for mask in coalitions]
        values = np.array([value_by_definition(ensemble, columns, row, members, players) for members in sets]).T
        dividends = tp.harsanyi(values)
        close = 1e-10 * np.max(abs(values))
        one = columns[:, row : row + 1]
        assert np.max(abs(game.values(columns, row, coalitions) - values)) <= close
        assert np.max(abs(game.empty - values[:, 0])) <= close
        assert np.max(abs(game.full(one)[0] - values[:, -1])) <= close
        assert np.max(abs(game.attributions(one)[0] - tp.methods.shapley(values))) <= close
        assert np.max(abs(game.attributions(one, occlusion=True)[0] - tp.methods.occlusion(values))) <= close
        assert np.max(abs(game.dense_dividends(columns, row) - dividends)) <= close


PEERS = (
    *("xgboost", "xgboost_classes", "lightgbm", "lightgbm_classes", "lightgbm_categories", "catboost", "tree"),
    *("tree_classes", "forest", "forest_classes", "extra_trees", "boosting", "boosting_binary", "histogram"),
)


def by_output(attributions):
    """Shap's (rows, n) or (rows, n, outputs) as (rows, outputs, n)."""
    return attributions[:, None] if attributions.ndim == 2 else np.moveaxis(attributions, 2, 1)


@pytest.mark.parametrize("name", PEERS)
def test_shapley_values_equal_shap(name, fitted_case):
    case = fitted_case(name)
    rows = case.table[:40]
    expected = by_output(np.asarray(shap.TreeExplainer(case.model).shap_values(rows)))
    ensemble = read_ensemble(case.model)
    game = make_game(ensemble, ALONE, None, max_memory=2**30)
    found = game.attributions(ensemble.encoder.encode(rows))
    found, expected = (found[:, -1:], expected[:, -1:]) if found.shape[1] != expected.shape[1] else (found, expected)
    assert np.max(abs(found - expected)) <= 1e-6 * np.max(abs(expected))


def test_a_model_without_training_weights_needs_a_background():
    ensemble = read_ensemble(DecisionTreeRegressor().fit([[0.0], [1.0]], [2.0, 3.0]))
    ensemble.cover[:] = np.nan
    with pytest.raises(ValueError, match="pass a background"):
        make_game(ensemble, np.arange(1), None, max_memory=2**20)
