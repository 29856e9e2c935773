import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taylorpoda.plots.selection import RowView
from taylorpoda.plots.steps import steps_of


def bars(axes):
    return [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in axes.patches]


@pytest.mark.parametrize("max_display", [None, 10, 3, 1])
@pytest.mark.parametrize("row", [0, 5, -1])
def test_it_leads_from_the_base_value_to_the_prediction(several, axes, row, max_display):
    several.plot.waterfall(row, max_display=max_display, ax=axes)
    drawn = bars(axes)
    assert len(drawn) == min(6, max_display or 6)
    assert abs(drawn[0][0] - several.base_values[row]) < 1e-12
    for (_, end), (start, _) in itertools.pairwise(drawn):
        assert end == start
    assert abs(drawn[-1][1] - several.predictions[row]) < 1e-12


def test_each_bar_is_one_attribution(several, axes):
    several.plot.waterfall(3, ax=axes)
    expected = several.values[3][np.argsort(-np.abs(several.values[3]), kind="stable")]
    lengths = np.array([end - start for start, end in bars(axes)])
    assert abs(lengths - expected).max() < 1e-12


def test_everything_drawn_is_inside_the_axes(several, axes):
    several.plot.waterfall(3, ax=axes)
    low, high = axes.get_xlim()
    assert all(low < end < high for pair in bars(axes) for end in pair)


def test_the_ends_are_marked_and_written(known, axes):
    known.plot.waterfall(0, ax=axes)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[0] == "on average"
    assert labels[-1] == "row 0"
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots == [known.base_values[0], known.predictions[0]]


def test_an_output_is_drawn_by_position(three_outputs, axes):
    three_outputs.plot.waterfall(1, output=2, ax=axes)
    assert abs(bars(axes)[-1][1] - three_outputs.predictions[1, 2]) < 1e-12


def view_of(values, base, prediction):
    names = tuple(f"f{k}" for k in range(len(values)))
    return RowView(0, 0, None, names, (None,) * len(values), np.array(values, dtype=float), base, prediction)


def test_attributions_that_do_not_add_up_get_a_step_that_says_so():
    steps = steps_of(view_of([2.0, -1.0], 0.5, 3.0), None)
    assert [step.label for step in steps] == ["f0", "f1", "not attributed"]
    assert steps[-1].unexplained
    assert abs(steps[-1].value - 1.5) < 1e-15
    assert abs(steps[-1].end - 3.0) < 1e-15
    folded = steps_of(view_of([2.0, -1.0, 0.25], 0.5, 3.0), 2)
    assert [step.label for step in folded] == ["f0", "2 other features", "not attributed"]
    assert [step.start for step in folded] == [0.5, 2.5, 1.75]
    assert folded[-1].value == 1.25


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=9),
    st.floats(-1e3, 1e3),
    st.floats(-1e3, 1e3),
    st.one_of(st.none(), st.integers(1, 10)),
)
def test_the_steps_always_end_at_the_prediction(values, base, prediction, limit):
    steps = steps_of(view_of(values, base, prediction), limit)
    assert steps[0].start == base
    assert abs(steps[-1].end - prediction) <= 2e-9 * (abs(base) + abs(prediction) + sum(map(abs, values)))
