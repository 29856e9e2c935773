"""Whatever engine answers, its numbers are means of the model's own answers over hybrid rows.

The models here are those whose predict does something of its own: other boosters, objectives, starts, stops and links.
Brute force asks the model about every coalition, so what an engine assumes of a library cannot stay unseen.
"""

from __future__ import annotations

import numpy as np
import pytest
import xgboost
from catboost import CatBoostRegressor
from lightgbm import Dataset, LGBMRegressor, train
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression

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
