"""Which engine answers, and what the result says about it: trees wherever their leaves add up to what is explained."""

from __future__ import annotations

from types import MethodType

import numpy as np
import pytest
from catboost import CatBoostRegressor, sum_models
from lightgbm import LGBMRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import AdaBoostRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from xgboost import XGBClassifier, XGBRegressor

import taylorpoda as tp
from taylorpoda.dividends.trees.arithmetic import Float64Sum
from taylorpoda.dividends.trees.readers import lightgbm_reader

SHAPLEY = dict(policy="shapley", random_state=0)


def wide(n=40, rows=120):
    """Rows of many features, and a target."""
    table = np.random.default_rng(0).normal(size=(rows, n))
    return table, table[:, 0] * table[:, 1] + table[:, 2]


SUMS = {
    "xgboost": {},
    "xgboost margin": {"output": "raw"},
    "xgboost log-odds": {"link": "logit"},
    "lightgbm classes": {"output": "raw"},
    "forest classes": {},
    "pipeline": {},
}
OTHERS = {
    "xgboost margin": ({}, "the logistic function of a sum of leaves"),
    "lightgbm classes": ({}, "the softmax function of a sum of leaves"),
    "forest classes": ({"link": "logit", "output": 1}, "binary boosters only"),
    "xgboost": ({"masking": "gaussian"}, "masking='gaussian'"),
}


@pytest.mark.parametrize("name", SUMS)
def test_auto_takes_trees_where_leaves_add_up(name, fitted_case):
    case = fitted_case(name)
    explanation = tp.Explainer(case.model, case.table[:20], **SUMS[name], **SHAPLEY)(case.table[:3])
    assert (explanation.engine, explanation.provenance["engine"]) == ("trees", "trees")
    assert "sum of leaves" in explanation.provenance["engine_reason"]
    assert " trees of " in explanation.provenance["trees"]


@pytest.mark.parametrize("name", OTHERS)
def test_auto_takes_every_coalition_elsewhere_and_says_why(name, fitted_case):
    case = fitted_case(name)
    options, why = OTHERS[name]
    background = np.nan_to_num(case.table[:12])
    rows = np.clip(np.nan_to_num(case.table[:2]), -1, 1)
    if "link" in options:
        background = rows = case.table[30:33]
        inside = case.model.predict_proba(case.table)
        assert inside.shape[1] == 3
    explainer = tp.Explainer(case.model, background, **options, **SHAPLEY)
    assert "engine='exact'" in repr(explainer)
    if "link" not in options:
        explanation = explainer(rows)
        assert explanation.engine == "exact"
        assert why in explanation.provenance["engine_reason"]
    with pytest.raises(ValueError, match=f'engine="trees" does not apply: .*{why}'):
        tp.Explainer(case.model, background, engine="trees", **options, **SHAPLEY)


def test_exact_is_exact_where_it_is_named(fitted_case):
    case = fitted_case("lightgbm")
    explanation = tp.Explainer(case.model, case.table[:5], engine="exact", **SHAPLEY)(case.table[:2])
    assert explanation.engine == "exact"
    assert "as asked for" in explanation.provenance["engine_reason"]


def test_bound_methods_are_read_as_their_models(fitted_case):
    forest, boosted = fitted_case("forest classes"), fitted_case("lightgbm")
    assert tp.Explainer(forest.model.predict_proba, forest.table[:9])(forest.table[:2]).engine == "trees"
    assert tp.Explainer(boosted.model.predict, boosted.table[:9])(boosted.table[:2]).engine == "trees"
    labels = tp.Explainer(forest.model.predict, forest.table[:9])(forest.table[:2])
    assert labels.engine == "exact"
    assert "its predict_proba is" in labels.provenance["engine_reason"]


class Doubled(LGBMRegressor):
    """Predicts otherwise than its trees say."""

    def predict(self, X, **options):
        """Twice."""
        return 2 * super().predict(X, **options)


def test_a_subclass_that_predicts_otherwise_is_not_explained_by_its_trees():
    table, y = wide(5)
    model = Doubled(n_estimators=5, verbose=-1).fit(table, y)
    explanation = tp.Explainer(model, table[:20], **SHAPLEY)(table[:3])
    assert explanation.engine == "exact"
    assert np.max(abs(explanation.predictions - model.predict(table[:3]))) == 0
    with pytest.raises(ValueError, match='engine="trees" does not apply'):
        tp.Explainer(model, table[:20], engine="trees", **SHAPLEY)


