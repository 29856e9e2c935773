"""`taylorpoda compare` and `demo`: one set of model calls, and a table that Python agrees with."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp
from taylorpoda.cli import demo_command
from taylorpoda.cli.comparison import method_table


@pytest.fixture(scope="module")
def explanation(folder):
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier()
    model.load_model(folder / "model.json")
    data = pd.read_csv(folder / "data.csv")
    X = data[["age", "height", "weight", "dose", "visits"]]
    explainer = tp.Explainer(model, X, random_state=0, policy="shapley", output=1)
    return explainer(X[:20], data["label"][:20].to_numpy())


def by_lime(folder):
    """LIME's weights of the first 20 rows, by the package itself."""
    tabular = pytest.importorskip("lime.lime_tabular")
    model = pytest.importorskip("xgboost").XGBClassifier()
    model.load_model(folder / "model.json")
    rows = pd.read_csv(folder / "data.csv")[["age", "height", "weight", "dose", "visits"]].to_numpy(float)
    explainer = tabular.LimeTabularExplainer(rows, mode="regression", random_state=0)
    weights = np.zeros((20, 5))
    for row in range(20):
        explainer.random_state.seed(0)
        found = explainer.explain_instance(rows[row], lambda part: model.predict_proba(part)[:, 1], num_features=5)
        for feature, weight in found.local_exp[1]:
            weights[row, feature] = weight
    return weights


def test_every_method_and_every_utility(command, explanation, folder):
    done = command(
        "compare", "model.json", "data.csv", "--target", "label", "--rows", "0:20", "--output", "1", "--json"
    )
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert [one["name"] for one in document["utilities"]] == [
        f"{side}_{kind}" for kind in ("aup", "mse", "auc") for side in ("inclusion", "exclusion")
    ]
    methods = {one["name"]: one for one in document["methods"]}
    assert list(methods) == [
        "prediction_difference", "occlusion", "weighted_shap", "lime", "shapley", "dirichlet", "optimal",
    ]  # fmt: skip
    values = explanation.games.values[:, 0]
    weights = by_lime(folder)
    labels = explanation.subject.target
    for utility in ("inclusion_aup", "exclusion_mse", "inclusion_auc"):
        by_hand = {
            "occlusion": tp.methods.occlusion(values),
            "shapley": tp.methods.shapley(values),
            "weighted_shap": tp.methods.weighted_shap(values, utility=utility, target=labels),
            "optimal": tp.allocate(values, utility, "optimal", labels).attributions,
            "lime": weights,
        }
        for name, attributions in by_hand.items():
            expected = float(np.mean(tp.score(attributions, values, utility, labels)))
            assert abs(methods[name]["means"][utility] - expected) < 1e-9, (name, utility)
    assert document["model_rows"]["lime"] == 20 * 5000
    assert document["model_rows"]["games"] == explanation.provenance["model_rows_evaluated"]
    assert min(methods[name]["discrepancy"] for name in ("occlusion", "lime")) > 0.01
    for name in ("shapley", "dirichlet", "optimal"):
        assert methods[name]["discrepancy"] < 1e-9


