"""The table a notebook shows."""

from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd

import taylorpoda as tp
from taylorpoda.explanation.html import explanation_html


def parsed(explanation):
    return ET.fromstring(explanation_html(explanation))  # noqa: S314 - our own fragment


def explained(n_rows, n_features, names=None):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(n_rows, n_features)))
    rows.columns = pd.Index(names or [f"f{k}" for k in range(n_features)], dtype=object)
    background = rows.iloc[:1] * 0 if n_rows else pd.DataFrame(np.zeros((1, n_features)), columns=rows.columns)
    model = lambda table: np.asarray(table, dtype=float).prod(axis=1) + np.asarray(table)[:, 0]  # noqa: E731 - its name is what is shown
    return tp.Explainer(model, background, policy="shapley", random_state=0)(rows)


def test_rows_by_features_with_a_bounded_size():
    explanation = explained(25, 14)
    tree = parsed(explanation)
    assert len(tree.findall(".//tbody/tr")) == 10
    assert len(tree.findall(".//thead/tr/th")) == 2 + 12
    said = "".join(tree.itertext())
    assert "25 rows x 14 features" in said
    assert "15 more rows and 2 smaller features" in said
    assert len(explanation_html(explanation)) < 40_000


def test_cells_hold_the_attributions():
    explanation = explained(3, 4)
    tree = parsed(explanation)
    names = [head.text for head in tree.findall(".//thead/tr/th")][2:]
    for row, line in enumerate(tree.findall(".//tbody/tr")):
        for name, cell in zip(names, line.findall("td")[1:], strict=True):
            value = explanation.values[row, explanation.feature_names.index(name)]
            shown = float(cell.text.replace("\N{MINUS SIGN}", "-"))
            assert abs(shown - value) < 0.0051 * np.abs(explanation.values).max()


def test_hostile_names_stay_text():
    names = ["<script>alert(1)</script>", '"><img onerror=x src=y>', "a\x00b"]
    tree = parsed(explained(2, 3, names))
    assert {element.tag for element in tree.iter()} <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert "<script>alert(1)</script>" in [head.text for head in tree.iter("th")]


def test_no_rows_no_table():
    tree = parsed(explained(3, 2)[:0])
    assert tree.find(".//table") is None
    assert "No rows" in "".join(tree.itertext())


def test_several_outputs_show_the_one_the_model_gives_most_to():
    rng = np.random.default_rng(0)
    model = lambda x: np.column_stack([x[:, 0], x[:, 1] * x[:, 0], -x[:, 0]])  # noqa: E731 - its name is what is shown
    explanation = tp.Explainer(model, rng.normal(size=(4, 2)), policy="shapley")(rng.normal(size=(5, 2)))
    tree = parsed(explanation)
    names = list(explanation.output_names)
    for row, line in enumerate(tree.findall(".//tbody/tr")):
        assert line.findall("td")[0].text == names[int(np.argmax(explanation.predictions[row]))]


def test_the_proof_is_said():
    said = "".join(parsed(explained(2, 3)).itertext())
    assert "policy shapley" in said
    assert "(lower is better)" in said
