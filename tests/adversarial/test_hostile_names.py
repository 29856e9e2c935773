"""Names that would run, repaint or break whatever shows them: everywhere they are text, and come back as they were."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import taylorpoda as tp
from taylorpoda.cli import main
from taylorpoda.cli.outputs import write_output
from taylorpoda.cli.screens import explanation_screen
from taylorpoda.report import page

NAMES = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></svg></table><b>x",
    "&lt;script&gt;&amp;",
    "javascript:alert(1)",
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("http://evil","x")',
    "+1+1",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    "two\nlines",
    'a,"b";c',
    "\x1b[2J\x1b[31mred\x07",
    "[bold red]x[/bold red]",
    "$x^2$ \\frac{1}{0}",
    "{{7*7}} {% raw %} %s %n",
    "\u202egnp.exe",
    "e\u0301\u0302\u0303\u200d\N{PILE OF POO}",
    "\x00null",
    " ",
    "../../etc/passwd",
    "long" * 1_500,
]


def explain(names, outputs=("<b>no</b>", "=1+1")):
    """Two outputs, of names that are as bad."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(5, len(names))).round(3), columns=names)
    groups = None if len(names) <= 8 else [names[j] if j < 7 else names[-1] for j in range(len(names))]
    model = lambda rows: np.stack([rows.to_numpy().sum(axis=1), rows.to_numpy()[:, 0]], axis=1)  # noqa: E731
    return tp.Explainer(model, frame[:2], groups=groups, policy="shapley", output_names=outputs)(frame[2:])


@pytest.fixture(scope="module", params=[NAMES[:8], NAMES[8:16], NAMES[16:], NAMES])
def explanation(request):
    return explain(request.param)


def tags(html):
    """Every element of a page or a fragment, read by a strict parser."""
    body = re.sub(r"<!doctype html>|<(meta|link|br|hr|img|col|input)\b([^>]*?)/?>", r"", html, flags=re.IGNORECASE)
    return list(ET.fromstring(f"<root>{body}</root>".replace("&nbsp;", " ")).iter())  # noqa: S314 - our own page


def test_pages_show_them_as_text(explanation):
    for html in (explanation._repr_html_(), page(explanation, utilities=["inclusion_aup"])):
        assert "<script" not in html.lower()
        assert "<img" not in html.lower()
        for element in tags(html):
            assert not [name for name in element.attrib if name.lower().startswith("on")]
            assert not [value for value in element.attrib.values() if value.strip().lower().startswith("javascript:")]


@pytest.mark.parametrize("kind", ["bar", "waterfall"])
def test_pictures_show_them_as_text(kind, explanation, tmp_path):
    import matplotlib.pyplot as plt

    axes = getattr(explanation[:, 0].plot, kind)()
    axes.figure.savefig(tmp_path / "picture.svg")
    plt.close(axes.figure)
    picture = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert "<script" not in picture
    ET.fromstring(picture)  # noqa: S314 - our own picture


def test_a_spreadsheet_runs_none_of_them(explanation, tmp_path):
    write_output(tmp_path / "out.csv", explanation, np.arange(3))
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as stream:
        lines = list(csv.reader(stream))
    assert len(lines) == 1 + 3 * 2
    assert {len(line) for line in lines} == {8 + len(explanation.feature_names)}
    for cell in (cell for line in lines for cell in line):
        assert not cell.startswith(("=", "+", "@", "\t", "\r")) or _is_number(cell)
        assert not cell.startswith("-") or _is_number(cell)
    shown = [name.removeprefix("'") for name in lines[0][8:]]
    assert shown == list(explanation.feature_names)


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_a_terminal_prints_one_line_a_row_and_no_control_character(explanation):
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=False, width=120, markup=False, highlight=False)
    for part in explanation_screen(explanation, np.arange(3), 0.0):
        console.print(part)
    said = stream.getvalue() + repr(explanation)
    assert {mark for mark in said if unicodedata.category(mark) in {"Cc", "Cs"}} <= {"\n"}
    assert "\u202e" not in stream.getvalue()
    assert max(len(line) for line in stream.getvalue().splitlines()) <= 130
    assert len(said) < 10_000


