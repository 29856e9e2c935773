"""Whatever engine answers, its numbers are means of the model's own answers over hybrid rows.

The models here are those whose predict does something of its own: other boosters, objectives, starts, stops and links.
Brute force asks the model about every coalition, so what an engine assumes of a library cannot stay unseen.
"""

from __future__ import annotations

import numpy as np
import pytest
import xgboost
from catboost import CatBoostRegressor
from lightgbm import Dataset, LGBMClassifier, LGBMRegressor, train
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import GammaRegressor, LinearRegression, PoissonRegressor, TweedieRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import taylorpoda as tp
from taylorpoda.dividends.trees.readers import xgboost_reader

PLAYERS = 6
DOUBLE, SINGLE = 1e-10, 1e-5  # of the largest attribution; XGBoost's own answers are single precision


def rows_of(count=300):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(count, PLAYERS)).round(1)
    table[:, 2] = rng.integers(0, 3, count)
    return table


ROWS = rows_of()
HOLED = np.where(np.random.default_rng(2).random(ROWS.shape) < 0.1, np.nan, ROWS)
SCORE = ROWS[:, 0] * ROWS[:, 1] - ROWS[:, 2] * (ROWS[:, 3] > 0) + np.sin(2 * ROWS[:, 4]) + ROWS[:, 0]
POSITIVE, SHARE = abs(SCORE) + 0.1, (SCORE - SCORE.min()) / np.ptp(SCORE)
CLASSES = np.digitize(SCORE, np.quantile(SCORE, [0.33, 0.66]))
NOISE = np.random.default_rng(3).permutation(SCORE)

XGB = dict(n_estimators=12, max_depth=4, n_jobs=1)
LGB = dict(n_estimators=12, num_leaves=12, min_child_samples=4, verbose=-1, n_jobs=1)
CAT = dict(iterations=10, depth=4, verbose=0, allow_writing_files=False, thread_count=1)
FLAT = dict(n_estimators=8, max_depth=5, random_state=0)
TREES, EXACT, EITHER = {"trees"}, {"exact"}, {"trees", "exact"}


def xgb(target=SCORE, **options):
    return lambda: xgboost.XGBRegressor(**{**XGB, **options}).fit(HOLED, target)


def lgb(target=SCORE, **options):
    return lambda: LGBMRegressor(**{**LGB, **options}).fit(HOLED, target)


def cat(target=SCORE, **options):
    return lambda: CatBoostRegressor(**{**CAT, **options}).fit(HOLED, target)


def stopped():
    model = xgboost.XGBRegressor(n_estimators=60, max_depth=3, early_stopping_rounds=4, n_jobs=1)
    return model.fit(HOLED, SCORE, eval_set=[(HOLED[:90], SCORE[:90] + NOISE[:90])], verbose=False)


def stopped_booster():
    noisy = xgboost.DMatrix(HOLED[:90], SCORE[:90] + NOISE[:90])
    options = dict(evals=[(noisy, "noisy")], early_stopping_rounds=3, verbose_eval=False)
    return xgboost.train({"max_depth": 3}, xgboost.DMatrix(HOLED, SCORE), 60, **options)


def ranked():
    return xgboost.XGBRanker(**XGB).fit(HOLED, CLASSES, qid=np.repeat(np.arange(30), 10))


def started(**options):
    return lambda: GradientBoostingRegressor(**FLAT, **options).fit(ROWS, SCORE)


