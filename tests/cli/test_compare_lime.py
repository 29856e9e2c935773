"""The row of LIME in `taylorpoda compare`: there where it applies, a line that says why where it does not."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import taylorpoda as tp
from taylorpoda.cli import local_weights as room
from taylorpoda.cli.local_weights import local_weights

pytest.importorskip("lime")
RNG = np.random.default_rng(3)


def compared(command, *extra):
    done = command("compare", "m.joblib", "d.csv", "--trust", "--rows", "0:3", "--json", *extra)
    assert done.code == 0, done.err
    document = json.loads(done.out)
    return SimpleNamespace(err=done.err, document=document, names=[one["name"] for one in document["methods"]])


@pytest.fixture
def saved(folder):
    """Write a model and its table to the folder the command runs in."""

    def save(model, frame):
        joblib.dump(model, folder / "m.joblib")
        frame.to_csv(folder / "d.csv", index=False)

    return save


def table(**more):
    return pd.DataFrame({"a": RNG.normal(size=40), "b": RNG.integers(0, 9, 40), **more})


def test_strings(command, saved):
    frame = table(kind=RNG.choice(["x", "y"], 40))
    model = make_pipeline(
        ColumnTransformer([("k", OneHotEncoder(), ["kind"])], remainder="passthrough"), LinearRegression()
    )
    saved(model.fit(frame, frame["a"] * 2), frame)
    done = compared(command)
    assert "lime" not in done.names
    assert "left out: LIME, for it reads numbers only, and kind holds something else" in done.err
    assert done.document["left_out"] == ["LIME"]
    assert done.document["model_rows"]["lime"] == 0


def test_missing_cells(command, saved):
    frame = table(c=RNG.normal(size=40))
    frame.loc[5, "c"] = np.nan
    saved(HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5).fit(frame, frame["a"]), frame)
    done = compared(command)
    assert "it reads no missing cells, and 'c' has some" in done.err
    assert "lime" not in done.names


def test_groups(command, saved):
    frame = table(c=RNG.normal(size=40))
    saved(LinearRegression().fit(frame, frame["a"]), frame)
    assert "lime" in compared(command).names
    assert "put together by --group" in compared(command, "--group", "both=a,b").err


def test_without_the_package(command, saved, monkeypatch):
    frame = table()
    saved(LinearRegression().fit(frame, frame["a"]), frame)
    monkeypatch.setitem(sys.modules, "lime.lime_tabular", None)
    done = compared(command)
    assert "pip install 'taylorpoda[lime]'" in done.err
    assert "optimal" in done.names


def test_a_model_that_cannot_answer_between_whole_numbers(command, saved):
    frame = table()
    strict = ColumnTransformer([("b", OneHotEncoder(handle_unknown="error"), ["b"])], remainder="passthrough")
    saved(make_pipeline(strict, LinearRegression()).fit(frame, frame["a"]), frame)
    done = compared(command)
    assert "left out: LIME" in done.err
    assert "unknown categories" in done.err
    assert {"shapley", "optimal", "occlusion"} <= set(done.names)


def test_truth_values_stay_truth_values(command, saved):
    frame = table(flag=RNG.random(40) < 0.5)
    saved(LinearRegression().fit(frame, frame["a"] + frame["flag"]), frame)
    assert "lime" in compared(command).names


def test_constant_columns(command, saved):
    frame = table(same=1.0)
    saved(LinearRegression().fit(frame, frame["a"]), frame)
    assert "lime" in compared(command).names


def test_engine_trees_lists_no_coalitions_but_lime_has_a_row(command):
    done = command("compare", "model.json", "data.csv", "--rows", "0:2", "--output", "raw", "--json")
    assert done.code == 0, done.err
    assert "lime" in {one["name"] for one in json.loads(done.out)["methods"]}


@pytest.mark.parametrize("output", [None, "1"])
def test_several_outputs_are_asked_once(output, monkeypatch):
    """One call per row serves every class, and each class has the weights it has alone."""
    rows = RNG.normal(size=(50, 3))
    model = LogisticRegression().fit(rows, RNG.integers(0, 3, 50))
    background = rows[:30]
    picked = None if output is None else int(output)
    explanation = tp.Explainer(model, background, output=picked, policy="shapley")(rows[:2])
    inputs = SimpleNamespace(background=background, rows=rows[:2], columns=SimpleNamespace(names=("a", "b", "c")))
    options = dict(output=picked, link=None, random_state=4)
    monkeypatch.setattr(room, "lime", lambda *a, **k: tp.methods.lime(*a, num_samples=300, **k))
    found = local_weights(explanation, model, inputs, options)
    assert found.reason == ""
    assert found.model_rows == 600
    for place, k in enumerate(range(3) if picked is None else [picked]):
        alone = tp.methods.lime(
            lambda part, k=k: model.predict_proba(part)[:, k], background, rows[:2], num_samples=300, random_state=4
        )
        assert np.array_equal(found.weights[:, place], alone)


def test_an_answer_of_a_wrong_shape():
    with pytest.raises(ValueError, match=r"allowed: \(m,\) or \(m, outputs\)"):
        tp.methods.lime(lambda part: part[:3], np.eye(4), np.eye(4)[:1], num_samples=50)
