"""The surrogate against the paper's recipe: abalone, rice and California, a boosted and a neural model, three seeds.

Both are trained on the same rows in the same run and judged on rows neither has seen, with random coalitions of 1 to
n - 1 features: E[(f(x) - v(S))^2]. Required: at least 20 times faster, an error at most 2 % above.

Run: TAYLORPODA_DATA=... python benchmarks/surrogate.py [abalone rice california] [--models XGBoost MLP]
     [--backend numpy|torch]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from xgboost import XGBClassifier, XGBRegressor

import taylorpoda as tp
from taylorpoda import datasets
from taylorpoda.games.tables import read_table

SEEDS = (0, 1, 2)
COALITIONS = 512
FASTER, ERROR_ABOVE = 20.0, 1.02


def split(name):
    data = datasets.load(name)
    X = np.asarray(data.X, dtype=float)
    X, y = MinMaxScaler().fit_transform(X), np.asarray(data.y)
    return train_test_split(X, y, test_size=0.2, random_state=0), data.task


def fitted_models(task, X, y, wanted):
    classify = task == "classification"
    boosted = (XGBClassifier if classify else XGBRegressor)(
        n_estimators=100, max_depth=4, learning_rate=0.1, random_state=0, n_jobs=2
    )
    network = (MLPClassifier if classify else MLPRegressor)(
        hidden_layer_sizes=(64, 32), random_state=0, early_stopping=True
    )
    models = {"XGBoost": boosted, "MLP": make_pipeline(StandardScaler(), network)}
    for label in wanted:
        yield label, models[label].fit(X, y)


def coalitions_of_every_size(n):
    generator = np.random.default_rng(7)
    size = np.arange(COALITIONS) % (n - 1) + 1
    return generator.random((COALITIONS, n)).argsort(1).argsort(1) < size[:, None]


def error(surrogate, model, background, rows, task):
    outputs = model.predict_proba(rows) if task == "classification" else model.predict(rows)
    outputs = np.asarray(outputs, dtype=float).reshape(len(rows), -1)
    table = read_table(background, "background").read(rows, "rows")
    values = surrogate.values(table, coalitions_of_every_size(rows.shape[1]))
    return float(np.mean(np.square(values - outputs[:, None, :])))


def compare(name, label, model, X, rows, task, backend):
    seconds, errors = {"paper": [], "ours": []}, {"paper": [], "ours": []}
    for seed in SEEDS:
        for kind in ("paper", "ours"):
            rule = tp.masking.Conditional(kind, seed=seed, backend="auto" if kind == "paper" else backend)
            start = time.perf_counter()
            surrogate = rule.train(model, X)
            seconds[kind].append(time.perf_counter() - start)
            errors[kind].append(error(surrogate, model, X, rows, task))
    speed = np.mean(seconds["paper"]) / np.mean(seconds["ours"])
    above = np.mean(errors["ours"]) / np.mean(errors["paper"])
    best = np.mean(errors["ours"]) / np.min(errors["paper"])
    print(
        f"{name:11s} {label:8s} rows {len(X):6d}   recipe {np.mean(seconds['paper']):7.2f} s   "
        f"ours {np.mean(seconds['ours']):5.2f} s   {speed:6.1f} x   "
        f"error {np.mean(errors['paper']):.5f} -> {np.mean(errors['ours']):.5f}   "
        f"ratio {above:.3f} (to the recipe's best seed {best:.3f})",
        flush=True,
    )
    return speed >= FASTER and above <= ERROR_ABOVE


def tabulation(model, X, rows):
    surrogate = tp.masking.Conditional(seed=0).train(model, X)
    explainer = tp.Explainer(model, X[:200], masking=surrogate, policy="shapley")
    start = time.perf_counter()
    explainer(rows[:100])
    print(f"100 rows at n = {X.shape[1]} from a trained surrogate: {time.perf_counter() - start:.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["abalone", "rice", "california"])
    parser.add_argument("--models", nargs="*", default=["XGBoost", "MLP"], choices=["XGBoost", "MLP"])
    parser.add_argument("--backend", default="auto", choices=["auto", "numpy", "torch"])
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    met = []
    for name in options.names:
        (X, rows, y, _), task = split(name)
        for label, model in fitted_models(task, X, y, options.models):
            met.append(compare(name, label, model, X, rows, task, options.backend))
        if name == "abalone":
            tabulation(model, X, rows)
    print("all within the requirement" if all(met) else "some cell misses the requirement")


if __name__ == "__main__":
    main()
