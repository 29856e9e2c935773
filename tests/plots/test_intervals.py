import numpy as np
import pytest
from matplotlib.colors import to_hex

from taylorpoda.plots import style
from taylorpoda.plots.intervals import CERTAIN, OPEN
from taylorpoda.plots.selection import signs_fixed


def spans(axes):
    """(low, high, color, marker) of the interval of each feature, top to bottom."""
    lines = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_ydata()[0] == line.get_ydata()[1]]
    lines.sort(key=lambda line: line.get_ydata()[0])
    return [(*line.get_xdata(), to_hex(line.get_color()), line.get_marker()) for line in lines]


def marks(axes, marker):
    return next(
        line.get_xdata() for line in axes.lines if line.get_marker() == marker and line.get_linestyle() == "None"
    )


def test_intervals_of_a_game_known_by_hand(known, axes):
    """2a + ab - 3cd at ones: a in [2, 3] for sure positive, b in [0, 1] and c, d in [-3, 0] may vanish."""
    known.plot.intervals(0, ax=axes)
    order = np.argsort(-np.abs(known.values[0]), kind="stable")
    by_hand = np.array([[2, 3], [0, 1], [-3, 0], [-3, 0]])[order]
    drawn = spans(axes)
    assert abs(np.array([span[:2] for span in drawn]) - by_hand).max() < 1e-12
    colors = {int(player): (span[2], span[3]) for player, span in zip(order, drawn, strict=True)}
    assert colors[0] == (style.POSITIVE, "|")
    assert {colors[player] for player in (1, 2, 3)} == {(style.LIGHT, "none")}


def test_attribution_and_shapley_value_are_marked(known, axes):
    known.plot.intervals(0, ax=axes)
    order = np.argsort(-np.abs(known.values[0]), kind="stable")
    assert abs(marks(axes, "D") - np.array([2.5, 0.5, -1.5, -1.5])[order]).max() < 1e-12
    assert abs(marks(axes, "o") - known.values[0][order]).max() == 0


def test_every_attribution_lies_inside_its_interval(several, axes):
    several.plot.intervals(4, ax=axes)
    ends = np.array([span[:2] for span in spans(axes)])
    for marker in ("D", "o"):
        assert (ends[:, 0] - 1e-12 <= marks(axes, marker)).all()
        assert (marks(axes, marker) <= ends[:, 1] + 1e-12).all()


def test_the_legend_and_the_title_say_which_signs_are_certain(known, axes):
    known.plot.intervals(0, ax=axes)
    said = [text.get_text() for text in axes.get_legend().get_texts()]
    assert CERTAIN in said
    assert OPEN in said
    assert "Shapley value" in said
    assert "1 of 4" in axes.get_title(loc="left")


def test_features_left_out_are_counted(several, axes):
    several.plot.intervals(0, max_display=2, ax=axes)
    assert len(spans(axes)) == 2
    assert "4 smaller" in axes.get_xlabel()


def test_the_shapley_policy_marks_itself(several, axes):
    several.reallocate(policy="shapley").plot.intervals(1, ax=axes)
    assert abs(marks(axes, "D") - marks(axes, "o")).max() == 0


def test_one_output_of_several(three_outputs, axes):
    three_outputs.plot.intervals(2, output=0, ax=axes)
    order = np.argsort(-np.abs(three_outputs.values[2, :, 0]), kind="stable")
    expected = np.column_stack([three_outputs.lower[2, :, 0], three_outputs.upper[2, :, 0]])[order]
    assert abs(np.array([span[:2] for span in spans(axes)]) - expected).max() < 1e-12


@pytest.mark.parametrize(
    ("low", "high", "fixed"),
    [(1.0, 2.0, True), (-2.0, -1.0, True), (-1.0, 1.0, False), (0.0, 1.0, False), (1e-17, 1.0, False), (0, 0, False)],
)
def test_a_sign_is_certain_only_beyond_rounding(low, high, fixed):
    assert signs_fixed(np.array([low, -5.0]), np.array([high, 5.0])).tolist() == [fixed, False]
