"""One table of fitted models for every test of this room: what each library can put into its trees."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier, CatBoostRegressor
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor
from threadpoolctl import threadpool_limits
from xgboost import XGBClassifier, XGBRegressor

from taylorpoda.dividends.trees import read_ensemble

if TYPE_CHECKING:
    from collections.abc import Callable

N_FEATURES = 6


@dataclass(frozen=True)
class Case:
    """A fitted model and what its library says about any rows.

    Attributes:
        model: What is read.
        table: Rows to draw from: an array or a DataFrame.
        raw: The library's own raw output, (rows,) or (rows, outputs), in its own dtype.
        exact: The float64 sum of the leaves the library itself routes rows to.
        largest: The largest cell the library takes.
        missing: Whether it takes NaN.
    """

    model: Any
    table: Any
    raw: Callable[[Any], Any]
    exact: Callable[[Any], Any]
    largest: float = np.inf
    missing: bool = True


def numbers(*, holes=True, seed=0):
    """Numeric rows: ties, a binary column, zeros, and NaN where asked."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(240, N_FEATURES))
    table[:, 1] = np.round(table[:, 1], 1)
    table[:, 2] = rng.integers(0, 2, 240)
    table[rng.random((240, N_FEATURES)) < 0.1] = 0.0
    if holes:
        table[rng.random((240, N_FEATURES)) < 0.08] = np.nan
    return table


def target(table, kinds=0):
    """A target with interactions; classes 0 .. kinds - 1 where asked."""
    x = np.nan_to_num(np.asarray(table, dtype=np.float64))
    score = x[:, 0] - x[:, 1] * x[:, 2] + np.sin(2 * x[:, 3]) + abs(x[:, 4] - x[:, 5])
    if not kinds:
        return score
    return np.digitize(score, np.quantile(score, np.linspace(0, 1, kinds + 1)[1:-1]))


def frame():
    """A DataFrame with two categorical columns, one of texts, one of numbers, some cells missing."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(numbers(seed=3), columns=[f"x{k}" for k in range(N_FEATURES)])
    texts = np.array(["red", "green", "blue", "teal", "pink", "grey", None], dtype=object)
    table["x1"] = pd.Categorical(texts[rng.integers(0, 7, 240)], categories=list(texts[:-1]))
    table["x4"] = pd.Categorical(rng.integers(0, 12, 240) * 10)
    return table


def plain(table):
    """The same as numbers, for targets."""
    if not hasattr(table, "iloc"):
        return table
    return np.column_stack([
        table[name].cat.codes / 3.0 if str(table[name].dtype) == "category" else table[name] for name in table
    ])  # fmt: skip


def texts(table):
    """Categories as texts, for libraries that want them so; numbers stay as they are."""
    for name in ("x1", "x4"):
        table[name] = table[name].astype(object).where(table[name].notna(), "none").astype(str)
    return table


def coded(*, holes=False):
    """Numeric rows whose second feature is a category's code."""
    table = numbers(holes=False)
    table[:, 1] = np.random.default_rng(2).integers(0, 40, 240)
    if holes:
        table[::9, 1] = np.nan
    return table


def marked():
    """Rows whose missing cells say -999."""
    table = numbers(holes=False)
    table[::7, 0] = -999.0
    return table


def weights_of(count):
    return np.random.default_rng(8).integers(1, 4, count).astype(np.float64)


def taught(model, table, *, kinds=0, weighted=False, shift=None, y=None, **fit):
    """Fit a model to the target of its rows."""
    y = target(plain(table), kinds) if y is None else y
    fit |= dict(sample_weight=weights_of(len(table))) if weighted else {}
    return model.fit(table, y if shift is None else y + shift(table), **fit)


def xgboost_case(model, table, **fit):
    """XGBoost: the margin, and the leaves that its own `apply` names."""
    booster = taught(model, table, **fit).get_booster()
    content = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]["model"]
    stored = [np.array(tree["split_conditions"], dtype=np.float32).astype(np.float64) for tree in content["trees"]]
    nothing = read_ensemble(model).base

    def exact(rows):
        leaves = np.atleast_2d(model.apply(rows)).reshape(len(rows), -1).astype(int)
        total = np.tile(nothing, (len(rows), 1))
        for tree in range(leaves.shape[1]):
            total[:, content["tree_info"][tree]] += stored[tree][leaves[:, tree]]
        return total

    return Case(model, table, lambda rows: model.predict(rows, output_margin=True), exact)


def other_case(method, model, table, *, largest=np.inf, missing=True, call=None, **fit):
    """Libraries that add up in float64: what they say is the exact sum."""
    taught(model, table, **fit)
    says = partial(getattr(model, method), **(call or {}))
    return Case(model, table, says, says, largest, missing)


