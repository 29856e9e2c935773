"""Every value function against a closed form, and measured on real data.

First: a linear model on normal features with correlation 0.9, whose conditional Shapley values are known. How many
times smaller than marginal's is the root mean square error of each? Required: 20 (gaussian), 10 (copula, conditional),
5 (neighbours). "limit" is the same formula with the background's own mean and covariance, the most likely ones: where
that is not 20 times nearer, nothing that learns from these rows can be expected to be. Then
`tp.value_function_report` on abalone, rice and California with a boosted model.

Run: OMP_NUM_THREADS=1 TAYLORPODA_DATA=... python benchmarks/value_functions.py [--skip-data]
"""

from __future__ import annotations

import argparse
import time
import warnings
from math import comb

import numpy as np
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier, XGBRegressor

import taylorpoda as tp
from taylorpoda import datasets

REQUIRED = {"gaussian": 20.0, "copula": 10.0, "conditional": 10.0, "neighbours": 5.0}
CORRELATION = 0.9
EXPLAINED = 50
BACKGROUND, HELDOUT = 2000, 200


def closed_form(covariance, slopes, rows):
    """Shapley values of v(S) = E[slopes . X | x_S] for normal X with mean zero, by the formula."""
    n = len(slopes)
    values = np.zeros((len(rows), 2**n))
    for mask in range(1, 2**n):
        known = (mask >> np.arange(n)) & 1 == 1
        inside, across = covariance[np.ix_(known, known)], covariance[np.ix_(known, ~known)]
        weight = slopes[known] + np.linalg.solve(inside, across) @ slopes[~known]
        values[:, mask] = rows[:, known] @ weight
    found = np.zeros((len(rows), n))
    for mask in range(2**n):
        for player in range(n):
            if mask >> player & 1:
                share = 1.0 / (n * comb(n - 1, mask.bit_count() - 1))
                found[:, player] += share * (values[:, mask] - values[:, mask ^ 1 << player])
    return found


def gaussian_world(n, rows, seed):
    generator = np.random.default_rng(seed)
    covariance = np.full((n, n), CORRELATION) + (1 - CORRELATION) * np.eye(n)
    root = np.linalg.cholesky(covariance)
    background = generator.standard_normal((rows, n)) @ root.T
    explained = generator.standard_normal((EXPLAINED, n)) @ root.T
    slopes = generator.standard_normal(n)
    truth = closed_form(covariance, slopes, explained)
    errors, seconds = {}, {}
    for masking in ("marginal", *REQUIRED):
        start = time.perf_counter()
        explainer = tp.Explainer(
            lambda x: np.asarray(x) @ slopes, background, masking=masking, policy="shapley", random_state=seed
        )
        values = explainer(explained).values
        seconds[masking] = time.perf_counter() - start
        errors[masking] = float(np.sqrt(np.square(values - truth).mean()))
    likeliest = closed_form(np.cov(background.T, bias=True), slopes, explained - background.mean(axis=0))
    errors["limit"] = float(np.sqrt(np.square(likeliest - truth).mean()))
    return {name: errors["marginal"] / errors[name] for name in (*REQUIRED, "limit")}, seconds


def against_closed_form(players, rows, seeds):
    met = True
    print(
        f"times nearer to the closed form than marginal, correlation {CORRELATION}, least and median of {seeds} seeds"
    )
    for n in players:
        for size in rows:
            worlds = [gaussian_world(n, size, seed) for seed in range(seeds)]
            cells = []
            for masking, required in REQUIRED.items():
                times = [world[0][masking] for world in worlds]
                seconds = min(world[1][masking] for world in worlds)
                met &= min(times) >= required
                cells.append(f"{masking} {min(times):5.1f} {np.median(times):6.1f} ({seconds:.2f} s)")
            limit = [world[0]["limit"] for world in worlds]
            cells.append(f"limit {min(limit):5.1f} {np.median(limit):6.1f}")
            print(f"n {n:2d}  background {size:5d}   " + "   ".join(cells), flush=True)
    print("all within the requirement" if met else "some cell misses the requirement")


def on_data(name):
    data = datasets.load(name)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    train, rows, y_train, _ = train_test_split(X, y, test_size=0.2, random_state=0)
    classify = data.task == "classification"
    model = (XGBClassifier if classify else XGBRegressor)(n_estimators=100, max_depth=4, random_state=0, n_jobs=1)
    report = tp.value_function_report(model.fit(train, y_train), train[:BACKGROUND], rows[:HELDOUT], random_state=0)
    print(f"\n{name}: {len(train[:BACKGROUND])} background rows, {HELDOUT} held-out rows\n{report}", flush=True)
    print("error by coalition size")
    for label, errors in zip(report.names, report.errors, strict=True):
        print(f"{label:16s} " + " ".join(f"{error:9.5f}" for error in errors), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--players", nargs="*", type=int, default=[5, 8])
    parser.add_argument("--rows", nargs="*", type=int, default=[1000, 4000])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--skip-data", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    against_closed_form(options.players, options.rows, options.seeds)
    for name in () if options.skip_data else ("abalone", "rice", "california"):
        on_data(name)


if __name__ == "__main__":
    main()