# How it is fitted, what explains it, how closely its own answer is a sum.
CASES = {
    "xgboost": (xgb(), TREES, SINGLE),
    "xgboost of 1 parallel forest": (
        lambda: xgboost.XGBRFRegressor(**XGB, random_state=0).fit(HOLED, SCORE),
        TREES,
        SINGLE,
    ),
    "xgboost dart": (xgb(booster="dart", rate_drop=0.3), EXACT, SINGLE),
    "xgboost linear": (
        lambda: xgboost.XGBRegressor(booster="gblinear", n_estimators=9).fit(ROWS, SCORE),
        EXACT,
        SINGLE,
    ),
    "xgboost of two targets": (xgb(np.column_stack([SCORE, SCORE**2])), TREES, SINGLE),
    "xgboost of vector leaves": (
        xgb(np.column_stack([SCORE, SCORE**2]), multi_strategy="multi_output_tree"),
        TREES,
        SINGLE,
    ),
    "xgboost stopped early": (stopped, TREES, SINGLE),
    "xgboost booster stopped early": (stopped_booster, TREES, SINGLE),
    "xgboost slice": (lambda: stopped_booster()[1:3], TREES, SINGLE),
    "xgboost ranker": (ranked, TREES, SINGLE),
    "xgboost one quantile": (xgb(objective="reg:quantileerror", quantile_alpha=0.3), TREES, SINGLE),
    # Newer versions put the quantiles of a row in order.
    "xgboost quantiles": (xgb(objective="reg:quantileerror", quantile_alpha=[0.3, 0.5, 0.7]), EITHER, SINGLE),
    "xgboost absolute": (xgb(objective="reg:absoluteerror"), TREES, SINGLE),
    "xgboost log error": (xgb(POSITIVE, objective="reg:squaredlogerror"), TREES, SINGLE),
    "xgboost shares": (xgb(SHARE, objective="reg:logistic"), EXACT, SINGLE),
    "xgboost counts": (xgb(POSITIVE.round(), objective="count:poisson"), EXACT, SINGLE),
    "xgboost hinge": (xgb(SCORE > 0, objective="binary:hinge"), EXACT, SINGLE),
    "lightgbm linear leaves": (lgb(linear_tree=True), EXACT, DOUBLE),
    "lightgbm square roots": (lgb(reg_sqrt=True), EXACT, DOUBLE),
    "lightgbm counts": (lgb(POSITIVE.round(), objective="poisson"), EXACT, DOUBLE),
    "lightgbm dart": (lgb(boosting_type="dart", drop_rate=0.5), TREES, DOUBLE),
    "lightgbm forest": (lgb(boosting_type="rf", subsample=0.6, subsample_freq=1), TREES, DOUBLE),
    "lightgbm extra trees": (lgb(extra_trees=True), TREES, DOUBLE),
    "lightgbm own objective": (
        lgb(objective=lambda truth, guess: (guess - truth, np.ones_like(guess))),
        TREES,
        DOUBLE,
    ),
    "lightgbm initial scores": (
        lambda: train(dict(verbose=-1, num_leaves=6, num_threads=1), Dataset(HOLED, SCORE, init_score=SCORE / 2), 9),
        TREES,
        DOUBLE,
    ),
    "catboost two targets": (cat(np.column_stack([SCORE, SCORE**2]), loss_function="MultiRMSE"), TREES, DOUBLE),
    "catboost with variance": (cat(loss_function="RMSEWithUncertainty"), EXACT, DOUBLE),
    "catboost counts": (cat(POSITIVE, loss_function="Poisson"), EXACT, DOUBLE),
    "catboost depthwise": (cat(grow_policy="Depthwise", nan_mode="Max"), TREES, DOUBLE),
    "boosting from a model": (started(init=LinearRegression()), EXACT, DOUBLE),
    "boosting from zero": (started(init="zero"), TREES, DOUBLE),
    "boosting stopped early": (
        lambda: GradientBoostingRegressor(n_estimators=60, n_iter_no_change=3, random_state=0).fit(ROWS, SCORE),
        TREES,
        DOUBLE,
    ),
    "histogram counts": (
        lambda: HistGradientBoostingRegressor(max_iter=6, loss="poisson").fit(HOLED, POSITIVE),
        EXACT,
        DOUBLE,
    ),
    "histogram quantile": (
        lambda: HistGradientBoostingRegressor(max_iter=6, loss="quantile", quantile=0.3).fit(HOLED, SCORE),
        TREES,
        DOUBLE,
    ),
    "forest of three targets": (
        lambda: ExtraTreesRegressor(**FLAT).fit(ROWS, np.column_stack([SCORE, SCORE**2, np.ones(len(SCORE))])),
        TREES,
        DOUBLE,
    ),
    "forest of named classes": (
        lambda: RandomForestClassifier(**FLAT).fit(ROWS, np.array(["low", "middle", "high"])[CLASSES]),
        TREES,
        DOUBLE,
    ),
}
PLAIN = ("boosting", "forest", "xgboost linear")  # without missing cells


