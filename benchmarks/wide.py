"""policy="optimal" for boosted trees on very many features: time, gain over Shapley, what a long search adds, bounds.

    OMP_NUM_THREADS=1 python benchmarks/wide.py --features 30 100 300 --rows 20 --times 60

XGBoost, 100 trees of depth 6, 100 background rows; a regression and a binary log-odds. Printed per model: seconds a row
by the processor's clock, dividends included; the mean score, Shapley's, and the mean over rows of the gain over
Shapley; how much a search of so many times the passes adds to that gain, and by how much it lowers the mean score; the
share of the distance from Shapley to the bound that is gained. Asserted: the answer sums to f(x) - E f, is never below
Shapley, and its score is that of real model calls, up to the float32 arithmetic of the library itself.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from xgboost import XGBClassifier, XGBRegressor

import taylorpoda as tp

BACKGROUND = 100
USUAL = 60  # passes, about as many as the default makes with 300 features


def fitted(n: int, kind: str):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, n))
    score = X @ (rng.normal(size=n) * (rng.random(n) < 0.3)) + 2 * X[:, 0] * X[:, 1]
    score += np.sin(2 * X[:, 2]) * X[:, 3] + X[:, 4] * (X[:, 5] > 0) + 0.5 * rng.normal(size=2000)
    if kind == "regression":
        return XGBRegressor(n_estimators=100, max_depth=6, n_jobs=1).fit(X, score), X, {}
    return XGBClassifier(n_estimators=100, max_depth=6, n_jobs=1).fit(X, score > 0), X, {"output": "raw"}


def by_model_calls(model, row, background, attributions) -> float:
    """Inclusion AUP from hybrid rows through the model itself."""
    order = np.argsort(-abs(attributions), kind="stable")
    ask = {} if isinstance(model, XGBRegressor) else {"output_margin": True}
    hybrids = np.repeat(background[None], len(row) + 1, axis=0)
    for m in range(1, len(row) + 1):
        hybrids[m:, :, order[m - 1]] = row[order[m - 1]]
    values = model.predict(hybrids.reshape(-1, len(row)), **ask).reshape(len(row) + 1, -1).astype(float).mean(axis=1)
    return float(np.sum(abs(values[-1] - values[1:])))


def measure(n: int, kind: str, rows: int, times: int) -> None:
    model, X, options = fitted(n, kind)
    background, explained = X[:BACKGROUND], X[500 : 500 + rows]
    explainer = tp.Explainer(model, background, policy="optimal", **options)
    explainer(explained[:1])  # compiles and makes the tables
    started = time.process_time()
    found = explainer(explained)
    seconds = (time.process_time() - started) / rows
    score, shapley, bound = (part.reshape(rows) for part in (found.score, found.shapley_score, found.bound))
    assert np.all(score <= shapley)
    assert np.all(bound <= score)
    values, discrepancy = found.values.reshape(rows, n), found.discrepancy.reshape(rows)
    scale = np.max(abs(found.predictions - found.base_values))
    assert np.max(abs(discrepancy)) <= 1e-9 * scale
    for row in range(min(rows, 5)):
        asked = by_model_calls(model, explained[row], background, values[row])
        assert abs(asked - score[row]) <= 2e-6 * n * np.max(abs(found.predictions))
    text = (
        f"{kind:10} n={n:3}: {seconds:.2f} s a row; score {score.mean():8.3f}, Shapley {shapley.mean():8.3f}, "
        f"gain {np.mean(1 - score / shapley):6.1%}; certified {np.mean(found.certified):.0%}; "
        f"of what the bound allows {np.sum(shapley - score) / np.sum(shapley - bound):.1%}"
    )
    if times:
        more = found.reallocate(node_limit=times * USUAL).score.reshape(rows)
        text += (
            f"; {times} times the passes add {np.sum(score - more) / np.sum(shapley - score):.2%} to the gain"
            f" (score {np.sum(score - more) / np.sum(score):.2%} lower)"
        )
    print(text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", type=int, nargs="*", default=[30, 100, 300])
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--times", type=int, default=0, help="passes of a longer search, as a multiple; 0 for none")
    parser.add_argument("--kinds", nargs="*", default=["regression", "log-odds"], choices=["regression", "log-odds"])
    given = parser.parse_args()
    for n in given.features:
        for kind in given.kinds:
            measure(n, kind, given.rows, given.times)


if __name__ == "__main__":
    main()
