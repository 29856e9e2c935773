"""The evaluation engine against plain numpy: n = 12, 100 background rows, every model row evaluated by both.

Run: python benchmarks/evaluation.py
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.neural_network import MLPRegressor
from xgboost import XGBRegressor

import taylorpoda as tp

N, DONORS, REPEATS = 12, 100, 3


def plain(predict, row, background, step):
    """The fastest plain numpy evaluation we know: broadcast, predict, mean, in steps of `step` coalitions."""
    present = (np.arange(1 << N)[:, None] >> np.arange(N) & 1).astype(bool)
    values = np.empty(1 << N)
    for start in range(0, 1 << N, step):
        some = present[start : start + step]
        rows = np.where(some[:, None, :], row, background[None]).reshape(-1, N)
        values[start : start + step] = np.asarray(predict(rows), dtype=float).reshape(len(some), -1).mean(axis=1)
    return values


def fastest(call):
    best, result = np.inf, None
    for _ in range(REPEATS):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return best, result


def main():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1500, N))
    target = rows[:, 0] * rows[:, 1] + np.sin(rows[:, 2])
    slopes = rng.normal(size=N)
    models = {
        "relu of a linear function": lambda z: np.maximum(z @ slopes, 0),
        "MLP 64-64": MLPRegressor(hidden_layer_sizes=(64, 64), max_iter=20).fit(rows, target),
        "XGBoost 100 x 6": XGBRegressor(n_estimators=100, max_depth=6, n_jobs=1).fit(rows, target),
        "forest of 30": (forest := RandomForestRegressor(30, random_state=0).fit(rows, target)),
        "the same behind a function": lambda z: forest.predict(z),  # noqa: PLW0108 - what a user may write
    }
    rounded = np.round(rows, 1)
    print(f"{'model':28s}{'background':14s}{'plain s':>9s}{'ours s':>9s}{'ratio':>7s}{'rows':>9s}")
    for name, model in models.items():
        for kind, table in (("continuous", rows), ("rounded", rounded)):
            compare(name, model, kind, table)


def compare(name, model, kind, table):
    predict = model.predict if hasattr(model, "predict") else model
    background, row = table[:DONORS], table[DONORS]
    plainly = [fastest(lambda s=s: plain(predict, row, background, s)) for s in (50, 100, 400, 4096)]
    reference, values = min(plainly, key=lambda pair: pair[0])
    explainer = tp.Explainer(model, background, policy="shapley", random_state=0, engine="exact")
    explainer(row)
    ours, explanation = fastest(lambda: explainer(row))
    assert np.abs(explanation.games.values[0, 0] - values).max() < 1e-5
    evaluated = explanation.provenance["model_rows_evaluated"]
    print(f"{name:28s}{kind:14s}{reference:9.3f}{ours:9.3f}{ours / reference:7.2f}{evaluated:9d}")


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    main()
