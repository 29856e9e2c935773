"""The pictures of all rows, and the heat map."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from taylorpoda.plots.beeswarm import spread
from taylorpoda.plots.scores import gain_of, share_of_gain


def test_the_swarm_has_one_dot_per_row_and_feature(several, axes):
    several.plot.beeswarm(ax=axes)
    dots = [np.asarray(part.get_offsets()) for part in axes.collections]
    order = np.argsort(-np.abs(several.values).mean(axis=0), kind="stable")
    drawn = [np.sort(np.concatenate([part[abs(part[:, 1] - k) < 0.5, 0] for part in dots])) for k in range(6)]
    for k, player in enumerate(order):
        assert abs(drawn[k] - np.sort(several.values[:, player])).max() < 1e-15


def test_the_swarm_shows_the_largest_features_only(several, axes):
    several.plot.beeswarm(max_display=2, ax=axes)
    assert len(axes.get_yticklabels()) == 2
    assert "4 smaller" in axes.get_xlabel()


@given(hnp.arrays(float, st.integers(1, 200), elements=st.floats(-10, 10)))
def test_dots_stay_in_their_lane_and_never_share_a_place(values):
    heights = spread(values)
    assert np.abs(heights).max() <= 0.38 + 1e-12
    places = set(zip(values.tolist(), heights.tolist(), strict=True))
    assert len(places) == len(values)


def test_pictures_of_one_output_of_several_name_it(three_outputs, axes):
    name = three_outputs.output_names[1]
    figure = axes.figure
    for draw in ("bar", "waterfall", "intervals", "interactions", "beeswarm", "scores"):
        figure.clf()
        drawn = getattr(three_outputs.plot, draw)(output=1, ax=figure.add_subplot())
        said = drawn.get_title(loc="left") + drawn.get_xlabel()
        assert f"output {name}" in said or f"for {name}" in said, draw


def test_scores_of_all_rows_are_drawn(several, axes):
    several.plot.scores(ax=axes)
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    order = np.argsort(-several.shapley_score, kind="stable")
    assert abs(lines["Shapley value"] - several.shapley_score[order]).max() == 0
    assert abs(lines[f"policy {several.policy!r}"] - several.score[order]).max() == 0
    assert abs(next(y for name, y in lines.items() if name.startswith("ceiling")) - several.ceiling[order]).max() == 0
    assert "lower is better" in axes.get_ylabel()


def test_share_of_the_possible_gain():
    shapley, ceiling = np.array([4.0, 2.0]), np.array([2.0, 1.0])
    assert abs(share_of_gain(shapley, shapley, ceiling)) < 1e-15
    assert abs(share_of_gain(ceiling, shapley, ceiling) - 1) < 1e-15
    assert abs(share_of_gain(np.array([2.5, 2.0]), shapley, ceiling) - 0.5) < 1e-15
    assert np.isnan(share_of_gain(shapley, shapley, shapley))
    assert np.isnan(share_of_gain(shapley, shapley, np.array([2.0, np.nan])))


def test_shapley_gains_nothing_over_itself(several):
    gain = gain_of(several.reallocate(policy="shapley"))
    assert abs(gain.share) < 1e-12
    assert str(gain).startswith("0%")


def test_the_heat_map_holds_the_dividends(known, axes):
    known.plot.interactions(0, ax=axes)
    heat = axes.images[0].get_array()
    by_hand = np.zeros((4, 4))
    by_hand[0, 0], by_hand[1, 0], by_hand[3, 2] = 2, 1, -3
    assert abs(heat.filled(0.0) - by_hand).max() < 1e-12
    assert heat.mask.tolist() == np.triu(np.ones((4, 4), dtype=bool), 1).tolist()


@pytest.mark.parametrize("max_display", [1, 2])
def test_the_heat_map_keeps_the_strongest_features(known, axes, max_display):
    known.plot.interactions(0, max_display=max_display, ax=axes)
    assert axes.images[0].get_array().shape == (max_display, max_display)
    assert "not shown" in axes.get_title(loc="left")


def test_the_heat_map_of_one_output(three_outputs, axes):
    three_outputs.plot.interactions(1, output=0, ax=axes)
    expected = three_outputs.interactions(order=2)[1, :, :, 0]
    lower = np.tril(np.ones((3, 3), dtype=bool))
    assert abs(axes.images[0].get_array().data[lower] - expected[lower]).max() < 1e-15
