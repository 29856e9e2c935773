"""The trees engine says what enumerating every coalition of the float64 sum of leaves says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import shap

import taylorpoda as tp
from taylorpoda.dividends.trees import read_ensemble

CLOSE = 1e-10
BACKGROUND = np.arange(100, 120)


def odd_rows(case):
    """Rows of the table, among them infinities, and cells on the thresholds of splits and just beside them."""
    rows = case.take(np.arange(9)).copy()
    ensemble = read_ensemble(case.model)
    split = np.flatnonzero((ensemble.column >= 0) & ((ensemble.flags & 2) == 0))
    place = rows.iloc if isinstance(rows, pd.DataFrame) else rows
    numeric = [j for j in range(5) if not isinstance(rows, pd.DataFrame) or rows.dtypes.iloc[j].kind == "f"]
    if "Pipeline" not in ensemble.source:  # its thresholds are those of transformed columns
        for row, node in enumerate(split[:: max(1, len(split) // 5)][:5]):
            feature = int(ensemble.feature_of_column[ensemble.column[node]])
            if feature in numeric and np.isfinite(ensemble.threshold[node]):
                at = ensemble.threshold[node]
                place[row, feature] = (at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf))[row % 3]
    if case.infinite:
        place[6, numeric[0]], place[7, numeric[1]] = np.inf, -np.inf
    return rows


def explained(case, rows, *, groups=None, background=None, policy="shapley"):
    """By the trees engine, and by every coalition of the float64 sum."""
    stand_ins = case.take(BACKGROUND) if background is None else background
    common = dict(policy=policy, groups=groups, random_state=0)
    trees = tp.Explainer(case.model, stand_ins, **case.options, **common)(rows)
    every = tp.Explainer(case.oracle, stand_ins, engine="exact", **case.oracle_options, **common)(rows)
    assert trees.engine == "trees"
    assert every.engine == "exact"
    return trees, every


def check(trees, every):
    """Everything that both say."""
    scale = np.max(abs(every.predictions))
    close = CLOSE * scale
    for name in ("values", "base_values", "predictions", "lower", "upper"):
        assert np.max(abs(getattr(trees, name) - getattr(every, name))) <= close, name
    for order in (1, 2, 3):
        assert np.max(abs(trees.interactions(order) - every.interactions(order))) <= close
    assert np.max(abs(trees.discrepancy)) <= 1e-13 * scale
    for row in (0, 7):
        for output in range(every.games.full.shape[1]):
            dense = every.games.dividends(row, output)
            assert np.max(abs(trees.games.dividends(row, output).to_dense() - dense)) <= close


def test_it_equals_the_dense_engine(case):
    trees, every = explained(case, odd_rows(case))
    check(trees, every)


@pytest.mark.parametrize("name", ["xgboost", "xgboost classes", "lightgbm", "forest", "tree classes"])
def test_rounding_is_what_the_model_s_own_arithmetic_rounds_away(name, fitted_case):
    case = fitted_case(name)
    explanation = tp.Explainer(case.model, case.table[BACKGROUND], policy="shapley", **case.options)(case.table[:9])
    ask = dict(output_margin=True) if case.options else {}
    own = getattr(case.model, "predict_proba" if name == "tree classes" else "predict")(case.table[:9], **ask)
    assert np.array_equal(explanation.rounding, own.astype(np.float64) - explanation.predictions)
    assert np.max(abs(explanation.rounding)) <= (1e-6 if "xgboost" in name else 1e-14)
    assert np.any(explanation.rounding != 0) == (name in ("xgboost", "xgboost classes", "forest"))


@pytest.mark.parametrize("name", ["xgboost", "lightgbm categories", "forest classes", "catboost log-odds"])
def test_groups_and_weights(name, fitted_case):
    case = fitted_case(name)
    summary = tp.background(case.table, 12, random_state=0)
    trees, every = explained(case, odd_rows(case), groups=["p", "q", "p", "r", "r"], background=summary)
    assert trees.feature_names == ("p", "q", "r")
    assert len(set(summary.weights.tolist())) > 1
    check(trees, every)


def test_one_background_row_as_a_baseline(fitted_case):
    case = fitted_case("lightgbm")
    common = dict(masking="baseline", policy="shapley")
    trees = tp.Explainer(case.model, case.table[3], **common)(case.table[:9])
    every = tp.Explainer(case.model, case.table[3], engine="exact", **common)(case.table[:9])
    assert (trees.engine, trees.provenance["masking"]) == ("trees", "baseline")
    check(trees, every)


@pytest.mark.parametrize("policy", ["dirichlet", "optimal"])
@pytest.mark.parametrize("name", ["lightgbm", "forest classes"])
@pytest.mark.parametrize("utility", ["inclusion_aup", "exclusion_mse"])
def test_policies_and_scores_are_those_of_the_dense_room(name, policy, utility, fitted_case):
    case = fitted_case(name)
    rows = case.table[:6]
    common = dict(policy=policy, utility=utility, random_state=4)
    trees = tp.Explainer(case.model, case.table[BACKGROUND], **case.options, **common)(rows)
    every = tp.Explainer(case.model, case.table[BACKGROUND], engine="exact", **case.options, **common)(rows)
    scale = np.max(abs(every.predictions))
    assert trees.engine == "trees"
    for judged in ("score", "shapley_score", "bound", "ceiling"):
        assert np.max(abs(getattr(trees, judged) - getattr(every, judged))) <= 1e-9 * scale, judged
    assert np.array_equal(trees.certified, every.certified)
    if policy == "dirichlet":
        assert np.max(abs(trees.values - every.values)) <= CLOSE * scale
    assert np.max(abs(trees.discrepancy)) <= 1e-12 * scale


@pytest.mark.parametrize(
    ("name", "picked"),
    [("lightgbm margin", None), ("forest classes", None), ("forest classes", 1), ("xgboost classes", None)],
)
def test_labels_where_classes_compete(name, picked, fitted_case):
    case = fitted_case(name)
    y = case.model.predict(case.table[:8])
    options = dict(case.options if picked is None else {"output": picked})
    trees = tp.Explainer(case.model, case.table[BACKGROUND], policy="shapley", utility="inclusion_auc", **options)
    every = tp.Explainer(
        case.model, case.table[BACKGROUND], policy="shapley", utility="inclusion_auc", engine="exact", **options
    )
    found, expected = trees(case.table[:8], y), every(case.table[:8], y)
    assert found.engine == "trees"
    assert found.output_names == expected.output_names
    assert np.array_equal(found.score, expected.score)
    assert np.array_equal(found.scores("exclusion_auc"), expected.scores("exclusion_auc"))


PEERS = ["xgboost", "xgboost margin", "xgboost classes", "lightgbm", "forest", "forest classes", "boosting"]


@pytest.mark.parametrize("name", PEERS)
def test_shapley_values_equal_the_interventional_tree_explainer_of_shap(name, fitted_case):
    case = fitted_case(name)
    shifted = case.table + 0.013  # off the thresholds, where shap does not cast cells as scikit-learn does
    background, rows = shifted[100:180], shifted[:15]
    masker = shap.maskers.Independent(background, max_samples=len(background))
    peer = shap.TreeExplainer(case.model, masker, feature_perturbation="interventional")
    expected = np.asarray(peer.shap_values(rows, check_additivity=False))
    found = tp.Explainer(case.model, background, policy="shapley", **case.options)(rows)
    assert found.engine == "trees"
    assert np.max(abs(found.values - expected)) <= 1e-6 * np.max(abs(expected))


def test_path_dependent_values_equal_shap_without_a_background(fitted_case):
    case = fitted_case("lightgbm")
    expected = np.asarray(shap.TreeExplainer(case.model).shap_values(case.table[:15]))
    found = tp.Explainer(case.model, None, policy="shapley")(case.table[:15])
    assert (found.engine, found.provenance["masking"]) == ("trees", "path-dependent")
    assert found.provenance["background_rows"] == 0
    assert np.max(abs(found.values - expected)) <= 1e-6 * np.max(abs(expected))
    assert np.max(abs(found.discrepancy)) <= 1e-12


def test_a_row_is_answered_alone_as_in_a_batch(case):
    rows = case.take(np.arange(12))
    explainer = tp.Explainer(case.model, case.take(BACKGROUND), policy="shapley", **case.options)
    together = explainer(rows).values
    alone = np.concatenate([explainer(case.take(np.array([row]))).values for row in range(12)])
    assert np.array_equal(alone, together)
