"""Explanations of small games whose numbers are known by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp
import taylorpoda.plots

HOSTILE = [
    "$cost_a$",
    '<b>bold</b> & "quoted"',
    "two\nlines\tand a tab",
    "température \N{GREEK SMALL LETTER ALPHA}^2_{x}",
    "x" * 200,
    "100% $ \\frac{1}{",
]


def known_model(rows):
    """2a + ab - 3cd: at ones, with zeros behind, the dividends are H(a)=2, H(ab)=1, H(cd)=-3."""
    a, b, c, d = np.asarray(rows, dtype=float).T
    return 2 * a + a * b - 3 * c * d


def rich_model(rows):
    """Six features, interactions of two and three, no two rows alike."""
    x = np.asarray(rows, dtype=float)
    return x[:, 0] + 0.5 * x[:, 1] * x[:, 2] - x[:, 3] * x[:, 4] * x[:, 0] + 0.1 * x[:, 5]


@pytest.fixture(scope="session")
def known():
    """One row of `known_model`."""
    return tp.Explainer(known_model, np.zeros((1, 4)), random_state=0)(np.ones((1, 4)))


@pytest.fixture(scope="session")
def several():
    """Eight rows of `rich_model` in a DataFrame with hostile names."""
    rng = np.random.default_rng(0)
    background = pd.DataFrame(rng.normal(size=(12, 6)), columns=HOSTILE)
    rows = pd.DataFrame(rng.normal(size=(8, 6)), columns=HOSTILE)
    return tp.Explainer(rich_model, background, random_state=0)(rows)


@pytest.fixture(scope="session")
def three_outputs():
    """Four rows, three outputs without names."""
    rng = np.random.default_rng(1)

    def model(rows):
        x = np.asarray(rows, dtype=float)
        return np.column_stack([x[:, 0] * x[:, 1], x[:, 2] + x[:, 0], x.sum(axis=1)])

    return tp.Explainer(model, rng.normal(size=(5, 3)), random_state=0)(rng.normal(size=(4, 3)))


@pytest.fixture
def axes():
    """Axes of a figure that pyplot knows nothing of."""
    from matplotlib.figure import Figure

    return Figure(figsize=(7, 5)).subplots()