lightgbm_case = partial(other_case, "predict", call=dict(raw_score=True))
catboost_case = partial(other_case, "predict", call=dict(prediction_type="RawFormulaVal"))
sklearn_case = partial(other_case, "predict", largest=3.1e38)
shares_case = partial(other_case, "predict_proba", largest=3.1e38)
margin_case = partial(other_case, "decision_function", largest=3.1e38, missing=False)


def wave(table):
    """What depends on each single code."""
    return np.sin(np.nan_to_num(table[:, 1]) * 1.7)


def stopped_early():
    table = numbers()
    noise = np.random.default_rng(1).permutation(target(table, 2))
    model = XGBClassifier(n_estimators=40, max_depth=3, n_jobs=1, early_stopping_rounds=2)
    return xgboost_case(model, table, kinds=2, eval_set=[(table, noise)], verbose=False)


def two_targets():
    table = numbers()
    y = np.column_stack([target(table), np.nan_to_num(table[:, 0])])
    return sklearn_case(ExtraTreeRegressor(max_depth=5, random_state=0), table, y=y)


def prepared_columns():
    table = frame()
    y = target(plain(table))
    table["x1"] = table["x1"].astype(object).where(table["x1"].notna(), "none")
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    steps = ColumnTransformer(
        [("one_hot", OneHotEncoder(handle_unknown="ignore"), ["x1"]), ("rank", ordinal, ["x4"])],
        remainder="passthrough",
        sparse_threshold=0,
    )
    model = make_pipeline(steps, HistGradientBoostingRegressor(max_iter=8, min_samples_leaf=4))
    return sklearn_case(model, table, y=y, largest=np.inf)


X3 = dict(max_depth=3, n_jobs=1)
X4 = dict(max_depth=4, n_jobs=1)
NATIVE = dict(enable_categorical=True, tree_method="hist")
L8 = dict(num_leaves=8, n_jobs=1, verbose=-1, min_child_samples=3)
L12 = L8 | dict(num_leaves=12, min_data_per_group=2, cat_smooth=1)
C3 = dict(depth=3, verbose=0, allow_writing_files=False, thread_count=1)
S5 = dict(max_depth=5, random_state=0)
H = dict(min_samples_leaf=4, max_leaf_nodes=12)

