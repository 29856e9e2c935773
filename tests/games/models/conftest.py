"""Iris for every library's models, and an explainer that is always checked for additivity and call counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp

SPECIES = ["setosa", "versicolor", "virginica"]
COLUMNS = ["sepal length", "sepal width", "petal length", "petal width"]


@pytest.fixture(scope="session")
def iris():
    """(X, y): a DataFrame of four columns and integer classes."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return pd.DataFrame(X, columns=COLUMNS), y


@pytest.fixture(scope="session")
def species(iris):
    return np.array(SPECIES)[iris[1]]


@pytest.fixture
def explain(iris):
    """Explain three rows against twelve; whatever is explained adds up exactly."""

    def explained(model, background=None, rows=None, **options):
        X, _ = iris
        options = {"policy": "shapley", "random_state": 0, **options}
        explainer = tp.Explainer(model, X[::13] if background is None else background, **options)
        explanation = explainer(X.iloc[[1, 60, 120]] if rows is None else rows)
        total = explanation.base_values + explanation.values.sum(axis=1)
        assert np.max(np.abs(total - explanation.predictions)) <= 1e-12 * max(
            1, np.max(np.abs(explanation.predictions))
        )
        return explanation

    return explained
