"""A model whose output is not provably the sum of leaves is refused with the reason, never read wrongly."""

from __future__ import annotations

import functools

import numba
import numpy as np
import pytest
import xgboost
from catboost import CatBoostRegressor, sum_models
from lightgbm import LGBMRegressor
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, MinMaxScaler, PolynomialFeatures, TargetEncoder
from sklearn.tree import DecisionTreeRegressor

from taylorpoda.dividends.trees import NoTreesError, UnsupportedTreesError, read_ensemble
from taylorpoda.dividends.trees.readers import lightgbm_reader

ROWS = np.random.default_rng(0).normal(size=(80, 3))
Y = ROWS[:, 0] + ROWS[:, 1] * ROWS[:, 2]
TREE = DecisionTreeRegressor(max_depth=3, random_state=0)


def mixing(rows):
    return rows[:, ::-1] + rows


class HalfAsMuch(RandomForestRegressor):
    """A subclass that predicts something else than the mean of its trees."""

    def predict(self, X):
        return super().predict(X) / 2


class Squared(xgboost.XGBRegressor):
    """Inherits its trees, not what it says."""

    def predict(self, X, **options):
        return super().predict(X, **options) ** 2


class Clipped(LGBMRegressor):
    """`functools.wraps` makes a method say that it comes from the library."""

    @functools.wraps(LGBMRegressor.predict)
    def predict(self, X, **options):
        return np.maximum(LGBMRegressor.predict(self, X, **options), 0.3)


class Clipping:
    """Predicts in front of the library."""

    def predict(self, X, **options):
        return np.maximum(super().predict(X, **options), 0.3)


class Mixed(Clipping, xgboost.XGBRegressor):
    """By a mixin."""


class Renamed(LGBMRegressor):
    """Changes nothing that matters."""

    def describe(self):
        return "mine"


def replaced(model, method="predict", of=None):
    """A fitted model on which a method says something else, or on what `of` finds in it."""
    part = model.fit(ROWS, Y) if of is None else of(model.fit(ROWS, Y))
    said = getattr(part, method)
    setattr(part, method, lambda rows, **options: np.maximum(said(rows, **options), 0.3))
    return model


@numba.guvectorize(["(float64[:], float64[:])"], "(n)->(n)")
def running(cells, result):
    """A ufunc of whole rows: every cell is added to those after it."""
    total = 0.0
    for place in range(len(cells)):
        total += cells[place]
        result[place] = total


def coupled():
    rows = np.array([[str(a), str(b)] for a in range(6) for b in range(6)] * 4, dtype=object)
    target = [int(a) * int(b) % 5 for a, b in rows]
    return CatBoostRegressor(
        iterations=20, depth=4, verbose=0, allow_writing_files=False, max_ctr_complexity=4, one_hot_max_size=1
    ).fit(rows, target, cat_features=[0, 1])