def test_a_method_replaced_on_the_instance_is_not_explained_by_the_trees_behind_it():
    """No row of the background is clipped here, so the check of bits alone would see nothing."""
    table, y = wide(5, 400)
    model = RandomForestRegressor(5, random_state=0).fit(table, y)
    said = model.predict
    above = table[said(table) > 0.3]
    model.predict = lambda rows: np.maximum(said(rows), 0.3)
    for given in (model, model.predict):
        explanation = tp.Explainer(given, above[:20], **SHAPLEY)(above[20:23])
        assert explanation.engine == "exact"
    assert "replaced on the instance" in tp.Explainer(model, above[:20])(above[20:23]).provenance["engine_reason"]
    with pytest.raises(ValueError, match='engine="trees" does not apply: predict of this RandomForestRegressor was'):
        tp.Explainer(model, above[:20], engine="trees")


def test_a_function_bound_to_a_model_is_not_its_predict():
    table, y = wide(5, 400)
    model = RandomForestRegressor(5, random_state=0).fit(table, y)
    above = table[model.predict(table) > 0.3]

    def predict(self, rows):
        return np.maximum(type(self).predict(self, rows), 0.3)

    explanation = tp.Explainer(MethodType(predict, model), above[:20], **SHAPLEY)(above[20:23])
    assert explanation.engine == "exact"


def test_what_a_reader_stumbles_over_is_a_reason(monkeypatch, fitted_case):
    def stumble(model):
        return {}["params"]

    case = fitted_case("lightgbm")
    monkeypatch.setattr(lightgbm_reader, "read", stumble)
    explanation = tp.Explainer(case.model, case.table[:9], **SHAPLEY)(case.table[:2])
    assert explanation.engine == "exact"
    assert "could not be read as trees (KeyError: 'params')" in explanation.provenance["engine_reason"]
    with pytest.raises(ValueError, match='engine="trees" does not apply: LGBMRegressor could not be read'):
        tp.Explainer(case.model, case.table[:9], engine="trees", **SHAPLEY)


def test_what_a_loss_does_to_the_sum_is_said_in_words():
    table, y = wide(5)
    quiet = dict(verbose=0, allow_writing_files=False)
    for model, target, why in (
        (
            CatBoostRegressor(iterations=3, loss_function="RMSEWithUncertainty", **quiet),
            y,
            "is not known to be a sum of leaves: what",
        ),
        (
            XGBClassifier(n_estimators=3, objective="binary:hinge"),
            y > 0,
            "is a step function of a sum of leaves, not the sum",
        ),
        (LGBMRegressor(n_estimators=3, reg_sqrt=True, verbose=-1), y, "is the square of a sum of leaves, not the sum"),
    ):
        model.fit(table, target)
        assert why in tp.Explainer(model, table[:9], **SHAPLEY)(table[:2]).provenance["engine_reason"]


@pytest.mark.parametrize("engine", ["auto", "trees"])
def test_sums_of_models_of_catboost(engine):
    table, y = wide(5)
    options = dict(iterations=4, verbose=0, allow_writing_files=False)
    model = sum_models([CatBoostRegressor(random_seed=seed, **options).fit(table, y) for seed in (0, 1)])
    explanation = tp.Explainer(model, table[:20], engine=engine, **SHAPLEY)(table[:3])
    assert explanation.engine == "trees"
    assert np.max(abs(explanation.predictions - model.predict(table[:3]))) <= 1e-14


