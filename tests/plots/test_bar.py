import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from taylorpoda.plots.folding import fold


def widths(axes):
    return np.array([patch.get_width() for patch in axes.patches])


def labels(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def test_one_row_gives_signed_bars_in_order_of_size(several, axes):
    several.plot.bar(2, ax=axes)
    order = np.argsort(-np.abs(several.values[2]), kind="stable")
    assert abs(widths(axes) - several.values[2][order]).max() == 0
    shown = [label.split(" = ")[0] for label in labels(axes)]
    assert shown[0] == " ".join(several.feature_names[order[0]].split())[:28] or "…" in shown[0]


def test_labels_hold_the_value_of_the_feature(known, axes):
    known.plot.bar(0, ax=axes)
    assert labels(axes) == ["x0 = 1", "x2 = 1", "x3 = 1", "x1 = 1"]


def test_many_rows_give_mean_absolute_attributions(several, axes):
    several.plot.bar(ax=axes)
    expected = np.sort(np.mean(np.abs(several.values), axis=0))[::-1]
    assert abs(widths(axes) - expected).max() < 1e-15
    assert not any(" = " in label for label in labels(axes))


def test_the_only_row_needs_no_naming(known, axes):
    known.plot.bar(ax=axes)
    assert widths(axes).min() < 0


@pytest.mark.parametrize("row", [None, 1])
def test_what_is_folded_keeps_its_sum(several, axes, row):
    several.plot.bar(row, max_display=3, ax=axes)
    whole = np.abs(several.values).mean(axis=0) if row is None else several.values[1]
    assert len(widths(axes)) == 3
    assert abs(widths(axes).sum() - whole.sum()) < 1e-12
    assert "4 other features" in labels(axes)[-1]


def test_a_single_bar_stands_for_all(several, axes):
    several.plot.bar(0, max_display=1, ax=axes)
    assert labels(axes) == ["all 6 features"]
    assert abs(widths(axes)[0] - several.values[0].sum()) < 1e-12


def test_numbers_beside_the_bars_say_their_widths(known, axes):
    known.plot.bar(0, ax=axes)
    written = [text.get_text().replace("\N{MINUS SIGN}", "-") for text in axes.texts]
    assert abs(np.array(list(map(float, written))) - widths(axes)).max() < 0.005


def test_all_zero_attributions_draw(axes):
    import taylorpoda as tp

    flat = tp.Explainer(lambda rows: np.full(len(rows), 7.0), np.zeros((2, 3)), random_state=0)(np.ones((2, 3)))
    flat.plot.bar(ax=axes)
    assert widths(axes).tolist() == [0, 0, 0]
    for kind in ("bar", "waterfall", "intervals", "interactions"):
        flat.plot(kind, row=0).figure.canvas.draw()
    for kind in ("scores", "beeswarm"):
        flat.plot(kind).figure.canvas.draw()


@given(
    hnp.arrays(float, st.integers(1, 12), elements=st.floats(-1e6, 1e6)),
    st.one_of(st.none(), st.integers(1, 14)),
)
def test_folding_keeps_the_largest_and_the_sum(values, limit):
    folded = fold(values, limit)
    bars = len(folded.shown) + (folded.n_others > 0)
    assert bars == min(len(values), limit or len(values))
    assert len(folded.shown) + folded.n_others == len(values)
    assert folded.n_others != 1
    assert abs(folded.values.sum() + folded.others - values.sum()) <= 1e-9 * (1 + np.abs(values).sum())
    sizes = np.abs(folded.values)
    assert (np.diff(sizes) <= 0).all()
    hidden = np.delete(np.abs(values), folded.shown)
    if len(sizes):
        assert hidden.max(initial=0) <= sizes[-1]
