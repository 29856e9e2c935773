"""XGBoost, LightGBM and CatBoost: both interfaces explain exactly what their own predict returns."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp

catboost = pytest.importorskip("catboost")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")

FEW = {"n_estimators": 4, "n_jobs": 1}
SPECIES = ["setosa", "versicolor", "virginica"]


@pytest.fixture(scope="module")
def models(iris, species):
    X, y = iris
    binary = (y == 2).astype(int)
    return {
        "xgb classifier": xgboost.XGBClassifier(**FEW).fit(X, y),
        "xgb binary": xgboost.XGBClassifier(**FEW).fit(X, binary),
        "xgb regressor": xgboost.XGBRegressor(**FEW).fit(X, y),
        "xgb softprob": xgboost.train({"objective": "multi:softprob", "num_class": 3}, xgboost.DMatrix(X, y), 4),
        "xgb softmax": xgboost.train({"objective": "multi:softmax", "num_class": 3}, xgboost.DMatrix(X, y), 4),
        "xgb logistic": xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(X, binary), 4),
        "xgb logitraw": xgboost.train({"objective": "binary:logitraw"}, xgboost.DMatrix(X, binary), 4),
        "xgb nameless": xgboost.train({"objective": "reg:squarederror"}, xgboost.DMatrix(X.to_numpy(), y), 4),
        "lgb classifier": lightgbm.LGBMClassifier(**FEW, verbose=-1).fit(X, species),
        "lgb regressor": lightgbm.LGBMRegressor(**FEW, verbose=-1).fit(X, y),
        "lgb multiclass": lightgbm.train(
            {"objective": "multiclass", "num_class": 3, "verbose": -1}, lightgbm.Dataset(X, y), 4
        ),
        "lgb binary": lightgbm.train({"objective": "binary", "verbose": -1}, lightgbm.Dataset(X, binary), 4),
        "lgb poisson": lightgbm.train({"objective": "poisson", "verbose": -1}, lightgbm.Dataset(X, y), 4),
        "cat classifier": _cat(catboost.CatBoostClassifier, X, species),
        "cat regressor": _cat(catboost.CatBoostRegressor, X, y),
        "cat plain": _cat(catboost.CatBoost, X, binary, loss_function="Logloss"),
    }


def _cat(kind, X, y, **options):
    return (
        kind(dict(iterations=4, verbose=0, allow_writing_files=False, **options)).fit(X, y)
        if (kind is catboost.CatBoost)
        else kind(iterations=4, verbose=0, allow_writing_files=False, **options).fit(X, y)
    )


# What the library itself says, and the name and kind of what is explained.
CASES = {
    "xgb classifier": (lambda m, X: m.predict_proba(X), "XGBClassifier.predict_proba", "probability"),
    "xgb binary": (lambda m, X: m.predict_proba(X), "XGBClassifier.predict_proba", "probability"),
    "xgb regressor": (lambda m, X: m.predict(X), "XGBRegressor.predict", "value"),
    "xgb softprob": (lambda m, X: m.predict(xgboost.DMatrix(X)), "Booster.predict", "probability"),
    "xgb softmax": (lambda m, X: m.predict(xgboost.DMatrix(X)), "Booster.predict", "value"),
    "xgb logistic": (lambda m, X: m.predict(xgboost.DMatrix(X)), "Booster.predict", "probability"),
    "xgb logitraw": (lambda m, X: m.predict(xgboost.DMatrix(X)), "Booster.predict", "margin"),
    "xgb nameless": (lambda m, X: m.predict(xgboost.DMatrix(X.to_numpy())), "Booster.predict", "value"),
    "lgb classifier": (lambda m, X: m.predict_proba(X), "LGBMClassifier.predict_proba", "probability"),
    "lgb regressor": (lambda m, X: m.predict(X), "LGBMRegressor.predict", "value"),
    "lgb multiclass": (lambda m, X: m.predict(X), "Booster.predict", "probability"),
    "lgb binary": (lambda m, X: m.predict(X), "Booster.predict", "probability"),
    "lgb poisson": (lambda m, X: m.predict(X), "Booster.predict", "value"),
    "cat classifier": (lambda m, X: m.predict_proba(X), "CatBoostClassifier.predict_proba", "probability"),
    "cat regressor": (lambda m, X: m.predict(X), "CatBoostRegressor.predict", "value"),
    "cat plain": (lambda m, X: m.predict(X), "CatBoost.predict", "margin"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_explained_is_what_predict_returns(name, models, iris, explain):
    truth, title, kind = CASES[name]
    explanation = explain(models[name], engine="exact")
    assert explanation.provenance["model"] == title
    expected = np.asarray(truth(models[name], iris[0].iloc[[1, 60, 120]]), dtype=np.float64)
    assert np.array_equal(explanation.predictions, expected)
    from taylorpoda.games.models import bind_model

    assert bind_model(models[name]).quantity.kind == kind
    assert explanation.provenance["versions"].keys() & {"xgboost", "lightgbm", "catboost"}


MARGINS = {
    "xgb classifier": lambda m, X: m.predict(X, output_margin=True),
    "xgb binary": lambda m, X: m.predict(X, output_margin=True),
    "xgb softprob": lambda m, X: m.predict(xgboost.DMatrix(X), output_margin=True),
    "xgb softmax": lambda m, X: m.predict(xgboost.DMatrix(X), output_margin=True),
    "xgb logistic": lambda m, X: m.predict(xgboost.DMatrix(X), output_margin=True),
    "lgb classifier": lambda m, X: m.predict(X, raw_score=True),
    "lgb multiclass": lambda m, X: m.predict(X, raw_score=True),
    "lgb binary": lambda m, X: m.predict(X, raw_score=True),
    "cat classifier": lambda m, X: m.predict(X, prediction_type="RawFormulaVal"),
    "cat plain": lambda m, X: m.predict(X, prediction_type="RawFormulaVal"),
}


@pytest.mark.parametrize("name", MARGINS)
def test_raw_is_the_untransformed_margin(name, models, iris, explain):
    explanation = explain(models[name], output="raw", engine="exact")
    expected = np.asarray(MARGINS[name](models[name], iris[0].iloc[[1, 60, 120]]), dtype=np.float64)
    assert np.array_equal(explanation.predictions, expected)


def test_three_classes_of_xgboost_are_three_outputs_and_a_name_picks_one(models, iris, explain):
    everything = explain(models["xgb classifier"], output_names=SPECIES)
    assert everything.values.shape == (3, 4, 3)
    assert everything.output_names == tuple(SPECIES)
    one = explain(models["xgb classifier"], output_names=SPECIES, output="setosa")
    assert one.values.shape == (3, 4)
    assert np.array_equal(one.values, everything.values[:, :, 0])
    assert np.array_equal(everything[:, "setosa"].values, one.values)
    by_class = explain(models["xgb classifier"], output=2)
    assert np.array_equal(by_class.values, everything.values[:, :, 2])


def test_names_for_the_classes_are_also_read_in_y(models, iris):
    X, y = iris
    explainer = tp.Explainer(
        models["xgb classifier"], X[::13], output_names=SPECIES, utility="inclusion_auc", policy="shapley"
    )
    by_name = explainer(X[:6], np.array(SPECIES)[y[:6]])
    assert np.array_equal(by_name.score, explainer(X[:6], y[:6]).score)


def test_string_classes_of_lightgbm_and_catboost_pick_an_output(models, explain):
    for name in ("lgb classifier", "cat classifier"):
        everything = explain(models[name])
        assert everything.output_names == tuple(SPECIES)
        assert np.array_equal(explain(models[name], output="virginica").values, everything.values[:, :, 2])


def test_one_probability_of_two_classes_speaks_for_the_second(models, explain):
    whole = explain(models["xgb logistic"])
    assert whole.values.ndim == 2
    assert np.array_equal(explain(models["xgb logistic"], output=1).values, whole.values)
    with pytest.raises(ValueError, match=r"output=0: the model Booster\.predict gives one number, which speaks for 1"):
        explain(models["xgb logistic"], output=0)


def test_logit_of_a_booster_is_its_margin(models, explain):
    logit, margin = explain(models["lgb binary"], link="logit"), explain(models["lgb binary"], output="raw")
    assert np.max(np.abs(logit.predictions - margin.predictions)) < 1e-9
    assert np.max(np.abs(logit.values - margin.values)) < 1e-9


def test_a_booster_with_names_reads_arrays_and_one_without_reads_frames(models, iris, explain):
    X, _ = iris
    named = explain(models["xgb softprob"])
    nameless = explain(models["xgb softprob"], X[::13].to_numpy(), X.iloc[[1, 60, 120]].to_numpy())
    assert np.array_equal(named.values, nameless.values)
    assert nameless.feature_names == tuple(X.columns)
    arrays = explain(models["xgb nameless"], X[::13].to_numpy(), X.iloc[[1, 60, 120]].to_numpy())
    assert np.array_equal(explain(models["xgb nameless"]).values, arrays.values)
    assert arrays.feature_names == ("x0", "x1", "x2", "x3")


def test_made_up_names_are_not_shown(iris, explain):
    X, y = iris
    model = lightgbm.LGBMRegressor(**FEW, verbose=-1).fit(X.to_numpy(), y)
    assert explain(model, X[::13].to_numpy(), X[:2].to_numpy()).feature_names == ("x0", "x1", "x2", "x3")


def test_the_margin_of_an_ensemble_at_the_end_of_a_pipeline(iris, explain):
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = iris
    pipeline = make_pipeline(StandardScaler(), xgboost.XGBClassifier(**FEW)).fit(X, y)
    margin = pipeline.predict(X.iloc[[1, 60, 120]], output_margin=True)
    assert np.array_equal(explain(pipeline, output="raw", engine="exact").predictions, margin.astype(float))
    closed = explain(pipeline, output="raw")
    assert closed.engine == "trees"
    assert np.max(np.abs(closed.predictions + closed.rounding - margin)) < 1e-14
    assert np.max(np.abs(closed.rounding)) < 1e-6
    search = GridSearchCV(xgboost.XGBClassifier(**FEW), {"max_depth": [2]}, cv=2).fit(X, y)
    assert explain(search).values.shape == (3, 4, 3)


def test_native_categories_of_lightgbm_and_catboost_need_no_encoding():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=200),
            "color": pd.Categorical(rng.choice(["red", "green", "blue"], 200)),
            "code": pd.Categorical(rng.choice([3, 5, 7], 200)),
        }
    )
    y = X["size"] + (X["color"] == "red") * 2.0 - (X["code"] == 5) * (X["color"] == "blue")
    lgb = lightgbm.LGBMRegressor(n_estimators=20, min_child_samples=5, verbose=-1).fit(X, y)
    plain = X.astype({"color": str, "code": int})
    cat = catboost.CatBoostRegressor(
        iterations=20, verbose=0, cat_features=["color", "code"], allow_writing_files=False
    ).fit(plain, y)
    for model, table in ((lgb, X), (cat, plain)):
        exact = tp.Explainer(model, table[:40], policy="optimal", engine="exact")(table[100:104])
        assert np.array_equal(exact.predictions, model.predict(table[100:104]))
        closed = tp.Explainer(model, table[:40], policy="optimal")(table[100:104])
        assert np.max(np.abs(closed.predictions + closed.rounding - exact.predictions)) < 1e-14
        assert np.max(np.abs(closed.values - exact.values)) < 1e-9
        for explanation in (exact, closed):
            assert np.max(np.abs(explanation.discrepancy)) < 1e-12
            assert np.max(np.abs(explanation.values[:, 1])) > 0.1
            assert list(explanation.data.dtypes) == list(table.dtypes)


@pytest.mark.parametrize("name", ["xgb softprob", "lgb classifier", "cat classifier", "lgb binary"])
def test_an_explainer_pickles_if_its_model_does(name, models, iris):
    X, _ = iris
    explainer = tp.Explainer(models[name], X[::13], policy="shapley", random_state=0)
    again = pickle.loads(pickle.dumps(explainer))
    assert np.array_equal(again(X[:3]).values, explainer(X[:3]).values)