NOT_SUMS = {
    # Without dropout newer versions add the leaves up as ever, so some is asked for.
    "dart": (lambda: xgboost.XGBRegressor(booster="dart", n_estimators=9, rate_drop=0.5).fit(ROWS, Y), "'dart'"),
    "linear booster": (lambda: xgboost.XGBRegressor(booster="gblinear", n_estimators=3).fit(ROWS, Y), "'gblinear'"),
    "linear leaves": (lambda: LGBMRegressor(n_estimators=3, linear_tree=True, verbose=-1).fit(ROWS, Y), "linear_tree"),
    "trees left out": (
        lambda: LGBMRegressor(n_estimators=3, pred_early_stop=True, verbose=-1).fit(ROWS, Y),
        "pred_early_stop",
    ),
    "several categories at once": (coupled, "max_ctr_complexity=1"),
    "start from a model": (
        lambda: GradientBoostingRegressor(init=LinearRegression(), n_estimators=3).fit(ROWS, Y),
        "starts from another model",
    ),
    "several targets": (
        lambda: RandomForestClassifier(3).fit(ROWS, np.column_stack([Y > 0, Y > 1]).astype(int)),
        "several targets",
    ),
    "projection": (lambda: make_pipeline(PCA(2), TREE).fit(ROWS, Y), "its step PCA is not known"),
    "products": (lambda: make_pipeline(PolynomialFeatures(2), TREE).fit(ROWS, Y), "its step PolynomialFeatures"),
    "neighbors": (lambda: make_pipeline(KNNImputer(), TREE).fit(ROWS, Y), "its step KNNImputer"),
    "a ufunc of whole rows": (
        lambda: make_pipeline(FunctionTransformer(running.ufunc), TREE).fit(ROWS, Y),
        "may mix columns",
    ),
    "predict replaced": (
        lambda: replaced(RandomForestRegressor(3)),
        "predict of this RandomForestRegressor was replaced",
    ),
    "predict of a booster replaced": (lambda: replaced(LGBMRegressor(n_estimators=2, verbose=-1)), "was replaced"),
    "predict of an inner booster replaced": (
        lambda: replaced(LGBMRegressor(n_estimators=2, verbose=-1), of=lambda model: model.booster_),
        "predict of this Booster was replaced",
    ),
    "predict of xgboost's inner booster replaced": (
        lambda: replaced(xgboost.XGBRegressor(n_estimators=2), "inplace_predict", lambda model: model.get_booster()),
        "inplace_predict of this Booster was replaced",
    ),
    "predict of catboost replaced": (
        lambda: replaced(CatBoostRegressor(iterations=2, verbose=0, allow_writing_files=False)),
        "was replaced",
    ),
    "predict of a pipeline replaced": (lambda: replaced(make_pipeline(MinMaxScaler(), TREE)), "this Pipeline"),
    "predict of the last step replaced": (
        lambda: replaced(make_pipeline(MinMaxScaler(), RandomForestRegressor(3)), of=lambda model: model[-1]),
        "this RandomForestRegressor",
    ),
    "transform replaced": (
        lambda: replaced(make_pipeline(MinMaxScaler(), clone(TREE)), "transform", lambda model: model[0]),
        "transform of this MinMaxScaler",
    ),
    "predict of a search replaced": (
        lambda: replaced(GridSearchCV(TREE, {"max_depth": [2]}, cv=2)),
        "this GridSearchCV",
    ),
    "one tree of a forest replaced": (
        lambda: replaced(RandomForestRegressor(3), of=lambda model: model.estimators_[1]),
        "this DecisionTreeRegressor",
    ),
    "a function of the user's": (lambda: make_pipeline(FunctionTransformer(mixing), TREE).fit(ROWS, Y), "'mixing'"),
}
NO_TREES = {
    "isolation": lambda: IsolationForest(n_estimators=3).fit(ROWS),
    "weighted by performance": lambda: AdaBoostRegressor(n_estimators=3).fit(ROWS, Y),
    "bags of any model": lambda: BaggingRegressor(TREE, 3).fit(ROWS, Y),
    "votes": lambda: VotingRegressor([("tree", TREE)]).fit(ROWS, Y),
    "calibrated": lambda: CalibratedClassifierCV(RandomForestClassifier(3), cv=2).fit(ROWS, Y > 0),
    "transformed target": lambda: TransformedTargetRegressor(TREE, func=np.exp, inverse_func=np.log).fit(ROWS, Y),
    "subclass": lambda: HalfAsMuch(3).fit(ROWS, Y),
    "subclass of a booster": lambda: Squared(n_estimators=2).fit(ROWS, Y),
    "subclass that claims to be the library's": lambda: Clipped(n_estimators=2, verbose=-1).fit(ROWS, Y),
    "mixin": lambda: Mixed(n_estimators=2).fit(ROWS, Y),
    "linear": lambda: LinearRegression().fit(ROWS, Y),
    "function": lambda: mixing,
    "pipeline of something else": lambda: make_pipeline(MinMaxScaler(), LinearRegression()).fit(ROWS, Y),
}


@pytest.mark.parametrize("name", NOT_SUMS)
def test_trees_that_are_no_sum_of_leaves(name):
    build, says = NOT_SUMS[name]
    with pytest.raises(UnsupportedTreesError, match=says) as caught:
        read_ensemble(build())
    assert not isinstance(caught.value, NoTreesError)


