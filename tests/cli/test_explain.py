"""`taylorpoda explain`: what it prints and writes is what Python gives."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp


@pytest.fixture(scope="module")
def expected(folder):
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier()
    model.load_model(folder / "model.json")
    data = pd.read_csv(folder / "data.csv")
    X = data[["age", "height", "weight", "dose", "visits"]]
    return tp.Explainer(model, X, random_state=0)(X[:5], data["label"][:5].to_numpy())


def test_the_json_document_holds_the_numbers(command, expected):
    done = command("explain", "model.json", "data.csv", "--target", "label", "--rows", "0:5", "--json")
    assert done.code == 0
    document = json.loads(done.out)
    values = np.array([line["values"] for line in document["explanations"]]).reshape(5, 2, 5)
    assert np.array_equal(values, np.moveaxis(expected.values, 1, 2))
    assert document["feature_names"] == list(expected.feature_names)
    assert document["output_names"] == ["0", "1"]
    assert [line["row"] for line in document["explanations"]] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert document["provenance"]["model_rows_evaluated"] == expected.provenance["model_rows_evaluated"]
    assert document["explanations"][0]["certified"] is True
    assert "not read by the model: id" in done.err


def test_every_kind_of_file(command, expected, folder):
    outputs = [f"out.{kind}" for kind in ("csv", "json", "html", "npz", "parquet")]
    arguments = [word for name in outputs for word in ("--out", name)]
    done = command("explain", "model.json", "data.csv", "--target", "label", "--rows", "0:5", *arguments)
    assert done.code == 0, done.err
    assert all(f"wrote {name}" in done.err for name in outputs)
    with (folder / "out.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert len(lines) == 10
    assert [float(line["dose"]) for line in lines] == expected.values[:, 3, :].ravel().tolist()
    assert [line["output"] for line in lines[:2]] == ["0", "1"]
    parquet = pd.read_parquet(folder / "out.parquet")
    assert np.array_equal(parquet["dose"], expected.values[:, 3, :].ravel())
    assert np.array_equal(tp.load(folder / "out.npz").values, expected.values)
    page = (folder / "out.html").read_text()
    assert page.lower().startswith("<!doctype html")
    assert "<script" not in page
    assert json.loads((folder / "out.json").read_text())["policy"] == "optimal"
    assert not list(folder.glob(".*"))


def test_the_screen_names_rows_features_and_what_was_proven(command, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    done = command("explain", "model.json", "data.csv", "--target", "label", "--rows", "7,3", "--output", "1")
    assert done.code == 0
    assert "XGBClassifier.predict_proba" in done.out
    assert "proven optimal for inclusion_aup in every row" in done.out
    rows = [line.split()[0] for line in done.out.splitlines() if line.strip()[:1].isdigit()]
    assert rows[:3] == ["2", "7", "3"], "the count of rows, then the two rows in the order asked for"
    assert "\x1b" not in done.out


def test_quiet_is_silent(command):
    done = command("explain", "model.json", "data.csv", "--rows", "0:1", "--quiet", "--out", "quiet.csv")
    assert (done.code, done.out, done.err) == (0, "", "")
    loud = command("explain", "model.json", "data.csv", "--rows", "0:1", "--quiet", "--json")
    assert json.loads(loud.out)
    assert loud.err == ""


def test_options_reach_the_explainer(command, folder):
    done = command(
        "explain", "model.json", "data.csv", "--background", "background.csv", "--background-rows", "7",
        "--rows", "-2:", "--utility", "exclusion_mse", "--policy", "dirichlet", "--masking", "marginal",
        "--output", "raw", "--seed", "5",
        "--group", "body=height,weight", "--engine", "exact", "--jobs", "2", "--max-memory", "500MB", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["model"] == "XGBClassifier.predict(output_margin=True)"
    assert document["feature_names"] == ["age", "body", "dose", "visits"]
    assert document["policy"] == "dirichlet"
    assert document["utility"] == "exclusion_mse"
    assert document["provenance"]["background_rows"] == 7
    assert document["provenance"]["seed"] == 5
    assert [line["row"] for line in document["explanations"]] == [58, 59]
    assert "background: 7 of the 20 rows of background.csv, drawn with seed 5" in done.err


def test_labels_by_name_and_utilities_that_read_them(command):
    done = command(
        "explain", "model.json", "data.csv", "--target", "label", "--utility", "inclusion_auc", "--rows", "0:3",
        "--output-names", "ill,healthy", "--output", "healthy", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert json.loads(done.out)["output_names"] == ["healthy"]


def test_csv_on_standard_input(command, folder, monkeypatch):
    with (folder / "data.csv").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        done = command("explain", "model.json", "-", "--rows", "0", "--json")
    assert done.code == 0, done.err


@pytest.mark.parametrize("ending", ["tsv", "csv.gz", "parquet", "feather", "json", "jsonl"])
def test_every_kind_of_table(ending, command, folder):
    data = pd.read_csv(folder / "data.csv")
    path = folder / f"table.{ending}"
    writers = {
        "tsv": lambda: data.to_csv(path, sep="\t", index=False),
        "csv.gz": lambda: data.to_csv(path, index=False),
        "parquet": lambda: data.to_parquet(path),
        "feather": lambda: data.to_feather(path),
        "json": lambda: data.to_json(path, orient="records"),
        "jsonl": lambda: data.to_json(path, orient="records", lines=True),
    }
    writers[ending]()
    ours = command("explain", "model.json", path.name, "--background", "background.csv", "--rows", "0:2", "--json")
    theirs = command("explain", "model.json", "data.csv", "--background", "background.csv", "--rows", "0:2", "--json")
    assert ours.code == 0, ours.err
    assert json.loads(ours.out)["explanations"] == json.loads(theirs.out)["explanations"]


def test_arrays_and_a_model_without_names(command, folder):
    xgboost = pytest.importorskip("xgboost")
    X = np.random.default_rng(0).normal(size=(30, 3))
    xgboost.train({}, xgboost.DMatrix(X, X[:, 0] * X[:, 1]), 3).save_model(folder / "nameless.ubj")
    np.save(folder / "X.npy", X)
    np.savez(folder / "X.npz", X=X, y=X[:, 0])
    values = []
    for name in ("X.npy", "X.npz"):
        done = command("explain", "nameless.ubj", name, "--rows", "0:2", "--engine", "exact", "--json")
        assert done.code == 0, done.err
        values.append(json.loads(done.out)["explanations"])
    assert values[0] == values[1]
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=0).to_csv(folder / "named.csv", index=False)
    named = command(
        "explain", "nameless.ubj", "named.csv", "--drop", "y", "--rows", "0:1", "--group", "ab=a,b", "--json"
    )
    assert json.loads(named.out)["feature_names"] == ["ab", "c"], "the file's names are shown"
    plain = command("explain", "nameless.ubj", "named.csv", "--rows", "0:1")
    assert plain.code == 2
    assert "the model reads 3 columns and has no names for them, but DATA has 4" in plain.err


def test_what_would_take_long_is_asked_for(command, folder, monkeypatch):
    from taylorpoda.cli import explain_command

    monkeypatch.setattr(explain_command, "_DEAREST", 10)
    done = command("explain", "model.json", "data.csv", "--rows", "0:2")
    assert done.code == 2
    assert "may take 3,840 model rows; choose some with --rows" in done.err
    assert command("explain", "model.json", "data.csv", "--rows", "0:2", "--force", "--quiet").code == 0


def test_features_called_like_our_own_columns(command, folder):
    from sklearn.linear_model import LinearRegression

    joblib = pytest.importorskip("joblib")
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 2)), columns=["row", "prediction"])
    joblib.dump(LinearRegression().fit(frame, frame["row"]), folder / "clash.joblib")
    frame.to_csv(folder / "clash.csv", index=False)
    done = command("explain", "clash.joblib", "clash.csv", "--trust", "--rows", "4", "--out", "clashed.csv")
    assert done.code == 0, done.err
    header = (folder / "clashed.csv").read_text().splitlines()[0].split(",")
    assert header[0] == "row"
    assert {"feature: row", "feature: prediction"} <= set(header)
