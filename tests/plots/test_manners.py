"""What every kind of picture promises: axes in, axes out, nothing else touched, any name drawn as it is written."""

import inspect
import subprocess
import sys
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import taylorpoda as tp
from taylorpoda.plots.accessor import KINDS
from taylorpoda.plots.selection import RowView, row_cells, select_row

PER_ROW = ["bar", "interactions", "intervals", "waterfall"]


@pytest.fixture(autouse=True)
def _no_figure_left():
    plt.close("all")
    yield
    plt.close("all")


@pytest.mark.parametrize("kind", KINDS)
def test_axes_in_the_same_axes_out_and_nothing_global_touched(several, axes, kind, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("a picture must never show itself"))
    before = dict(mpl.rcParams)
    assert getattr(several.plot, kind)(ax=axes) is axes
    axes.figure.canvas.draw()
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("kind", KINDS)
def test_without_axes_there_is_one_new_figure_of_its_own(several, kind):
    current = plt.figure()
    axes = getattr(several.plot, kind)()
    assert isinstance(axes, Axes)
    assert axes.figure is not current
    assert len(plt.get_fignums()) == 2


def test_a_script_without_pyplot_opens_no_window():
    script = """
import sys, io
import numpy as np
import taylorpoda as tp
import taylorpoda.plots, taylorpoda.report
assert "matplotlib" not in sys.modules, "matplotlib is loaded on use, not on import"
explanation = tp.Explainer(lambda rows: rows[:, 0] * rows[:, 1], np.zeros((1, 2)), policy="shapley")(np.ones((1, 2)))
repr(explanation.plot)
assert "matplotlib" not in sys.modules
axes = explanation.plot.waterfall(0)
axes.figure.savefig(io.BytesIO(), format="png")
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_hostile_names_are_drawn_as_they_are_written(several, axes, kind, suffix, tmp_path):
    getattr(several.plot, kind)(ax=axes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes.figure.savefig(tmp_path / f"picture.{suffix}")
    for label in [*axes.get_yticklabels(), axes.title, axes.xaxis.label]:
        assert not label.get_parse_math() or "$" not in label.get_text()
        assert "\n" not in label.get_text()
        assert len(label.get_text()) < 90


@pytest.mark.parametrize("kind", KINDS)
def test_a_title_fits_the_figure_made_for_it(kind):
    """That of the heat map of two features was cut off."""
    background = np.array([[0.0, 1.0], [1.0, 0.0]])
    explanation = tp.Explainer(lambda rows: np.stack([rows.sum(1), rows.prod(1)], axis=1), background)(background)
    axes = getattr(explanation.plot, kind)(output=1)
    axes.figure.draw_without_rendering()
    for said in (axes.get_window_extent(), axes._left_title.get_window_extent(), axes.xaxis.label.get_window_extent()):
        assert said.x0 >= 0
        assert said.x1 <= axes.figure.bbox.width


def test_math_signs_are_not_math(several, axes):
    several.plot.bar(ax=axes)
    assert "$cost_a$" in [label.get_text() for label in axes.get_yticklabels()]
    axes.figure.canvas.draw()
    assert not any(label.get_parse_math() for label in axes.get_yticklabels())


def test_the_same_picture_on_a_dark_page_is_written_in_light_ink(known):
    with plt.style.context("dark_background"):
        axes = plt.figure().subplots()
    known.plot.waterfall(0, ax=axes)
    assert {text.get_color() for text in axes.texts} == {"white"}


def test_cells_of_any_kind_are_shown():
    columns = {
        "when": pd.to_datetime(["2024-01-03 04:00", "2024-01-03 09:00"]),
        "what": ["blue", None],
        "gap": [np.nan, 1.5],
        "flag": [True, False],
        "kind": pd.Categorical(["a", "b"]),
        "count": pd.array([1, None], dtype="Int64"),
    }
    rows = pd.DataFrame(columns)
    explanation = tp.Explainer(lambda table: table["flag"].to_numpy(dtype=float), rows, random_state=0)(rows)
    assert row_cells(explanation, 0) == ("2024-01-03 04:00", "blue", "missing", "True", "a", "1")
    assert row_cells(explanation, 1) == ("2024-01-03 09:00", "missing", "1.5", "False", "b", "missing")
    for kind in KINDS:
        explanation.plot(kind).figure.canvas.draw()


def test_a_group_of_columns_has_no_single_value():
    explanation = tp.Explainer(lambda x: x.sum(axis=1), np.zeros((2, 3)), groups=["a", "a", "b"])(np.ones((2, 3)))
    assert row_cells(explanation, 0) == (None, "1")
    assert select_row(explanation, 0).label(0) == "a"
    explanation.plot.beeswarm()


@pytest.mark.parametrize("kind", PER_ROW)
@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        (8, ValueError, r"row=8 does not exist; allowed: -8 to 7"),
        (-9, ValueError, "row=-9"),
        ("0", TypeError, "row='0' has type str"),
        (1.0, TypeError, "row=1.0 has type float"),
        (True, TypeError, "row=True has type bool"),
    ],
)
def test_wrong_rows_are_refused(several, kind, row, error, message):
    with pytest.raises(error, match=message):
        getattr(several.plot, kind)(row)
    assert plt.get_fignums() == []


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows_nothing_to_draw(several, kind):
    with pytest.raises(ValueError, match="no rows"):
        getattr(several[:0].plot, kind)()


@pytest.mark.parametrize("kind", KINDS)
def test_several_outputs_must_be_chosen_from(three_outputs, kind):
    with pytest.raises(ValueError, match="3 outputs are explained; choose one of"):
        getattr(three_outputs.plot, kind)()
    with pytest.raises(ValueError, match="output=7"):
        getattr(three_outputs.plot, kind)(output=7)
    getattr(three_outputs.plot, kind)(output=-1)


@pytest.mark.parametrize("kind", ["bar", "beeswarm", "interactions", "intervals", "waterfall"])
@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (-3, ValueError), (2.5, TypeError), ("all", TypeError)])
def test_wrong_limits_are_refused(several, kind, value, error):
    with pytest.raises(error, match="max_display="):
        getattr(several.plot, kind)(max_display=value)


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_axes_are_refused(several, kind):
    with pytest.raises(TypeError, match="ax has type str"):
        getattr(several.plot, kind)(ax="here")


def test_the_accessor_lists_its_kinds(several, known):
    assert all(f".{kind}()" in repr(several.plot) for kind in KINDS)
    with pytest.raises(AttributeError, match="no kind of picture 'bars'; known: bar"):
        _ = several.plot.bars
    with pytest.raises(ValueError, match="Did you mean 'waterfall'"):
        several.plot("waterfal")
    assert len(several.plot().patches) == 6
    assert known.plot().get_yticklabels()[0].get_text() == "on average"
    assert list(inspect.signature(several.plot.bar).parameters) == ["row", "output", "max_display", "ax"]


def test_discrepancy_ignores_rounding_only():
    def view(prediction):
        return RowView(0, 0, None, ("a",), (None,), np.array([1.0]), 0.5, prediction)

    assert view(1.5 + 1e-13).discrepancy == 0
    assert abs(view(1.6).discrepancy - 0.1) < 1e-12
