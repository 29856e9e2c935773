"""Small fitted ensembles of every library, and what each of them predicts as a float64 sum of its leaves."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoost, CatBoostClassifier, CatBoostRegressor
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBClassifier, XGBRegressor

if TYPE_CHECKING:
    from collections.abc import Callable

N_FEATURES = 5


@dataclass(frozen=True)
class Case:
    """A fitted model, what is explained of it, and rows.

    Attributes:
        model: The model.
        table: Rows to draw from.
        options: Of the explainer: which quantity.
        oracle: The same quantity as a float64 function of rows; the model itself where it adds in float64.
        oracle_options: How the oracle is explained.
        largest: Whether it takes infinity.
    """

    model: Any
    table: Any
    options: dict[str, Any] = field(default_factory=dict)
    oracle: Any = None
    oracle_options: dict[str, Any] = field(default_factory=dict)
    infinite: bool = True

    def take(self, rows):
        """Some rows of the table in its container."""
        return self.table.iloc[rows] if hasattr(self.table, "iloc") else self.table[rows]


def numbers(*, holes):
    """Numeric rows with ties, so that some lie on thresholds."""
    rng = np.random.default_rng(5)
    table = rng.normal(size=(220, N_FEATURES)).round(1)
    if holes:
        table[rng.random(table.shape) < 0.1] = np.nan
    return table


def frame():
    """A DataFrame with a category of texts and one of numbers, some cells missing."""
    rng = np.random.default_rng(6)
    table = pd.DataFrame(numbers(holes=True), columns=list("abcde"))
    texts = np.array(["red", "green", "blue", "teal", None], dtype=object)
    table["b"] = pd.Categorical(texts[rng.integers(0, 5, len(table))], categories=["red", "green", "blue", "teal"])
    table["d"] = pd.Categorical(rng.integers(0, 9, len(table)) * 10)
    return table


def texts():
    """The same with texts instead of categories, as CatBoost wants them."""
    table = frame()
    for name in ("b", "d"):
        table[name] = table[name].astype(object).where(table[name].notna(), "none").astype(str)
    return table


def score_of(table):
    """A smooth target with interactions."""
    parts = [table[name].astype("category").cat.codes if table[name].dtype.kind != "f" else table[name]
             for name in table] if hasattr(table, "iloc") else list(np.asarray(table).T)  # fmt: skip
    a, b, c, d, e = (np.nan_to_num(np.asarray(part, dtype=np.float64)) for part in parts)
    return a * b - c * (d > 0) + np.sin(2 * e) + a


def classes_of(table, kinds):
    """Classes 0 .. kinds - 1 of the same."""
    score = score_of(table)
    return np.digitize(score, np.quantile(score, np.linspace(0, 1, kinds + 1)[1:-1]))


def finite(rows):
    """Rows without infinity, which XGBoost's `apply` refuses and its `predict` takes, on the same side of splits."""
    if not hasattr(rows, "iloc"):
        return np.clip(rows, -3e38, 3e38)
    return rows.assign(**{name: rows[name].clip(-3e38, 3e38) for name in rows if rows[name].dtype.kind == "f"})


def leaf_sums(model):
    """XGBoost adds in float32: the float64 sum of the leaves that its own `apply` names."""
    learner = json.loads(model.get_booster().save_raw("json"))["learner"]
    forest = learner["gradient_booster"]["model"]
    stored = [np.array(tree["split_conditions"], dtype=np.float32).astype(np.float64) for tree in forest["trees"]]
    score = np.atleast_1d(np.array(json.loads(learner["learner_model_param"]["base_score"]), dtype=np.float32))
    if learner["objective"]["name"] == "binary:logistic":
        odds = np.float32(1) / score - np.float32(1)
        score = -np.log(odds.astype(np.float64)).astype(np.float32)
    outputs = max(int(learner["learner_model_param"]["num_class"]), 1)

    def total(rows):
        leaves = np.reshape(model.apply(finite(rows)), (len(rows), -1)).astype(int)
        sums = np.tile(np.broadcast_to(score.astype(np.float64), (outputs,)), (len(rows), 1))
        for tree, slot in enumerate(forest["tree_info"]):
            sums[:, slot] += stored[tree][leaves[:, tree]]
        return sums[:, 0] if outputs == 1 else sums

    return total


_RAW, _LOGIT = {"output": "raw"}, {"link": "logit"}
_CAT = dict(iterations=12, depth=4, verbose=0, allow_writing_files=False, thread_count=1)
_LGB = dict(n_estimators=12, num_leaves=12, verbose=-1, n_jobs=1)
_XGB = dict(n_estimators=12, max_depth=4, n_jobs=1)
_SK = dict(n_estimators=12, max_depth=5, random_state=0)


