"""Games of real models, and the exhaustive reference of benchmarks/."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

_EXHAUSTIVE = Path(__file__).parents[2] / "benchmarks" / "exhaustive.py"


@pytest.fixture(scope="session")
def exhaustive():
    """The module that finds optima by brute force."""
    spec = importlib.util.spec_from_file_location("exhaustive", _EXHAUSTIVE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _table(predict, rows, background):
    n = rows.shape[1]
    known = (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(bool)
    hybrids = np.where(known[None, :, None, :], rows[:, None, None, :], background[None, None, :, :])
    return np.mean(predict(hybrids.reshape(-1, n)).reshape(len(rows), 1 << n, len(background)), axis=2)


@pytest.fixture(scope="session")
def model_games():
    """Held-out games of a boosted classifier and a small network on 6 to 9 features: (name, values, labels)."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = load_breast_cancer(return_X_y=True)
    shuffled = np.random.default_rng(0).permutation(len(X))
    X, y = X[shuffled], y[shuffled]
    games = []
    for n in (6, 7, 8, 9):
        columns = np.random.default_rng(n).choice(X.shape[1], size=n, replace=False)
        network = MLPClassifier((16,), max_iter=300, random_state=0, learning_rate_init=0.01)
        models = {
            "trees": GradientBoostingClassifier(n_estimators=60, max_depth=4, random_state=0),
            "network": make_pipeline(StandardScaler(), network),
        }
        for name, model in models.items():
            model.fit(X[:300][:, columns], y[:300])
            values = _table(lambda Z, m=model: m.predict_proba(Z)[:, 1], X[300:312][:, columns], X[:8][:, columns])
            games.append((f"{name} n={n}", values, y[300:312]))
    return games
