"""Shapley values of marginal games equal shap's interventional TreeExplainer.

shap's compiled code holds thresholds in single precision, so it misplaces rows that lie exactly on one (two thirds of
a forest's rows of tenths here); these rows lie on none.
"""

from __future__ import annotations

import numpy as np
import pytest
import shap

from taylorpoda.dividends.trees import make_game, read_ensemble

PEERS = ["xgboost", "xgboost_classes", "lightgbm", "lightgbm_classes", "catboost", "tree", "tree_classes", "forest",
         "forest_classes", "extra_trees", "boosting", "histogram"]  # fmt: skip


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("memory", [2**30, 0])
def test_interventional_shapley_values(name, memory, fitted_case):
    case = fitted_case(name)
    off_thresholds = np.random.default_rng(5).normal(scale=1e-3, size=(190, 6))
    table = (case.table[:190] + off_thresholds).astype(np.float32)
    background, rows = table[:150], table[150:]
    if name == "catboost":  # shap reads its splits as if NaN never came
        background, rows = np.nan_to_num(background), np.nan_to_num(rows)
    masker = shap.maskers.Independent(background, max_samples=len(background))
    explainer = shap.TreeExplainer(case.model, masker, feature_perturbation="interventional")
    expected = np.asarray(explainer.shap_values(rows, check_additivity=False))
    expected = expected[:, None] if expected.ndim == 2 else np.moveaxis(expected, 2, 1)
    ensemble = read_ensemble(case.model)
    game = make_game(ensemble, np.arange(6), background, max_memory=memory)
    found = game.attributions(ensemble.encoder.encode(rows))
    assert np.max(abs(found - expected)) <= 1e-6 * np.max(abs(expected))
