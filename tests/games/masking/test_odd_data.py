"""Constant and duplicate columns, one row, gaps, unseen categories: the right answer or an error that helps."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp
from taylorpoda.games.masking.cells import CellReader
from taylorpoda.games.tables import read_table

NUMERIC = ("gaussian", "copula")
ANY = ("neighbours", "conditional")
generator = np.random.default_rng(0)
ROWS = generator.standard_normal((200, 3))
ROWS[:, 1] += ROWS[:, 0]


def model(x):
    return np.nan_to_num(2 * x[:, 0] + x[:, 1] * x[:, 2])


def explain(masking, background, rows, predict=model, **options):
    explainer = tp.Explainer(predict, background, masking=masking, policy="shapley", random_state=0, **options)
    explanation = explainer(rows)
    assert np.isfinite(explanation.values).all()
    assert np.abs(explanation.discrepancy).max() < 1e-9
    return explanation


@pytest.mark.parametrize("masking", NUMERIC + ANY)
def test_a_constant_column_earns_nothing(masking):
    background = np.column_stack([ROWS, np.full(200, 7.0)])
    strange = np.column_stack([ROWS[:3], np.full(3, 9.0)])
    values = explain(masking, background, strange).values
    assert np.abs(values[:, 3]).max() < 1e-12


@pytest.mark.parametrize("value", [7.0, 0.1, 1e18 / 3, -1e300])
@pytest.mark.parametrize("masking", NUMERIC)
def test_a_constant_column_reaches_the_model_as_it_is(masking, value):
    background = np.column_stack([ROWS, np.full(200, value)])

    def predict(rows):
        assert set(rows[:, 3]) == {value}
        return rows[:, 0]

    explain(masking, background, background[:2], predict)


@pytest.mark.parametrize("scale", [1e-250, 1e250])
@pytest.mark.parametrize("masking", [*NUMERIC, "neighbours"])
def test_the_unit_of_a_column_does_not_matter(masking, scale):
    units = np.array([1.0, 1.0, scale])
    plain = explain(masking, ROWS, ROWS[:3]).values
    scaled = explain(masking, ROWS * units, ROWS[:3] * units, lambda x: model(x / units)).values
    assert np.abs(plain - scaled).max() < 1e-9


@pytest.mark.parametrize("masking", NUMERIC)
def test_a_difference_of_a_few_ticks_is_a_difference(masking):
    """Nanoseconds since 1970 that differ by microseconds vary: their deviation is 1e-15 of their size."""
    ticks = 1.7e18 + np.round(ROWS[:, 0] * 8) * 256
    background = np.column_stack([ROWS, ticks])
    values = explain(masking, background, background[:3], lambda x: (x[:, 3] - 1.7e18) / 2048).values
    assert np.abs(values[:, 0]).max() > 0.3 * np.abs(values[:, 3]).max()  # it says the same as the first column


@pytest.mark.parametrize("masking", ["gaussian", "copula", "neighbours"])
def test_columns_that_determine_one_another_share(masking):
    background = ROWS[:, [0, 1, 2, 0]]
    values = explain(masking, background, background[:4]).values
    assert np.abs(values[:, 0] - values[:, 3]).max() < 0.02 * np.abs(values).max()


@pytest.mark.parametrize("masking", ["gaussian", "copula", "neighbours", "conditional", "marginal"])
def test_with_one_background_row_all_maskings_are_the_baseline(masking):
    background, rows = ROWS[:1], ROWS[1:4]
    baseline = explain("baseline", background, rows).values
    assert np.abs(explain(masking, background, rows).values - baseline).max() < 1e-12


@pytest.mark.parametrize("masking", ["gaussian", "copula", "neighbours", "conditional", "marginal"])
@pytest.mark.parametrize("groups", [None, {"a": [0, 3], "b": [1], "c": [2, 4]}])
def test_knowing_all_that_varies_leaves_nothing_open(masking, groups):
    """v(all that varies) is the model with the constants of the background, whatever the row has there."""
    background = np.column_stack([ROWS, np.full(200, 7.0), np.full(200, -1.0)])
    rows = np.column_stack([ROWS[:2], [7.0, 9.0], [-1.0, 4.0]])

    def predict(x):
        return model(x) + x[:, 3] * x[:, 4]

    explanation = explain(masking, background, rows, predict, groups=groups)
    for row in range(2):
        values = tp.values_from(explanation.dividends(row))
        if groups is None:
            hybrids = np.tile(rows[row], (4, 1))
            hybrids[[0, 2], 3], hybrids[[0, 1], 4] = 7.0, -1.0
            assert np.abs(values[[0b00111, 0b01111, 0b10111, 0b11111]] - predict(hybrids)).max() < 1e-9
        assert abs(values[-1] - predict(rows[row : row + 1])[0]) < 1e-12


def test_a_surrogate_leaves_open_what_varies_in_another_background():
    """Trained where the last column never varies, it cannot know it where the explainer's background does."""
    constant = np.column_stack([ROWS, np.full(200, 7.0)])
    surrogate = tp.masking.Conditional(seed=0).train(model, constant)
    varying = np.column_stack([ROWS, np.arange(200.0)])
    for background, certain in ((constant, True), (varying, False)):
        explanation = explain(surrogate, background, constant[:1])
        values = tp.values_from(explanation.dividends(0))
        assert (abs(values[0b0111] - values[-1]) < 1e-12) == certain


