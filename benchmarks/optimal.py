"""What policy="optimal" costs, from the table: the curve over players and utilities, and where the time goes.

    OMP_NUM_THREADS=1 python benchmarks/optimal.py --players 8 12 16 20

Games are held-out rows of boosted trees and of a small network, on breast cancer data (a probability) and on Friedman's
function (a regression). Rows are solved in batches, from 16 players on one by one. Printed per game: the median, in
milliseconds a row, by the processor's clock, one line per game and all games together; the slowest batch; the share of
rows certified, and of those whose nearness to Shapley is certified too; the gain over Shapley as a share of the gain
that the best ranking of all would have.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time

import numpy as np
from sklearn.datasets import load_breast_cancer, make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import taylorpoda as tp

UTILITIES = ("inclusion_aup", "exclusion_aup", "inclusion_mse", "exclusion_mse", "inclusion_auc", "exclusion_auc")
TARGETS = {8: 0.5, 12: 5.0, 16: 30.0, 20: 800.0}
ROWS = {8: 60, 12: 20, 16: 6, 20: 2}
BATCH = {8: 20, 12: 10, 16: 1, 20: 1}
BACKGROUND = {8: 20, 12: 10, 16: 4, 20: 2}
PARTS = {
    "transforms, boundary, Shapley": "of",
    "precedence": "precedence",
    "forbidden coalitions": "forbid",
    "lattice": "cost_to_go",
    "first programs and search": "_first",
    "sign patterns": "_settle_signs",
    "nearness": "_settle_nearness",
    "finish": "_finish",
}


def nearest_of(table: dict[int, int], n: int) -> int:
    return table[min(table, key=lambda known: abs(known - n))]


def tabulate(predict, rows, background):
    n = rows.shape[1]
    values = np.zeros((len(rows), 1 << n))
    known = (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(bool)
    for index, row in enumerate(rows):
        for start in range(0, 1 << n, 1 << 16):
            piece = known[start : start + (1 << 16)]
            for other in background:
                values[index, start : start + (1 << 16)] += predict(np.where(piece, row, other)) / len(background)
    return values


def games(n: int):
    """Tables of held-out rows: (name, values, labels, threshold)."""
    n_rows, n_background = nearest_of(ROWS, n), nearest_of(BACKGROUND, n)
    X, y = load_breast_cancer(return_X_y=True)
    shuffled = np.random.default_rng(0).permutation(len(X))
    columns = np.random.default_rng(n).choice(X.shape[1], size=min(n, 30), replace=False)
    X, y = X[shuffled][:, columns], y[shuffled]
    F, z = make_friedman1(n_samples=1500, n_features=max(n, 5), noise=0.5, random_state=0)
    F = F[:, :n]
    cases = (
        ("cancer, trees", HistGradientBoostingClassifier(max_iter=60), X, y),
        ("cancer, network", make_pipeline(StandardScaler(), MLPClassifier((16,), max_iter=400, random_state=0)), X, y),
        ("friedman, trees", HistGradientBoostingRegressor(max_iter=60), F, z),
        (
            "friedman, network",
            make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(16,), max_iter=400, random_state=0)),
            F,
            z,
        ),
    )
    for name, model, rows, target in cases:
        model.fit(rows[:400], target[:400])
        predict = (lambda Z, m=model: m.predict_proba(Z)[:, 1]) if target is y else model.predict
        held = slice(400, 400 + n_rows)
        values = tabulate(predict, rows[held], rows[:n_background])
        threshold = 0.5 if target is y else float(np.median(z))
        labels = y[held] if target is y else (z[held] > threshold).astype(int)
        yield name, values, labels, threshold


def measure(n: int) -> None:
    times: dict[str, list[float]] = {name: [] for name in UTILITIES}
    proven = {name: np.zeros(3) for name in UTILITIES}  # certified, nearest certified, rows
    gains = {name: np.zeros(2) for name in UTILITIES}
    profile = cProfile.Profile()
    size = nearest_of(BATCH, n)
    for name, values, labels, threshold in games(n):
        tp.allocate(values[:1], "inclusion_aup")  # tables of indices are made once per n
        line = []
        for utility in UTILITIES:
            batches = []
            for start in range(0, len(values), size):
                rows = slice(start, start + size)
                given = {"target": labels[rows], "threshold": threshold}
                started = time.process_time()
                allocation = tp.allocate(values[rows], utility, **given)
                batches.append((time.process_time() - started) / len(values[rows]) * 1e3)
                proven[utility] += (allocation.certified.sum(), allocation.nearest_certified.sum(), len(values[rows]))
                reached = (allocation.score, allocation.ceiling)
                gains[utility] += [np.sum(abs(score - allocation.shapley_score)) for score in reached]
            times[utility] += batches
            line.append(f"{np.median(batches):9.2f}")
            profile.enable()
            tp.allocate(values[:size], utility, target=labels[:size], threshold=threshold)
            profile.disable()
        print(f"  {name:18s}" + "".join(line), flush=True)
    wanted = f" (wanted: {TARGETS[n]} ms)" if n in TARGETS else ""
    print(f"n = {n}{wanted}\n  {'utility':16s}   median  slowest  certified  nearest  share of the ceiling's gain")
    for name, spent in times.items():
        certified, nearest = proven[name][:2] / proven[name][2]
        share = gains[name][0] / gains[name][1] if gains[name][1] else 1.0
        median, slowest = np.median(spent), np.max(spent)
        print(f"  {name:16s} {median:8.2f} {slowest:8.2f} {certified:10.3f} {nearest:8.3f} {share:8.3f}")
    stats = pstats.Stats(profile).stats
    parts = {
        part: sum(entry[3] for (path, _, name), entry in stats.items() if name == function and "allocation" in path)
        for part, function in PARTS.items()
    }
    whole = sum(entry[3] for (_, _, name), entry in stats.items() if name == "allocate")
    print("  where the time goes: " + ", ".join(f"{part} {seconds / whole:.0%}" for part, seconds in parts.items()))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--players", type=int, nargs="+", default=[6, 8, 10, 12, 14, 16])
    for n in parser.parse_args().players:
        measure(n)


if __name__ == "__main__":
    main()
