"""Models from files of every library; a pickle is opened for nobody who does not say so."""

from __future__ import annotations

import json
import pickle
import zlib

import numpy as np
import pandas as pd
import pytest

COLUMNS = ["a", "b", "color"]


@pytest.fixture(scope="module")
def files(folder):
    """{name: (path, what the library predicts for row 0)} and the tables they were fitted on."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 2)).round(3), columns=["a", "b"])
    frame["color"] = rng.choice(["red", "blue"], 80)
    y = frame["a"] + (frame["color"] == "red")
    frame.assign(y=y).to_csv(folder / "colors.csv", index=False)
    frame[["a", "b"]].assign(y=y).to_csv(folder / "numbers.csv", index=False)
    return frame, y


def explain(command, model, data, *more):
    done = command("explain", model, data, "--target", "y", "--rows", "0", "--engine", "exact", "--json", *more)
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.mark.parametrize("ending", ["json", "ubj"])
@pytest.mark.parametrize("kind", ["regressor", "booster"])
def test_xgboost(kind, ending, files, command, folder):
    xgboost = pytest.importorskip("xgboost")
    frame, y = files
    X = frame.astype({"color": "category"})
    if kind == "regressor":
        model = xgboost.XGBRegressor(n_estimators=4, n_jobs=1, enable_categorical=True).fit(X, y)
        expected, title = model.predict(X[:1])[0], "XGBRegressor.predict"
    else:
        matrix = xgboost.DMatrix(X, y, enable_categorical=True)
        model = xgboost.train({}, matrix, 4)
        expected, title = model.predict(matrix)[0], "Booster.predict"
    model.save_model(folder / f"{kind}.{ending}")
    document = explain(command, f"{kind}.{ending}", "colors.csv")
    assert document["model"] == title
    assert document["explanations"][0]["prediction"] == expected


def test_lightgbm_with_categories_and_rewritten_names(files, command, folder):
    lightgbm = pytest.importorskip("lightgbm")
    frame, y = files
    X = frame.rename(columns={"a": "first number"}).astype({"color": "category"})
    data = lightgbm.Dataset(X, y, params={"min_data_in_bin": 1})
    booster = lightgbm.train({"verbose": -1, "min_data_in_leaf": 5, "cat_smooth": 1}, data, 4)
    booster.save_model(folder / "lgb.txt")
    frame.rename(columns={"a": "first number"}).assign(y=y).to_csv(folder / "spaced.csv", index=False)
    document = explain(command, "lgb.txt", "spaced.csv")
    assert document["explanations"][0]["prediction"] == booster.predict(X[:1])[0]
    assert document["feature_names"] == ["first_number", "b", "color"]
    assert document["explanations"][0]["values"][2] != 0


@pytest.mark.parametrize("ending", ["cbm", "json"])
def test_catboost_with_text_and_gaps(ending, files, command, folder):
    catboost = pytest.importorskip("catboost")
    frame, y = files
    holes = frame.assign(color=frame["color"].where(frame.index % 7 != 0))
    filled = holes.fillna({"color": "nan"})
    model = catboost.CatBoostRegressor(iterations=4, verbose=0, cat_features=["color"], allow_writing_files=False)
    model.fit(filled, y).save_model(
        str(folder / f"cat.{ending}"), format=ending, pool=catboost.Pool(filled, y, ["color"])
    )
    holes.assign(y=y).to_csv(folder / "holes.csv", index=False)
    document = explain(command, f"cat.{ending}", "holes.csv")
    assert abs(document["explanations"][0]["prediction"] - model.predict(filled[:1])[0]) < 1e-12


def test_onnx(files, command, folder):
    pytest.importorskip("onnxruntime")
    to_onnx = pytest.importorskip("skl2onnx").to_onnx
    from sklearn.linear_model import LinearRegression

    frame, y = files
    X = frame[["a", "b"]].to_numpy(dtype=np.float32)
    model = LinearRegression().fit(X, y)
    (folder / "line.onnx").write_bytes(to_onnx(model, X[:1]).SerializeToString())
    document = explain(command, "line.onnx", "numbers.csv")
    assert abs(document["explanations"][0]["prediction"] - model.predict(X[:1])[0]) < 1e-5


def pipeline(files):
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    frame, y = files
    encode = make_column_transformer((OneHotEncoder(), ["color"]), remainder="passthrough")
    return make_pipeline(encode, LinearRegression()).fit(frame, y)


def test_skops_is_opened_as_far_as_it_vouches(files, command, folder):
    skops = pytest.importorskip("skops.io")
    from sklearn.linear_model import LinearRegression

    frame, y = files
    skops.dump(LinearRegression().fit(frame[["a", "b"]], y), folder / "safe.skops")
    assert explain(command, "safe.skops", "numbers.csv")["model"] == "LinearRegression.predict"
    xgboost = pytest.importorskip("xgboost")
    skops.dump(xgboost.XGBRegressor(n_estimators=2).fit(frame[["a", "b"]], y), folder / "foreign.skops")
    refused = command("explain", "foreign.skops", "numbers.csv")
    assert refused.code == 2
    assert "types that skops does not vouch for: xgboost" in refused.err
    explain(command, "foreign.skops", "numbers.csv", "--trust")


@pytest.mark.parametrize("name", ["p.pkl", "p.joblib", "squeezed.joblib", "renamed.json", "no_ending"])
def test_a_pickle_needs_trust_whatever_it_is_called(name, files, command, folder):
    joblib = pytest.importorskip("joblib")
    model = pipeline(files)
    if name == "squeezed.joblib":
        joblib.dump(model, folder / name, compress=3)
    else:
        (folder / name).write_bytes(pickle.dumps(model))
    refused = command("explain", name, "colors.csv", "--target", "y")
    assert refused.code == 2
    assert "runs whatever code is in it" in refused.err
    assert "--trust" in refused.err
    assert "skops, ONNX" in refused.err
    document = explain(command, name, "colors.csv", "--trust")
    assert document["explanations"][0]["prediction"] == model.predict(files[0][:1])[0]


class Evil:
    def __reduce__(self):
        return (pytest.fail, ("code of the file was run",))


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps(Evil()),
        pickle.dumps(Evil(), protocol=2),
        zlib.compress(pickle.dumps(Evil())),
        pickle.dumps(Evil(), protocol=0),
    ],
)
@pytest.mark.parametrize("name", ["evil.pkl", "evil.json", "evil.txt", "evil.onnx", "evil.skops", "evil.cbm", "evil"])
def test_no_code_of_a_file_is_ever_run_unasked(name, content, command, folder):
    (folder / name).write_bytes(content)
    refused = command("explain", name, "data.csv")
    assert refused.code == 2
    assert refused.err.count("\n") == 1
    assert refused.out == ""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("broken.json", b'{"learner": {}}'),
        ("half.json", b'{"learner": '),
        ("other.json", b'{"hello": 1}'),
        ("list.json", b"[1, 2]"),
        ("broken.txt", b"tree\nversion=v4\nnonsense"),
        ("broken.cbm", b"CBM1garbage"),
        ("broken.onnx", b"garbage"),
        ("broken.skops", b"PK\x03\x04garbage"),
        ("empty.json", b""),
        ("empty.pkl", b""),
        ("words.txt", b"hello world"),
    ],
)
def test_broken_files_are_one_line(name, content, command, folder):
    (folder / name).write_bytes(content)
    refused = command("explain", name, "data.csv", "--trust")
    assert refused.code == 2, refused.err
    assert refused.err.startswith(f"error: MODEL='{name}'")
    assert refused.err.count("\n") == 1
