"""Models whose calls are dear get larger batches, also behind a function; nothing but the size depends on it."""

from functools import partial

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBRegressor

import taylorpoda as tp
from taylorpoda.games.models import bind_model

ROWS = np.random.default_rng(0).normal(size=(101, 11))
Y = ROWS[:, 0]


class Recorded(RandomForestRegressor):
    """A forest that writes down how many rows it is asked about."""

    def predict(self, table):
        self.sizes_ = [*getattr(self, "sizes_", []), len(table)]
        return super().predict(table)


class Holder:
    """A user's own wrapper."""

    def __init__(self, model):
        self.model = model

    def answer(self, table):
        return self.model.predict(table)

    def __call__(self, table):
        return self.answer(table)


FOREST = Recorded(2, max_depth=2, random_state=0).fit(ROWS, Y)
PIPELINE = make_pipeline(StandardScaler(), FOREST).fit(ROWS, Y)
LINEAR = LinearRegression().fit(ROWS, Y)


def by_global_name(table):
    return 2.0 * PIPELINE.predict(table)


def by_another_function(table):
    return by_global_name(table)


def linear_by_name(table):
    return np.asarray(LINEAR.predict(table))


def enclosing(model):
    return lambda table: 1.0 * model.predict(table)


DEAR = {
    "forest": FOREST,
    "its method": FOREST.predict,
    "pipeline": PIPELINE,
    "search": GridSearchCV(FOREST, {"max_depth": [2]}, cv=2).fit(ROWS, Y),
    "closure": enclosing(FOREST),
    "default": lambda table, model=FOREST: model.predict(table),
    "global": by_global_name,
    "function of a function": by_another_function,
    "partial": partial(lambda model, table: model.predict(table), FOREST),
    "object": Holder(PIPELINE),
    "method of an object": Holder(FOREST).answer,
    "xgboost": XGBRegressor(n_estimators=2).fit(ROWS, Y),
    "histograms": HistGradientBoostingRegressor(max_iter=2).fit(ROWS, Y),
}
CHEAP = {
    "linear": LINEAR,
    "network": make_pipeline(StandardScaler(), MLPRegressor(max_iter=1)),
    "arithmetic": lambda table: table[:, 0],
    "linear by name": linear_by_name,
    "closure": enclosing(LINEAR),
    "object": Holder(LINEAR),
    "NumPy's own": partial(np.sum, axis=1),
}
CHEAP["network"].set_params(mlpregressor__random_state=0)


@pytest.mark.parametrize("name", DEAR)
def test_trees_are_found_behind_what_calls_them(name):
    assert bind_model(DEAR[name]).quantity.dear_calls


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CHEAP)
def test_other_models_keep_batches_that_suit_a_cache(name):
    model = CHEAP[name]
    if name == "network":
        model.fit(ROWS, Y)
    assert not bind_model(model).quantity.dear_calls


def test_an_enclosed_name_may_be_unassigned_and_objects_may_refer_to_themselves():
    def asks(table):
        return later.predict(table)

    assert not bind_model(asks).quantity.dear_calls
    later = FOREST
    assert bind_model(asks).quantity.dear_calls
    loop = Holder(None)
    loop.model = loop
    assert not bind_model(loop).quantity.dear_calls


def test_dear_models_get_larger_batches_and_the_same_answers():
    """A call of a forest starts a task per tree: batches that suit a network made it 1.7 times as slow."""
    largest, values = [], []
    unseen = [FOREST]  # lists are not looked through
    for model in (FOREST, enclosing(FOREST), lambda table: 1.0 * unseen[0].predict(table)):
        FOREST.sizes_ = []
        values.append(tp.Explainer(model, ROWS[:100], policy="shapley", engine="exact")(ROWS[100]).values)
        largest.append(max(FOREST.sizes_))
    assert largest[0] == largest[1] > 7 * largest[2]
    assert np.array_equal(values[0], values[1])
    assert np.array_equal(values[0], values[2])
