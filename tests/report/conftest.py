"""Explanations for pages: several policies, hostile names, several outputs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp

HOSTILE = [
    "<script>alert(1)</script>",
    "\"onmouseover='x' a=\"",
    "</style><img src=x onerror=alert(2)>",
    "]]>--><svg/onload=alert(3)>&amp;",
    "nul\x00 bell\x07 \u202e end",
]


def rich_model(rows):
    """Five features, interactions of two and three."""
    x = np.asarray(rows, dtype=float)
    return x[:, 0] + 0.5 * x[:, 1] * x[:, 2] - x[:, 3] * x[:, 4] * x[:, 0]


@pytest.fixture(scope="session")
def hostile():
    """Twelve rows under hostile names, with hostile cells and row labels."""
    rng = np.random.default_rng(0)
    background = pd.DataFrame(rng.normal(size=(7, 5)), columns=pd.Index(HOSTILE, dtype=object)).astype(object)
    rows = pd.DataFrame(rng.normal(size=(12, 5)), columns=pd.Index(HOSTILE, dtype=object)).astype(object)
    for frame in (background, rows):
        frame["<td onclick=alert(4)>"] = ["<img src=//evil.example/x.png>\u2028&"] * len(frame)
    rows.index = [f"<b>{k}</b>" for k in range(12)]
    model = lambda table: rich_model(table.iloc[:, :5])  # noqa: E731 - a name that ends up in provenance
    return tp.Explainer(model, background, random_state=0)(rows, np.arange(12) % 2)


@pytest.fixture(scope="session")
def named(hostile):
    """Two policies for the same rows."""
    return {"shapley": hostile.reallocate(policy="shapley"), "<i>adapted</i>": hostile}


@pytest.fixture(scope="session")
def three_outputs():
    """Four rows, three outputs."""
    rng = np.random.default_rng(1)

    def model(rows):
        x = np.asarray(rows, dtype=float)
        return np.column_stack([x[:, 0] * x[:, 1], x[:, 2] + x[:, 0], x.sum(axis=1)])

    return tp.Explainer(model, rng.normal(size=(5, 3)), random_state=0)(rng.normal(size=(4, 3)))
