"""A user's own rule: the one of the documentation against its definition, and one that knows its values."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp
from taylorpoda.games.masking import resolve_masking

PAGE = Path(__file__).parents[3] / "docs" / "value_functions.md"
generator = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {"a": generator.standard_normal(60), "sex": generator.integers(1, 3, 60), "b": generator.standard_normal(60)}
)
FRAME["b"] += 2 * FRAME["sex"]


def model(frame):
    return (frame["a"] * frame["b"] + frame["sex"] * frame["b"]).to_numpy()


@pytest.fixture(scope="module")
def within_sex():
    """The class as the page prints it."""
    (source,) = re.findall(r"^class WithinSex.*?(?=^\S)", PAGE.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    names = {"np": np, "tp": tp, "copy": __import__("copy").copy}
    exec(source, names)  # noqa: S102 - the page's own code
    return names["WithinSex"]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_rule_of_the_documentation_is_what_it_says(within_sex, weighted):
    weights = generator.random(60) if weighted else np.ones(60)
    background = tp.background(FRAME, 60, "sample", weights=weights, random_state=0)
    explainer = tp.Explainer(model, background, masking=within_sex(), policy="shapley", random_state=0)
    rows = FRAME.tail(3)
    explanation = explainer(rows)
    for row in range(3):
        values = tp.values_from(explanation.dividends(row))
        for mask in range(7):
            hybrids, masses = FRAME.copy(), weights.copy()
            for j, name in enumerate(FRAME):
                if mask >> j & 1:
                    hybrids[name] = rows[name].iloc[row]
            if mask >> 1 & 1:
                masses = masses * (FRAME["sex"] == rows["sex"].iloc[row]).to_numpy()
            assert abs(values[mask] - np.average(model(hybrids), weights=masses)) < 1e-9
        assert abs(values[7] - model(rows)[row]) < 1e-12
    assert explanation.provenance["masking"] == "within sex"
    assert explanation.provenance["rows_per_coalition"] == 60


def test_one_rule_serves_several_explainers(within_sex):
    rule = within_sex()
    first = tp.Explainer(model, FRAME.head(30), masking=rule, policy="shapley")
    second = tp.Explainer(model, FRAME.tail(30), masking=rule, policy="shapley")
    bases = [float(np.ravel(each(FRAME.head(1)).base_values)[0]) for each in (first, second)]
    assert bases == pytest.approx([model(FRAME.head(30)).mean(), model(FRAME.tail(30)).mean()])


class Known(tp.masking.DirectMasking):
    """E[slopes . X | x_S] for independent features with mean zero."""

    name = "known"
    slopes = np.array([1.0, -2.0, 0.5])

    def fit(self, context):
        assert context.background.n_columns == 3
        return self

    def values(self, rows, coalitions):
        cells = np.stack([np.asarray(rows.column(j), dtype=float) for j in range(3)], axis=1)
        return (cells[:, None, :] * coalitions * self.slopes).sum(axis=2)[:, :, None]


def test_a_rule_that_knows_its_values_asks_the_model_only_about_the_rows():
    rows = generator.standard_normal((4, 3))
    asked = []

    def predict(x):
        asked.append(len(x))
        return x @ Known.slopes

    explanation = tp.Explainer(predict, rows[:2], masking=Known(), policy="shapley")(rows)
    assert np.abs(explanation.values - rows * Known.slopes).max() < 1e-12
    assert set(asked) <= {4}


@pytest.mark.parametrize("masking", [Known, 3, None, object()])
def test_what_is_no_rule_is_refused(masking):
    with pytest.raises(TypeError, match=r"masking has type .*; allowed: one of .* or an object with a name and a fit"):
        resolve_masking(masking)