def test_the_table_on_the_screen_and_in_a_file(command, folder):
    done = command("compare", "model.json", "data.csv", "--rows", "0:5", "--utility", "inclusion_mse", "--out", "m.csv")
    assert done.code == 0, done.err
    for title in ("OCC-1", "SHAP", "WeightedSHAP", "TaylorPODA-optimal", "no ranking can beat"):
        assert title in done.out
    assert [word in done.out for word in ("lower", "higher", "is better")] == [True, False, True]
    with (folder / "m.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [line["method"] for line in lines][-1] == "ceiling"
    assert command("compare", "model.json", "data.csv", "--rows", "0:5", "--out", "m.json", "--quiet").code == 0
    assert json.loads((folder / "m.json").read_text())["left_out"] == []
    assert "for LIME 25,000 more" in done.out
    spared = command("compare", "model.json", "data.csv", "--rows", "0:5", "--no-lime")
    assert spared.code == 0
    assert "LIME" not in spared.out + spared.err


def test_trees_show_every_method_and_the_numbers_of_the_table(command, folder):
    """OCC-1 and WeightedSHAP used to be left out: the trees engine lists dividends, not coalitions."""
    asked = ("--rows", "0:10", "--output", "raw", "--target", "label", "--drop", "id", "--no-lime", "--json")
    found = {}
    for engine in ("trees", "exact"):
        done = command("compare", "model.json", "data.csv", *asked, "--engine", engine)
        assert done.code == 0, done.err
        found[engine] = json.loads(done.out)
    assert found["trees"]["left_out"] == []
    names = ["prediction_difference", "occlusion", "weighted_shap", "shapley", "dirichlet", "optimal"]
    assert [one["name"] for one in found["trees"]["methods"]] == names
    for one, other in zip(found["trees"]["methods"], found["exact"]["methods"], strict=True):
        assert one["name"] == other["name"]
        if one["name"] == "dirichlet":
            continue  # draws of its own
        for utility, mean in other["means"].items():
            assert abs(one["means"][utility] - mean) < 1e-5 * max(1.0, abs(mean)), (one["name"], utility)


def test_labels_that_are_not_the_models_are_named(command, folder):
    """Their columns used to be missing without a word."""
    data = pd.read_csv(folder / "data.csv")
    data.assign(label=np.where(data["label"] == 1, "yes", "no")).to_csv(folder / "words.csv", index=False)
    asked = ("compare", "model.json", "words.csv", "--target", "label", "--drop", "id", "--rows", "0:3", "--no-lime")
    done = command(*asked)
    assert done.code == 0, done.err
    assert "none of the model's classes [0, 1]" in done.err
    assert "--target label holds" in done.err
    refused = command(*asked, "--utility", "inclusion_auc")
    assert refused.code == 2
    assert "--target label holds" in refused.err
    named = command(*asked, "--output-names", "no,yes", "--output", "yes", "--json")
    assert named.code == 0, named.err
    assert "inclusion_auc" in named.out
    assert "--target" not in named.err


def test_a_utility_asked_for_twice_is_shown_once(command, folder):
    again = ("--utility", "inclusion_aup", "--utility", "inclusion_aup")
    done = command("compare", "model.json", "data.csv", "--rows", "0:3", "--no-lime", "--json", *again)
    assert [one["name"] for one in json.loads(done.out)["utilities"]] == ["inclusion_aup"]


def test_several_outputs_that_compete(folder):
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression

    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X, y)
    explanation = tp.Explainer(model, X[::10], policy="shapley")(X[::30], y[::30])
    table = method_table(explanation)
    assert table.means.shape == (6, 6)
    assert (table.means[:, 4] <= 4).all(), "a sum of agreements is at most n"
    assert table.best[-1].all() or not table.best[:-1, :].all()
    optimal, shapley = table.names.index("optimal"), table.names.index("shapley")
    signs = np.where(table.higher_is_better, 1, -1)
    assert (signs * (table.means[optimal] - table.means[shapley]) >= -1e-12).all()
    assert (signs * (table.ceilings - table.means[optimal]) >= -1e-9).all()


def test_no_model_call_is_made_for_the_comparison():
    calls = []

    def model(rows):
        calls.append(len(rows))
        return rows[:, 0] * rows[:, 1] + rows[:, 2]

    rows = np.random.default_rng(0).normal(size=(20, 3))
    explanation = tp.Explainer(model, rows, policy="shapley")(rows[:4])
    asked = len(calls)
    method_table(explanation)
    assert len(calls) == asked


def test_the_demo(command, tmp_path, monkeypatch):
    pytest.importorskip("xgboost")
    monkeypatch.setattr(demo_command, "_ROWS", 6)
    monkeypatch.setattr(demo_command, "_BACKGROUND", 10)
    done = command("demo", "--out", tmp_path / "new" / "folder")
    assert done.code == 0, done.err
    page = (tmp_path / "new" / "folder" / "index.html").read_text()
    assert "<svg" in page
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "TaylorPODA-optimal" in done.out
    again = command("demo", "--out", tmp_path / "again", "--json")
    assert {one["name"] for one in json.loads(again.out)["methods"]} >= {"shapley", "dirichlet", "optimal"}
    quiet = command("demo", "--out", tmp_path / "quiet", "--quiet")
    assert (quiet.out, quiet.err) == ("", "")
