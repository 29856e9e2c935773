"""Boosters of hundreds of features, from their own files and the tables as published, end to end."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp

# The table, its target, columns that are no features, how many features remain.
CRIME = ("communities_crime.csv", "ViolentCrimesPerPop", ["state", "county", "community", "communityname", "fold"], 122)
HEART = ("arrhythmia.csv", "target", [], 279)


def table_of(data_dir, about):
    """The published file, its features and its target."""
    name, target, others, width = about
    frame = pd.read_csv(data_dir / name)
    features = frame.drop(columns=[target, *others])
    assert features.shape[1] == width
    assert features.isna().to_numpy().any()
    return data_dir / name, features, frame[target]


@pytest.fixture(scope="module")
def crime(data_dir, folder):
    """LightGBM's text file of a booster of the 122 features of Communities and Crime."""
    lightgbm = pytest.importorskip("lightgbm")
    path, features, rate = table_of(data_dir, CRIME)
    options = dict(objective="regression", num_leaves=15, num_threads=1, verbose=-1)
    lightgbm.train(options, lightgbm.Dataset(features, rate), 40).save_model(folder / "crime.txt")
    return path, features, lightgbm.Booster(model_file=folder / "crime.txt")


@pytest.fixture(scope="module")
def heart(data_dir, folder):
    """XGBoost's JSON file of a classifier of the 279 features of arrhythmia, with its missing cells."""
    xgboost = pytest.importorskip("xgboost")
    path, features, kind = table_of(data_dir, HEART)
    model = xgboost.XGBClassifier(n_estimators=20, max_depth=3, n_jobs=1).fit(features, kind != 1)
    model.save_model(folder / "heart.json")
    return path, features, model


def shapley_by_shap(model, background, rows):
    shap = pytest.importorskip("shap")
    masker = shap.maskers.Independent(background, max_samples=len(background))
    explainer = shap.TreeExplainer(model, masker, feature_perturbation="interventional")
    return explainer.shap_values(rows, check_additivity=False)


def test_communities_and_crime(command, crime, folder):
    path, features, model = crime
    features.iloc[:80].to_csv(folder / "crime_background.csv", index=False)
    wanted = ("--background", "crime_background.csv", "--rows", "100:103", "--target", "ViolentCrimesPerPop")
    outputs = ("--out", "crime.csv", "--out", "crime.html", "--out", "crime.json")
    done = command("explain", "crime.txt", path, *wanted, "--policy", "shapley", *outputs)
    assert done.code == 0, done.err
    assert "122 features, 80 background rows; engine trees" in done.out
    assert "not read by the model: state, county, community, communityname, fold" in done.err
    values = pd.read_csv(folder / "crime.csv")[features.columns].to_numpy()
    expected = shapley_by_shap(model, features.iloc[:80], features.iloc[100:103])
    assert np.max(abs(values - expected)) <= 1e-6 * np.max(abs(expected))
    document = json.loads((folder / "crime.json").read_text())
    assert document["provenance"]["engine"] == "trees"
    assert document["feature_names"] == list(features.columns)
    assert (folder / "crime.html").read_text().lower().startswith("<!doctype html")


def test_arrhythmia(command, heart, folder):
    """The margin of a classifier; where its probability is wanted, the error names the way."""
    path, features, model = heart
    features.iloc[:60].to_csv(folder / "heart_background.csv", index=False)
    wanted = ("--background", "heart_background.csv", "--rows", "70:73", "--target", "target")
    refused = command("explain", "heart.json", path, *wanted, "--quiet")
    assert refused.code != 0
    assert 'with output="raw" or link="logit"' in refused.err
    outputs = ("--out", "heart.csv", "--out", "heart.html")
    done = command("explain", "heart.json", path, *wanted, "--output", "raw", "--policy", "shapley", *outputs)
    assert done.code == 0, done.err
    values = pd.read_csv(folder / "heart.csv")[features.columns].to_numpy()
    expected = shapley_by_shap(model, features.iloc[:60], features.iloc[70:73])
    assert np.max(abs(values - expected)) <= 1e-6 * np.max(abs(expected))


@pytest.mark.parametrize("name", ["crime", "heart"])
def test_the_optimal_policy_scores_no_worse_by_the_model_s_own_answers(name, command, request, folder):
    path, features, model = request.getfixturevalue(name)
    background = features.iloc[:30]
    background.to_csv(folder / "few.csv", index=False)
    source, more = ("crime.txt", ()) if name == "crime" else ("heart.json", ("--output", "raw"))
    wanted = ("--background", "few.csv", "--rows", "100", "--target", CRIME[1] if name == "crime" else HEART[1])
    done = command("explain", source, path, *wanted, *more, "--out", "row.npz", "--out", "row.json", "--quiet")
    assert done.code == 0, done.err
    explanation = tp.load(folder / "row.npz")
    assert json.loads((folder / "row.json").read_text())["policy"] == "optimal"
    assert explanation.engine == "trees"
    scale = abs(explanation.predictions[0] - explanation.base_values[0])
    assert abs(explanation.discrepancy[0]) <= 1e-9 * scale
    assert explanation.score[0] <= explanation.shapley_score[0] + 1e-9 * scale

    order = np.argsort(-abs(explanation.values[0]), kind="stable")
    present = np.tril(np.ones((len(order), len(order)), dtype=bool))[:, np.argsort(order)]  # the most important m
    row, cells = features.iloc[100].to_numpy(dtype=np.float64), background.to_numpy(dtype=np.float64)
    hybrids = np.where(present[:, None], row, cells).reshape(-1, len(order))
    told = model.predict(hybrids) if name == "crime" else model.predict(hybrids, output_margin=True)
    means = told.astype(np.float64).reshape(len(order), -1).mean(axis=1)
    total = np.sum(abs(explanation.predictions[0] - means))
    assert abs(total - explanation.score[0]) <= (1e-9 if name == "crime" else 1e-6) * len(order) * scale