def _xgboost(model, kinds, options, table=None):
    rows = numbers(holes=True) if table is None else table
    model.fit(rows, classes_of(rows, kinds) if kinds else score_of(rows))
    total = leaf_sums(model)
    if options.get("link"):
        return Case(model, rows, options, lambda given: np.stack([-total(given), total(given)], axis=1))
    return Case(model, rows, options, total)


def _other(model, kinds, options, *, holes=True, table=None, infinite=True, **fit):
    rows = numbers(holes=holes) if table is None else table
    model.fit(rows, classes_of(rows, kinds) if kinds else score_of(rows), **fit)
    return Case(model, rows, options, model, options, infinite)


BUILDERS: dict[str, Callable[[], Case]] = {
    "xgboost": lambda: _xgboost(XGBRegressor(**_XGB), 0, {}),
    "xgboost margin": lambda: _xgboost(XGBClassifier(**_XGB), 2, _RAW),
    "xgboost log-odds": lambda: _xgboost(XGBClassifier(**_XGB), 2, _LOGIT),
    "xgboost classes": lambda: _xgboost(XGBClassifier(**_XGB), 3, _RAW),
    "xgboost categories": lambda: _xgboost(XGBRegressor(**_XGB, enable_categorical=True), 0, {}, frame()),
    "lightgbm": lambda: _other(LGBMRegressor(**_LGB), 0, {}),
    "lightgbm margin": lambda: _other(LGBMClassifier(**_LGB), 2, _RAW),
    "lightgbm log-odds": lambda: _other(LGBMClassifier(**_LGB), 2, _LOGIT),
    "lightgbm classes": lambda: _other(LGBMClassifier(**_LGB), 3, _RAW),
    "lightgbm categories": lambda: _other(LGBMRegressor(**_LGB, min_child_samples=3), 0, {}, table=frame()),
    "catboost": lambda: _other(CatBoostRegressor(**_CAT), 0, {}),
    "catboost plain": lambda: _other(CatBoost(_CAT), 0, {}),
    "catboost log-odds": lambda: _other(CatBoostClassifier(**_CAT), 2, _LOGIT),
    "catboost classes": lambda: _other(CatBoostClassifier(**_CAT), 3, _RAW),
    "catboost categories": lambda: _other(
        CatBoostRegressor(**_CAT, max_ctr_complexity=1, one_hot_max_size=5),
        0,
        {},
        table=texts(),
        cat_features=["b", "d"],
    ),
    "histogram": lambda: _other(HistGradientBoostingRegressor(max_iter=12, max_leaf_nodes=12), 0, {}),
    "histogram log-odds": lambda: _other(HistGradientBoostingClassifier(max_iter=12), 2, _LOGIT),
    "histogram classes": lambda: _other(HistGradientBoostingClassifier(max_iter=8), 3, _RAW),
    "histogram categories": lambda: _other(
        HistGradientBoostingRegressor(max_iter=12, categorical_features="from_dtype"), 0, {}, table=frame()
    ),
    "boosting": lambda: _other(GradientBoostingRegressor(**_SK), 0, {}, holes=False, infinite=False),
    "boosting margin": lambda: _other(GradientBoostingClassifier(**_SK), 2, _RAW, holes=False, infinite=False),
    "boosting log-odds": lambda: _other(
        GradientBoostingClassifier(**_SK, loss="exponential"), 2, _LOGIT, holes=False, infinite=False
    ),
    "forest": lambda: _other(RandomForestRegressor(**_SK), 0, {}, infinite=False),
    "forest in threads": lambda: _other(RandomForestRegressor(**_SK, n_jobs=4), 0, {}, infinite=False),
    "forest classes": lambda: _other(RandomForestClassifier(**_SK), 3, {}, infinite=False),
    "extra trees": lambda: _other(ExtraTreesClassifier(**_SK), 2, {}, infinite=False),
    "tree": lambda: _other(DecisionTreeRegressor(max_depth=6, random_state=0), 0, {}, infinite=False),
    "tree classes": lambda: _other(DecisionTreeClassifier(max_depth=6, random_state=0), 3, {}, infinite=False),
    "pipeline": lambda: _other(
        make_pipeline(StandardScaler(), RandomForestRegressor(**_SK)), 0, {}, holes=False, infinite=False
    ),
}


@cache
def case_of(name: str) -> Case:
    """The case of this name, fitted once."""
    return BUILDERS[name]()


@pytest.fixture(params=list(BUILDERS))
def case(request):
    """Every case in turn."""
    return case_of(request.param)


@pytest.fixture
def fitted_case():
    """A case by name."""
    return case_of