@pytest.mark.parametrize("name", NO_TREES)
def test_models_without_trees(name):
    with pytest.raises(NoTreesError, match="is not a tree ensemble"):
        read_ensemble(NO_TREES[name]())


def test_a_subclass_that_predicts_as_its_library_is_read():
    model = Renamed(n_estimators=3, verbose=-1).fit(ROWS, Y)
    assert np.array_equal(read_ensemble(model).own_sum(ROWS)[:, 0], model.predict(ROWS))


def test_sums_of_models_of_catboost_have_no_parameters():
    """`model_info` of their JSON is all but empty, which once escaped as KeyError: 'params'."""
    options = dict(iterations=4, verbose=0, allow_writing_files=False)
    parts = [CatBoostRegressor(random_seed=seed, **options).fit(ROWS, Y) for seed in (0, 1)]
    model = sum_models(parts, weights=[0.5, 0.25])
    assert np.array_equal(read_ensemble(model).own_sum(ROWS)[:, 0], model.predict(ROWS))


@pytest.mark.parametrize(
    "error", [KeyError("params"), IndexError("3"), TypeError("no"), AttributeError("x"), OSError()]
)
def test_whatever_a_reader_stumbles_over_is_a_reason(error, monkeypatch):
    def stumble(model):
        raise error

    model = LGBMRegressor(n_estimators=2, verbose=-1).fit(ROWS, Y)
    monkeypatch.setattr(lightgbm_reader, "read", stumble)
    with pytest.raises(
        UnsupportedTreesError, match=f"LGBMRegressor could not be read as trees .{type(error).__name__}"
    ):
        read_ensemble(model)


UNION = FeatureUnion([("bins", KBinsDiscretizer(4, encode="ordinal")), ("scaled", MinMaxScaler())])
PREPARED = {
    "scaled": lambda: make_pipeline(MinMaxScaler(), TREE),
    "nothing to prepare": lambda: make_pipeline("passthrough", None, TREE),
    "one function of numpy's": lambda: make_pipeline(FunctionTransformer(np.arctan), TREE),
    "chosen": lambda: make_pipeline(SelectKBest(k=2), TREE),
    "bins side by side": lambda: make_pipeline(UNION, TREE),
    "one-hot bins, sparse": lambda: make_pipeline(KBinsDiscretizer(5), RandomForestRegressor(4, random_state=0)),
    "one-hot bins, unstored as missing": lambda: make_pipeline(
        KBinsDiscretizer(5), xgboost.XGBRegressor(n_estimators=5, max_depth=3)
    ),
    "targets of categories": lambda: make_pipeline(
        KBinsDiscretizer(5, encode="ordinal"), TargetEncoder(random_state=0), TREE
    ),
    "nested": lambda: make_pipeline(make_pipeline(MinMaxScaler(), SelectKBest(k=2)), make_pipeline(UNION, TREE)),
    "searched": lambda: GridSearchCV(make_pipeline(MinMaxScaler(), TREE), {}, cv=2),
    "frozen": lambda: FrozenEstimator(make_pipeline(MinMaxScaler(), TREE).fit(ROWS, Y)),
}


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", PREPARED)
def test_preparation_that_keeps_columns_apart(name):
    """The columns of the pipeline's input are the features, and the predictions are the pipeline's."""
    model = PREPARED[name]().fit(ROWS, Y)
    ensemble = read_ensemble(model)
    assert ensemble.n_features == 3
    fresh = np.random.default_rng(1).normal(size=(300, 3))
    expected = model.predict(fresh)
    own = ensemble.own_sum(fresh)
    assert own.dtype == expected.dtype
    assert np.array_equal(own[:, 0], expected)
    before = ensemble.encoder.encode(fresh)
    for feature in range(3):
        changed = fresh.copy()
        changed[:, feature] = changed[::-1, feature]
        others = ensemble.feature_of_column != feature
        assert np.array_equal(ensemble.encoder.encode(changed)[others], before[others], equal_nan=True)