def test_what_only_explained_rows_betray_goes_to_another_engine_too(monkeypatch, fitted_case):
    case = fitted_case("lightgbm")
    own = Float64Sum.predict

    def off(self, leaves, rows):
        said = own(self, leaves, rows)
        return np.where(rows[:, :1] > 100, said + 1e-9, said)

    monkeypatch.setattr(Float64Sum, "predict", off)
    rows = case.table[:3].copy()
    rows[1, 0] = 200.0
    auto, trees = (tp.Explainer(case.model, case.table[:9], engine=engine, **SHAPLEY) for engine in ("auto", "trees"))
    assert auto(case.table[:3]).engine == "trees"
    found = auto(rows)
    assert (found.engine, found.provenance["engine"]) == ("exact", "exact")
    assert "for explained row 1 LGBMRegressor" in found.provenance["engine_reason"]
    with pytest.raises(ValueError, match=r"explained row 1 .* predicts"):
        trees(rows)
    every = tp.Explainer(case.model, case.table[:9], engine="exact", **SHAPLEY)(rows)
    assert np.array_equal(found.values, every.values)


def test_sums_that_are_not_rebuilt_to_the_bit_are_not_believed(monkeypatch, fitted_case):
    case = fitted_case("lightgbm")
    own = Float64Sum.predict
    monkeypatch.setattr(Float64Sum, "predict", lambda self, leaves, rows: np.nextafter(own(self, leaves, rows), 9.0))
    explanation = tp.Explainer(case.model, case.table[:9], **SHAPLEY)(case.table[:2])
    assert explanation.engine == "exact"
    assert "rebuilt to the last bit" in explanation.provenance["engine_reason"]
    assert "np.float64" not in explanation.provenance["engine_reason"]
    with pytest.raises(ValueError, match=r"background row 0 .* predicts"):
        tp.Explainer(case.model, case.table[:9], engine="trees", **SHAPLEY)


UNCOVERED = {
    "no trees": (LinearRegression(), "not a tree ensemble"),
    "weighted medians": (AdaBoostRegressor(n_estimators=3), "not a tree ensemble"),
    "columns mixed": (make_pipeline(PCA(3), RandomForestRegressor(3)), "PCA"),
    "dart": (XGBRegressor(n_estimators=9, booster="dart", rate_drop=0.5), "dart"),
}


@pytest.mark.parametrize("name", UNCOVERED)
def test_other_models_go_to_another_engine(name):
    model, why = UNCOVERED[name]
    table, y = wide(4)
    model.fit(table, y)
    explanation = tp.Explainer(model, table[:9], **SHAPLEY)(table[:2])
    assert explanation.engine == "exact"
    assert why in explanation.provenance["engine_reason"]


def test_beyond_the_table_only_trees_answer_and_the_error_says_what_to_do():
    table, y = wide(40)
    assert tp.Explainer(XGBRegressor(n_estimators=5).fit(table, y), table[:20], **SHAPLEY)(table[:1]).engine == "trees"
    for model in (LinearRegression().fit(table, y), XGBClassifier(n_estimators=5).fit(table, y > 0)):
        with pytest.raises(
            ValueError, match=r"40 players .* trees engine does not apply: .* Ways out: .*group features"
        ):
            tp.Explainer(model, table[:20], **SHAPLEY)


def test_without_a_background_the_trees_must_be_there():
    table, y = wide(4)
    with pytest.raises(TypeError, match=r"background is None; .* not a tree ensemble"):
        tp.Explainer(LinearRegression().fit(table, y), None)
    with pytest.raises(TypeError, match=r"background is None; .* logistic function"):
        tp.Explainer(XGBClassifier(n_estimators=3).fit(table, y > 0), None)
    with pytest.raises(TypeError, match="background is None"):
        tp.Explainer(RandomForestClassifier(3).fit(table, y > 0), None, engine="exact")


def test_trees_without_their_compiler_are_left_to_another_engine(monkeypatch, fitted_case):
    """Where numba is not installed the library still explains, and says what it would have needed."""
    from taylorpoda.dividends.trees import ensemble, layout

    def missing(module, extra, purpose):
        msg = f"{purpose} needs {module}: pip install 'taylorpoda[{extra}]'"
        raise ImportError(msg)

    case = fitted_case("lightgbm")
    for module in (ensemble, layout):
        monkeypatch.setattr(module, "require", missing)
    explanation = tp.Explainer(case.model, case.table[:9], **SHAPLEY)(case.table[:2])
    assert explanation.engine == "exact"
    assert "pip install 'taylorpoda[trees]'" in explanation.provenance["engine_reason"]
    with pytest.raises(ImportError, match="pip install"):
        tp.Explainer(case.model, case.table[:9], engine="trees", **SHAPLEY)