def test_they_come_back_from_files_as_they_were(explanation, tmp_path):
    for kind in ("json", "parquet", "npz"):
        write_output(tmp_path / f"out.{kind}", explanation, np.arange(3))
    names = list(explanation.feature_names)
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["feature_names"] == names
    assert list(pd.read_parquet(tmp_path / "out.parquet").columns)[8:] == names
    assert tp.load(tmp_path / "out.npz").feature_names == tuple(names)


def test_from_the_shell_to_every_file(tmp_path, monkeypatch, capsys):
    """A model of such columns, a CSV file of them, every kind of output; errors that quote them are one line."""
    joblib = pytest.importorskip("joblib")
    from sklearn.linear_model import LinearRegression

    names = [NAMES[j] for j in (0, 5, 12, 14, 15, 18)]
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(9, len(names))).round(2), columns=names)
    monkeypatch.chdir(tmp_path)
    frame.to_csv("data.csv", index=False)
    joblib.dump(LinearRegression().fit(frame, frame.sum(axis=1)), "model.joblib")
    outputs = [word for kind in ("csv", "json", "html", "parquet", "npz") for word in ("--out", f"out.{kind}")]
    assert main(["explain", "model.joblib", "data.csv", "--trust", "--rows", "0:2", *outputs]) == 0
    written = capsys.readouterr()
    assert "\x1b" not in written.out + written.err
    assert json.loads((tmp_path / "out.json").read_text())["feature_names"] == names
    assert "<script>" not in (tmp_path / "out.html").read_text()
    frame.drop(columns=names[3]).to_csv("less.csv", index=False)
    assert main(["explain", "model.joblib", "less.csv", "--trust"]) == 2
    said = capsys.readouterr().err
    assert "has no column for the model's features" in said
    assert said.count("\n") == 1
    assert "\x1b" not in said


LABELS = st.one_of(
    st.integers(-5, 10**12),
    st.floats(allow_nan=False),
    st.booleans(),
    st.dates(),
    st.tuples(st.integers(0, 3), st.text(max_size=2)),
    st.text(st.sampled_from("a=<>&\"'\n\t\x00\x1b\u202e,;é\N{PILE OF POO} "), max_size=6),
)
INDEXES = {
    "repeated": lambda n: pd.Index([7] * n),
    "dates": lambda n: pd.date_range("2020-01-01", periods=n, tz="Asia/Tokyo"),
    "missing": lambda n: pd.Index([None, *range(n - 1)], dtype=object),
    "mixed": lambda n: pd.Index(["=1", 2, (3, "x"), None, 5.5][:n], dtype=object),
    "two levels": lambda n: pd.MultiIndex.from_product([["a", "<b>"], range(n)], names=["=x", None])[:n],
    "named": lambda n: pd.RangeIndex(-n, 0, name="</td>"),
}


@settings(max_examples=40)
@given(
    labels=st.lists(LABELS, min_size=1, max_size=4, unique_by=str),
    index=st.sampled_from(sorted(INDEXES)),
    data=st.data(),
)
def test_labels_of_any_type_and_any_index(labels, index, data, tmp_path_factory):
    """Labels that are no text, and row labels that repeat, are missing, or have several levels."""
    cells = {position: data.draw(st.lists(st.floats(-9, 9), min_size=5, max_size=5)) for position in range(len(labels))}
    frame = pd.DataFrame(cells)
    frame.columns = pd.Index(labels, dtype=object)
    frame.index = INDEXES[index](5)

    def predict(rows):
        assert list(rows.columns) == list(frame.columns)
        return rows.to_numpy().sum(axis=1)

    explanation = tp.Explainer(predict, frame[:2], policy="shapley")(frame[2:])
    assert np.max(np.abs(explanation.discrepancy)) <= 1e-9
    assert explanation.feature_names == tuple(map(str, labels))
    pd.testing.assert_frame_equal(explanation.data, frame[2:])
    pd.testing.assert_index_equal(explanation.to_frame().index, frame.index[2:])
    assert "<script" not in explanation._repr_html_()
    path = tmp_path_factory.mktemp("labels") / "saved"
    explanation.save(path)
    again = tp.load(path)
    pd.testing.assert_frame_equal(again.data, explanation.data, check_freq=False)
    assert again.feature_names == explanation.feature_names