def answers(model, rows):
    if isinstance(model, xgboost.Booster):
        return model.predict(xgboost.DMatrix(rows))
    return (getattr(model, "predict_proba", None) or model.predict)(rows)


def by_brute_force(model, rows, background):
    """Shapley values from the definition, shape (rows, outputs, players)."""
    present = (np.arange(1 << PLAYERS)[:, None] >> np.arange(PLAYERS) & 1).astype(bool)
    hybrids = np.where(present[None, :, None, :], rows[:, None, None, :], background[None, None])
    told = np.asarray(answers(model, hybrids.reshape(-1, PLAYERS)), dtype=np.float64)
    values = told.reshape(len(rows), 1 << PLAYERS, len(background), -1).mean(axis=2)
    return tp.methods.shapley(np.moveaxis(values, 2, 1))


@pytest.mark.parametrize("name", CASES)
def test_attributions_are_those_of_the_model_itself(name):
    fit, engines, close = CASES[name]
    model = fit()
    table = ROWS if name.startswith(PLAIN) else HOLED
    background, rows = table[100:113], table[:5]
    explanation = tp.Explainer(model, background, policy="shapley")(rows)
    assert explanation.engine in engines
    expected = by_brute_force(model, rows, background)
    found = explanation.values[:, None] if explanation.values.ndim == 2 else np.moveaxis(explanation.values, 2, 1)
    assert np.max(abs(found - expected)) <= close * np.max(abs(expected))


FOREST = dict(LGB, boosting_type="rf", subsample=0.6, subsample_freq=1)


def log_odds(model, rows):
    inside = model.predict_proba(rows)
    return np.log(inside) - np.log1p(-inside)


# What is explained of a model, and what the library itself says it is.
MARGINS = {
    "histogram poisson": (
        lambda: HistGradientBoostingRegressor(max_iter=6, loss="poisson").fit(HOLED, POSITIVE),
        lambda model, rows: np.log(model.predict(rows)),
    ),
    "histogram gamma": (
        lambda: HistGradientBoostingRegressor(max_iter=6, loss="gamma").fit(HOLED, POSITIVE),
        lambda model, rows: np.log(model.predict(rows)),
    ),
    "histogram squares": (
        lambda: HistGradientBoostingRegressor(max_iter=6).fit(HOLED, SCORE),
        lambda model, rows: model.predict(rows),
    ),
    "histogram poisson in a pipeline": (
        lambda: make_pipeline(
            StandardScaler(), "passthrough", HistGradientBoostingRegressor(max_iter=6, loss="poisson")
        ).fit(HOLED, POSITIVE),
        lambda model, rows: np.log(model.predict(rows)),
    ),
    "histogram poisson found by a search": (
        lambda: GridSearchCV(
            make_pipeline(StandardScaler(), HistGradientBoostingRegressor(max_iter=6, loss="poisson")), {}, cv=2
        ).fit(HOLED, POSITIVE),
        lambda model, rows: np.log(model.predict(rows)),
    ),
    "xgboost found by a search": (
        lambda: GridSearchCV(xgboost.XGBClassifier(**XGB), {}, cv=2).fit(HOLED, SCORE > 0),
        lambda model, rows: model.best_estimator_.predict(rows, output_margin=True),
    ),
    "lightgbm forest": (
        lambda: LGBMRegressor(**FOREST).fit(HOLED, SCORE),
        lambda model, rows: model.predict(rows, raw_score=True),
    ),
    "lightgbm forest of classes": (
        lambda: LGBMClassifier(**FOREST).fit(HOLED, CLASSES),
        lambda model, rows: model.predict(rows, raw_score=True),
    ),
    "lightgbm forest in a pipeline": (
        lambda: make_pipeline(StandardScaler(), LGBMClassifier(**FOREST)).fit(HOLED, SCORE > 0),
        lambda model, rows: model.predict(rows, raw_score=True),
    ),
    "lightgbm forest as log-odds": (lambda: LGBMClassifier(**FOREST).fit(HOLED, SCORE > 0), log_odds),
    "lightgbm forest in a pipeline as log-odds": (
        lambda: make_pipeline(StandardScaler(), LGBMClassifier(**FOREST)).fit(HOLED, SCORE > 0),
        log_odds,
    ),
}