@pytest.mark.parametrize("masking", NUMERIC + ANY)
@pytest.mark.parametrize("rows", [2, 3, 5])
def test_a_handful_of_rows(masking, rows):
    explain(masking, ROWS[:rows], ROWS[10:12])


@pytest.mark.parametrize("masking", NUMERIC)
def test_numbers_only_says_which_take_the_rest(masking):
    gaps = ROWS.copy()
    gaps[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"row 3 of the background has nan in column 'x1'.*conditional.*neighbours"):
        explain(masking, gaps, ROWS[:2])
    with pytest.raises(ValueError, match="row 1 of X has nan"):
        explain(masking, ROWS, gaps[2:4])
    frame = pd.DataFrame({"a": ROWS[:, 0], "c": pd.Categorical(["u", "v"] * 100)})
    with pytest.raises(ValueError, match=r"column 'c' of the background holds the categories u, v.*neighbours"):
        explain(masking, frame, frame.head(2), lambda d: d["a"].to_numpy())
    dates = pd.DataFrame({"a": ROWS[:, 0], "d": pd.date_range("2020", periods=200)})
    with pytest.raises(ValueError, match="column 'd' of the background holds datetime64"):
        explain(masking, dates, dates.head(2), lambda d: d["a"].to_numpy())


@pytest.mark.parametrize("masking", ANY)
def test_gaps_and_whole_columns_of_them(masking):
    gaps = ROWS.copy()
    gaps[::3, 1] = np.nan
    explain(masking, gaps, gaps[:4])
    empty = ROWS.copy()
    empty[:, 2] = np.nan
    for rows in (empty[:3], ROWS[:3]):
        values = explain(masking, empty, rows, lambda x: x[:, 0]).values
        assert np.abs(values[:, 2]).max() < 0.1 * np.abs(values).max()


def test_rows_with_infinite_cells_are_neighbors_of_their_own_kind():
    background = ROWS[:90].copy()
    background[:30, 0], background[30:60, 0] = np.inf, -np.inf
    background[:, 1] = np.repeat([1.0, 2.0, 3.0], 30)
    rows = background[[0, 30, 60]]
    explanation = explain("neighbours", background, rows, lambda x: x[:, 1])
    for row, expected in enumerate([1.0, 2.0, 3.0]):
        assert abs(tp.values_from(explanation.dividends(row))[0b001] - expected) < 1e-3