CASES = {
    "xgboost": lambda: xgboost_case(XGBRegressor(n_estimators=12, **X4), numbers(), weighted=True),
    "xgboost_classes": lambda: xgboost_case(XGBClassifier(n_estimators=5, **X3), numbers(), kinds=3),
    "xgboost_stopped_early": stopped_early,
    "xgboost_forest_of_counts": lambda: xgboost_case(
        XGBRegressor(n_estimators=4, num_parallel_tree=3, subsample=0.7, objective="count:poisson", **X3),
        numbers(),
        kinds=4,
    ),
    "xgboost_categories": lambda: xgboost_case(
        XGBRegressor(n_estimators=10, max_cat_to_onehot=3, **X4, **NATIVE), frame()
    ),
    "xgboost_single_categories": lambda: xgboost_case(
        XGBClassifier(n_estimators=6, max_cat_to_onehot=99, **X4, **NATIVE), frame(), kinds=2
    ),
    "xgboost_codes": lambda: xgboost_case(
        XGBRegressor(n_estimators=8, feature_types=["q", "c", "q", "q", "q", "q"], **X4, **NATIVE),
        coded(holes=True),
        shift=wave,
    ),
    "xgboost_marked_missing": lambda: xgboost_case(XGBRegressor(n_estimators=6, missing=-999.0, **X3), marked()),
    "lightgbm": lambda: lightgbm_case(LGBMRegressor(n_estimators=12, **L12), numbers()),
    "lightgbm_classes": lambda: lightgbm_case(LGBMClassifier(n_estimators=5, **L8), numbers(), kinds=3, weighted=True),
    "lightgbm_zero_as_missing": lambda: lightgbm_case(
        LGBMClassifier(n_estimators=8, zero_as_missing=True, **L8), numbers(), kinds=2
    ),
    "lightgbm_no_missing": lambda: lightgbm_case(LGBMRegressor(n_estimators=8, use_missing=False, **L8), numbers()),
    # Its raw_score is the sum over its trees, its prediction their mean.
    "lightgbm_forest": lambda: other_case(
        "predict",
        LGBMRegressor(boosting_type="rf", n_estimators=7, subsample=0.6, subsample_freq=1, **L12),
        numbers(holes=False),
    ),
    "lightgbm_dart": lambda: lightgbm_case(
        LGBMRegressor(boosting_type="dart", n_estimators=9, drop_rate=0.5, **L8), numbers(holes=False)
    ),
    "lightgbm_categories": lambda: lightgbm_case(LGBMRegressor(n_estimators=8, **L12), frame()),
    "lightgbm_codes": lambda: lightgbm_case(
        LGBMRegressor(n_estimators=8, **L12), coded(), shift=wave, categorical_feature=[1]
    ),
    "catboost": lambda: catboost_case(CatBoostRegressor(iterations=12, **C3), numbers()),
    "catboost_classes": lambda: catboost_case(
        CatBoostClassifier(iterations=5, nan_mode="Max", **C3), numbers(), kinds=3
    ),
    "catboost_leafwise": lambda: catboost_case(
        CatBoostRegressor(iterations=8, max_leaves=7, grow_policy="Lossguide", **(C3 | dict(depth=5))),
        numbers(),
        weighted=True,
    ),
    "catboost_categories": lambda: catboost_case(
        CatBoostRegressor(iterations=10, max_ctr_complexity=1, one_hot_max_size=7, **C3),
        texts(frame()),
        y=target(plain(frame())),
        cat_features=["x1", "x4"],
    ),
    "tree": lambda: sklearn_case(DecisionTreeRegressor(max_depth=6, random_state=0), numbers(), weighted=True),
    "tree_classes": lambda: shares_case(DecisionTreeClassifier(**S5), numbers(), kinds=3),
    "tree_of_two_targets": two_targets,
    "forest": lambda: sklearn_case(RandomForestRegressor(9, **S5), numbers(), weighted=True),
    "forest_classes": lambda: shares_case(RandomForestClassifier(7, class_weight="balanced", **S5), numbers(), kinds=3),
    "extra_trees": lambda: sklearn_case(ExtraTreesRegressor(8, **S5), numbers(holes=False), missing=False),
    "extra_trees_binary": lambda: shares_case(
        ExtraTreesClassifier(8, **S5), numbers(holes=False), kinds=2, missing=False
    ),
    "boosting": lambda: sklearn_case(
        GradientBoostingRegressor(n_estimators=12, random_state=0), numbers(holes=False), weighted=True, missing=False
    ),
    "boosting_from_zero": lambda: sklearn_case(
        GradientBoostingRegressor(n_estimators=6, init="zero", loss="huber", random_state=0),
        numbers(holes=False),
        missing=False,
    ),
    "boosting_binary": lambda: margin_case(
        GradientBoostingClassifier(n_estimators=8, loss="exponential", random_state=0), numbers(holes=False), kinds=2
    ),
    "boosting_classes": lambda: margin_case(
        GradientBoostingClassifier(n_estimators=5, random_state=0), numbers(holes=False), kinds=3
    ),
    "histogram": lambda: sklearn_case(
        HistGradientBoostingRegressor(max_iter=10, **H), numbers(), largest=np.inf, weighted=True
    ),
    "histogram_classes": lambda: margin_case(
        HistGradientBoostingClassifier(max_iter=5, **H), numbers(), largest=np.inf, missing=True, kinds=3
    ),
    "histogram_categories": lambda: margin_case(
        HistGradientBoostingClassifier(max_iter=8, categorical_features="from_dtype", **H),
        frame(),
        largest=np.inf,
        missing=True,
        kinds=2,
    ),
    "pipeline": lambda: sklearn_case(
        make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), RandomForestRegressor(6, **S5)),
        numbers(),
        largest=1e30,
    ),
    "pipeline_of_columns": prepared_columns,
}


@cache
def fitted(name):
    return CASES[name]()


def pytest_generate_tests(metafunc):
    """A test that asks for `case` runs once for every model."""
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", list(CASES), indirect=True)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Many small predictions: libraries that start threads for each would mostly wait."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def case(request):
    return fitted(request.param)


@pytest.fixture(scope="session")
def fitted_case():
    """One model of the table by name."""
    return fitted


def part(table, rows):
    """Some rows of an array or a DataFrame."""
    return table.iloc[rows].reset_index(drop=True) if hasattr(table, "iloc") else table[rows]


def mixed(table, source):
    """Rows put together cell by cell: cell j of row i is that of row source[i, j] of the table."""
    if not hasattr(table, "iloc"):
        return table[source, np.arange(source.shape[1])]
    return pd.DataFrame({
        name: table.iloc[:, place].take(source[:, place]).reset_index(drop=True)
        for place, name in enumerate(table.columns)
    })  # fmt: skip


@pytest.fixture(scope="session")
def rows_of():
    return part


@pytest.fixture(scope="session")
def brute_tree_values():
    """v(S) of one row, from its definition: the model's own mean over hybrid rows, (outputs, 2**players)."""

    def values(exact, table, row, background, weights, player_of_feature):
        players = max(player_of_feature) + 1
        present = np.arange(1 << players)[:, None] >> np.asarray(player_of_feature) & 1
        source = np.where(present[:, None, :], row, np.asarray(background)[None, :, None])
        outputs = np.asarray(exact(mixed(table, source.reshape(-1, source.shape[2]))), dtype=np.float64)
        outputs = outputs.reshape(len(present), len(background), -1)
        return np.einsum("mbo,b->om", outputs, np.asarray(weights) / np.sum(weights))

    return values