@pytest.mark.parametrize("name", MARGINS)
def test_margins_are_those_of_the_library(name):
    """Of a log link raw was once what predict returns; LightGBM's forests were refused."""
    fit, says = MARGINS[name]
    model, background, rows = fit(), HOLED[100:113], HOLED[:5]
    options = {"link": "logit"} if name.endswith("log-odds") else {"output": "raw"}
    explanation = tp.Explainer(model, background, policy="shapley", **options)(rows)
    assert explanation.engine == "trees"
    expected = np.asarray(says(model, rows), dtype=np.float64)
    close = SINGLE if name.startswith("xgboost") else DOUBLE
    assert np.max(abs(explanation.predictions - expected)) <= close * np.max(abs(expected))
    assert np.max(abs(explanation.base_values - np.mean(says(model, background), axis=0))) <= close * 9
    every = tp.Explainer(model, background, policy="shapley", engine="exact", **options)(rows)
    assert np.max(abs(explanation.values - every.values)) <= close * np.max(abs(every.values))
    assert np.max(abs(explanation.discrepancy)) <= 1e-13


class HalfGradientBoosting(GradientBoostingRegressor):
    """Predicts something else than its margin."""

    def predict(self, X):
        """Half of it."""
        return super().predict(X) / 2


class HalfPipeline(Pipeline):
    """Does something with what its last step says."""

    def predict(self, X):
        """Half of it."""
        return super().predict(X) / 2


@pytest.mark.parametrize(
    "model",
    [
        PoissonRegressor(),
        GammaRegressor(),
        TweedieRegressor(power=1.5, link="log"),
        HalfGradientBoosting(n_estimators=3),
        HalfPipeline([("boosting", GradientBoostingRegressor(n_estimators=3))]),
        HalfPipeline([("boosting", HistGradientBoostingRegressor(max_iter=3))]),
    ],
)
def test_raw_is_refused_where_the_margin_is_not_known(model):
    for fitted in (model.fit(ROWS, POSITIVE), make_pipeline(StandardScaler(), clone(model)).fit(ROWS, POSITIVE)):
        with pytest.raises(ValueError, match=r'output="raw" is the .*Use output=None'):
            tp.Explainer(fitted, ROWS[:9], output="raw")


class Quantiles:
    """A booster of three outputs as far as it matters here; `ordered` says whether its predict sorts them."""

    def __init__(self, *, ordered):
        self.ordered = ordered

    def predict(self, rows, *, output_margin, validate_features):
        margins = rows.get_base_margin().reshape(rows.num_row(), -1)
        return np.sort(margins, axis=1) if self.ordered and not output_margin else margins


@pytest.mark.parametrize("ordered", [True, False])
def test_outputs_that_predict_puts_in_order_are_seen_without_a_row_that_shows_it(ordered):
    """XGBoost 3.4 sorts quantiles; where background and explained rows do not cross, the check of bits saw nothing."""
    assert xgboost_reader._rearranges(Quantiles(ordered=ordered), 3, PLAYERS) == ordered
    link = xgboost_reader._link("reg:quantileerror", Quantiles(ordered=ordered), 3, PLAYERS)
    assert link == ("ordering" if ordered else "identity")
    assert xgboost_reader._link("reg:quantileerror", None, 1, PLAYERS) == "identity"