KINDS = {
    "decimals": [Decimal(k) / 4 for k in range(12)],
    "instants": [datetime(2024, 3, 1, k, tzinfo=UTC) for k in range(12)],
    "days": [date(2024, 3, 1 + k) for k in range(12)],
    "times": [time(k, 30) for k in range(12)],
    "spans": [timedelta(hours=k) for k in range(12)],
    "periods": list(pd.period_range("2024-03", periods=12, freq="M")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_objects_that_are_numbers_at_heart_are_numbers(kind):
    cells = np.empty(13, dtype=object)
    cells[:12], cells[12] = KINDS[kind], None
    table = read_table(pd.DataFrame({"c": pd.Series(cells, dtype=object)}), "rows")
    reader = CellReader.of(table)
    assert reader.columns[0].kind == "number"
    assert reader.columns[0].missing
    read = reader.read(table)[:, 0]
    steps = np.diff(read[:12])
    assert np.isnan(read[12])
    assert steps.min() > 0
    assert np.ptp(steps) < 1e-9 * steps[0]


def test_instants_with_a_time_zone_are_those_without():
    naive = pd.date_range("2024-03-30", periods=50, freq="7h")
    zoned = naive.tz_localize("UTC").tz_convert("Europe/Paris")
    found = []
    for days in (naive, zoned):
        frame = pd.DataFrame({"t": days, "a": ROWS[:50, 0].cumsum()})
        found.append(explain("neighbours", frame, frame.head(3), lambda rows: rows["a"]).values)
    assert np.abs(found[0] - found[1]).max() < 1e-9
    assert np.abs(found[0][:, 0]).max() > 0.1


def test_neighbors_among_many_rows_keep_to_the_memory_bound():
    rows = np.random.default_rng(1).standard_normal((20_000, 6))
    explainer = tp.Explainer(model, rows, masking="neighbours", policy="shapley", max_memory="48MiB")
    tracemalloc.start()
    explainer(rows[:1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 48 * 2**20


def frame_of(rows=200):
    return pd.DataFrame(
        {
            "a": ROWS[:rows, 0],
            "i": generator.integers(0, 9, rows),
            "b": generator.random(rows) < 0.3,
            "c": pd.Categorical(generator.choice(list("xyz"), rows)),
            "s": generator.choice(["u", "v", None], rows),
            "t": pd.date_range("2020", periods=rows),
        }
    )


def frame_model(frame):
    assert [str(kind) for kind in frame.dtypes[["i", "b", "c"]]] == ["int64", "bool", "category"]
    return frame["a"] + frame["i"] * frame["b"] + 2 * (frame["c"] == "x") + 3 * (frame["s"] == "u")


@pytest.mark.parametrize("masking", ANY)
def test_mixed_frames_reach_the_model_as_they_are(masking):
    frame = frame_of()
    strange = frame.head(3).copy()
    strange["s"] = ["never seen", "u", None]
    explain(masking, frame, frame.head(3), frame_model)
    explain(masking, frame, strange, frame_model)


@pytest.mark.parametrize("masking", ANY)
def test_a_category_never_seen_tells_nothing(masking):
    frame = pd.DataFrame({"c": ["u", "v"] * 100, "a": np.arange(200.0)})

    def predict(rows):
        return 5.0 * (rows["c"] == "u") + 0 * rows["a"]

    explanation = explain(masking, frame, pd.DataFrame({"c": ["new", "u"], "a": [3.0, 4.0]}), predict)
    values = tp.values_from(explanation.dividends(0))
    assert abs(values[0] - 2.5) < 1e-12
    # Not v or u: 2.5 as if nothing were known. Hybrid rows do hold "new", which the model answers with 0.
    assert abs(values[1] - (0.0 if masking == "neighbours" else 2.5)) < 0.3
    known = tp.values_from(explanation.dividends(1))
    assert abs(known[1] - 5.0) < 0.5


def test_a_category_never_seen_tells_a_network_nothing_however_rare_the_others_are():
    frame = pd.DataFrame({"c": ["u"] * 160 + ["v"] * 30 + ["w"] * 10, "a": generator.random(200)})

    def predict(rows):
        return 5.0 * (rows["c"] == "u") - 5.0 * (rows["c"] == "w")

    explanation = explain("conditional", frame, pd.DataFrame({"c": ["new"], "a": [0.5]}), predict)
    values = tp.values_from(explanation.dividends(0))
    assert abs(values[0] - 3.75) < 1e-12
    assert abs(values[1] - 3.75) < 0.3


@pytest.mark.parametrize("masking", NUMERIC)
def test_integers_and_booleans_stay_what_they_are(masking):
    frame = frame_of()[["a", "i", "b"]]

    def predict(rows):
        assert [str(kind) for kind in rows.dtypes] == ["float64", "int64", "bool"]
        assert set(rows["i"]) <= set(frame["i"])
        return rows["a"] + rows["i"] * rows["b"]

    explain(masking, frame, frame.head(3), predict)


@pytest.mark.parametrize("masking", NUMERIC)
def test_narrow_numbers_stay_narrow(masking):
    def predict(rows):
        assert rows.dtype == np.float32
        return rows[:, 0] * rows[:, 1]

    explain(masking, ROWS.astype(np.float32), ROWS[:2].astype(np.float32), predict)


@pytest.mark.parametrize("masking", NUMERIC + ANY)
@pytest.mark.parametrize("options", [{"groups": {"pair": [0, 1]}}, {"n_jobs": 2}])
def test_groups_and_threads(masking, options):
    explain(masking, ROWS, ROWS[:4], **options)


@pytest.mark.parametrize("masking", NUMERIC + ANY)
def test_a_row_does_not_depend_on_its_neighbors(masking):
    explainer = tp.Explainer(model, ROWS, masking=masking, policy="shapley", random_state=0)
    together, reversed_ = explainer(ROWS[:6]).values, explainer(ROWS[:6][::-1]).values[::-1]
    alone = np.concatenate([explainer(ROWS[k : k + 1]).values for k in range(6)])
    scale = np.abs(together).max()
    assert np.abs(together - reversed_).max() <= 1e-12 * scale
    assert np.abs(together - alone).max() <= 1e-12 * scale


@pytest.mark.parametrize("masking", NUMERIC + ANY)
def test_background_weights_count_like_repeated_rows(masking):
    """Exactly so where everything is a weighted mean; the network draws other batches, so it is left out."""
    if masking == "conditional":
        weighted = tp.Background(ROWS[:50], np.repeat([0.03, 0.01], 25), np.arange(50), "given", 0, None, None)
        explanation = explain(masking, weighted, ROWS[60:62])
        expected = np.average(model(ROWS[:50]), weights=weighted.weights)
        assert abs(float(explanation.base_values[0]) - expected) < 1e-9
        return
    weights = np.where(np.arange(60) < 30, 2.0, 1.0)
    weighted = tp.Background(ROWS[:60], weights / weights.sum(), np.arange(60), "given", 0, None, None)
    if masking == "neighbours":
        rule = tp.masking.Neighbours(neighbours=90)
        repeated = np.concatenate([ROWS[:30], ROWS[:60]])
        once, twice = explain(rule, weighted, ROWS[60:63]), explain(rule, repeated, ROWS[60:63])
        assert np.abs(once.values - twice.values).max() < 0.15 * np.abs(once.values).max()
        return
    assert np.isfinite(explain(masking, weighted, ROWS[60:63]).values).all()
