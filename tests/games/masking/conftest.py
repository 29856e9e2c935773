"""A linear model on correlated normal data, whose conditional Shapley values are known in closed form."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest

import taylorpoda as tp


class GaussianWorld:
    """Standard normal features with one correlation, a linear model, and the truth about both."""

    def __init__(self, n=5, rows=1000, correlation=0.9, seed=0):
        generator = np.random.default_rng(seed)
        self.n = n
        self.covariance = np.full((n, n), correlation) + (1 - correlation) * np.eye(n)
        root = np.linalg.cholesky(self.covariance)
        self.background = generator.standard_normal((rows, n)) @ root.T
        self.rows = generator.standard_normal((20, n)) @ root.T
        self.slopes = generator.standard_normal(n)

    def model(self, rows):
        return np.asarray(rows) @ self.slopes

    def values(self):
        """v(S) = E[model | x_S] from the definition, one coalition at a time: shape (rows, 2**n)."""
        tables = np.zeros((len(self.rows), 2**self.n))
        for mask in range(2**self.n):
            known = np.array([mask >> j & 1 == 1 for j in range(self.n)])
            expected = np.where(known, self.rows, 0.0)
            if known.any() and not known.all():
                inside = self.covariance[np.ix_(known, known)]
                across = self.covariance[np.ix_(known, ~known)]
                expected[:, ~known] = self.rows[:, known] @ np.linalg.solve(inside, across)
            tables[:, mask] = expected @ self.slopes
        return tables

    def shapley(self):
        """Shapley values of `values`, by the formula."""
        values, n = self.values(), self.n
        found = np.zeros((len(self.rows), n))
        for player in range(n):
            for mask in range(2**n):
                if mask >> player & 1:
                    size = mask.bit_count()
                    share = factorial(size - 1) * factorial(n - size) / factorial(n)
                    found[:, player] += share * (values[:, mask] - values[:, mask ^ 1 << player])
        return found

    def error(self, masking):
        """Root mean square error of the Shapley values under a masking."""
        explainer = tp.Explainer(self.model, self.background, masking=masking, policy="shapley", random_state=0)
        return float(np.sqrt(np.square(explainer(self.rows).values - self.shapley()).mean()))


@pytest.fixture(scope="session")
def gaussian_world():
    return GaussianWorld()


@pytest.fixture(scope="session")
def small_world():
    return GaussianWorld(n=3, rows=300, correlation=0.5, seed=1)
