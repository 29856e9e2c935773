"""Value functions against one hybrid row at a time, and what reaches the model."""

from __future__ import annotations

import datetime as dt
import tracemalloc
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import taylorpoda as tp


def tables(model, background, rows, **options):
    return tp.Explainer(model, background, policy="shapley", random_state=0, **options)(rows).games.values


def wavy(rows):
    rows = np.asarray(rows, dtype=float)
    return np.sin(rows[:, 0]) * rows[:, 1] + rows[:, 2 % rows.shape[1]] ** 2 + rows.prod(axis=1)


@given(
    n=st.integers(1, 5),
    donors=st.integers(1, 7),
    levels=st.sampled_from([1, 2, 3, 1000]),
    seed=st.integers(0, 2**16),
)
def test_values_equal_brute_force_whether_cells_repeat_or_not(brute_values, n, donors, levels, seed):
    rng = np.random.default_rng(seed)
    background = rng.integers(0, levels, size=(donors, n)).astype(float)
    rows = rng.integers(0, levels, size=(3, n)).astype(float)

    def model(z):
        return np.sin(z @ np.arange(1.0, n + 1)) + z[:, 0] ** 2

    got = tables(model, background, rows)
    for row, table in zip(rows, got[:, 0], strict=True):
        expected = brute_values(model, row, background)
        assert np.abs(table - expected).max() <= 1e-12 * max(1, np.abs(expected).max())


@given(levels=st.sampled_from([2, 3, 50]), seed=st.integers(0, 2**16))
def test_no_hybrid_row_of_an_explained_row_is_evaluated_twice(levels, seed):
    rng = np.random.default_rng(seed)
    background = rng.integers(0, levels, size=(6, 4)).astype(float)
    row = rng.integers(0, levels, size=(1, 4)).astype(float)
    seen = []

    def model(z):
        seen.append(z.copy())
        return z.sum(axis=1)

    explanation = tp.Explainer(model, background, policy="shapley", random_state=0)(row)
    seen_rows = np.concatenate(seen)
    assert explanation.provenance["model_rows_evaluated"] == len(seen_rows)
    # The explained row itself is asked for once more, to see that the model answers the same way twice, and again
    # where it is a background row too: f(x) and the base value come from calls of their own.
    again = 1 + int((background == row).all(axis=1).any())
    assert len(seen_rows) == len(np.unique(seen_rows, axis=0)) + again


def test_all_101_background_rows_count():
    """Another library cuts a background of 101 rows to 100 without a word."""
    background = np.arange(101.0)[:, None]
    explanation = tp.Explainer(lambda z: z[:, 0], background, policy="shapley")([[1000.0]])
    assert abs(explanation.base_values[0] - 50.0) < 1e-12
    assert abs(explanation.values[0, 0] - 950.0) < 1e-12


def test_timestamps_a_few_hours_apart_are_different():
    """Deciding by approximate equality whether a feature varies drops a real timestamp difference."""
    hours = np.array([0.0, 3600.0, 7200.0])
    background = np.column_stack([1.7e9 + hours, np.ones(3)])
    explanation = tp.Explainer(lambda z: (z[:, 0] - 1.7e9) / 3600, background, policy="shapley")(
        [[1.7e9 + 4 * 3600, 1.0]]
    )
    assert np.abs(explanation.values[0] - [3.0, 0.0]).max() < 1e-9


def mixed_frame():
    return pd.DataFrame(
        {
            "text": ["a", "b", None, "a", "c", "b"],
            "category": pd.Categorical(["u", "v", "u", "w", "v", "u"]),
            "when": pd.date_range("2026-01-01", periods=6, freq="3h"),
            "whole": np.arange(6, dtype="int32"),
            "real": [0.5, np.nan, 1.5, -0.0, 0.0, 2.5],
            "flag": pd.array([True, False, None, True, None, False], dtype="boolean"),
        }
    )


def read_mixed(frame):
    hour = frame["when"].dt.hour.to_numpy()
    return (
        (frame["text"] == "a").to_numpy() * 1.0
        + (frame["category"] == "u").to_numpy() * hour
        + frame["whole"].to_numpy() * frame["real"].fillna(-3.0).to_numpy()
        + frame["flag"].fillna(False).to_numpy(dtype=float) * 2.0
    )


def test_mixed_dtypes_reach_the_model_unchanged():
    frame = mixed_frame()

    def model(rows):
        assert (rows.dtypes == frame.dtypes).all()
        assert list(rows["category"].cat.categories) == ["u", "v", "w"]
        return read_mixed(rows)

    explanation = tp.Explainer(model, frame, policy="shapley", random_state=0)(frame.iloc[[1, 4]])
    columns = list(frame.columns)
    for position, label in enumerate([1, 4]):
        table = explanation.games.values[position, 0]
        for mask in range(2 ** len(columns)):
            hybrid = frame.copy()
            for j, column in enumerate(columns):
                if mask >> j & 1:
                    hybrid[column] = frame[column].take([label] * len(frame)).array
            assert abs(table[mask] - read_mixed(hybrid).mean()) < 1e-12


def test_columns_of_a_frame_are_found_by_name():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 3)), columns=["p", "q", "r"])
    explainer = tp.Explainer(lambda z: z["p"] * 2 - z["r"] * z["q"], frame, policy="shapley", random_state=0)
    straight, shuffled = explainer(frame[:4]), explainer(frame[["r", "p", "q"]][:4])
    assert np.array_equal(straight.values, shuffled.values)


def test_weights_are_carried_into_the_mean(brute_values):
    class Weighted:
        rows = np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 0.0], [0.0, 1.0, 2.0]])
        weights = np.array([1.0, 2.0, 5.0])

    row = np.array([2.0, -1.0, 0.5])
    got = tables(wavy, Weighted(), row)[0, 0]
    assert np.abs(got - brute_values(wavy, row, Weighted.rows, Weighted.weights / 8)).max() < 1e-12


def test_groups_enter_and_leave_together():
    rng = np.random.default_rng(1)
    background, row = rng.normal(size=(5, 4)), rng.normal(size=(1, 4))
    explanation = tp.Explainer(wavy, background, groups={"pair": ["x0", "x2"]}, policy="shapley", random_state=0)(row)
    assert explanation.feature_names == ("pair", "x1", "x3")
    hybrid = background.copy()
    hybrid[:, [0, 2]] = row[0, [0, 2]]
    assert abs(explanation.games.values[0, 0, 1] - wavy(hybrid).mean()) < 1e-12


def test_baseline_takes_one_row(brute_values):
    baseline, row = np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0, -1.0])
    got = tables(wavy, baseline, row, masking="baseline")[0, 0]
    assert np.abs(got - brute_values(wavy, row, baseline[None])).max() < 1e-12
    with pytest.raises(ValueError, match="exactly one row, got 2"):
        tp.Explainer(wavy, np.ones((2, 3)), masking="baseline")


def test_a_small_max_memory_gives_the_same_values():
    rng = np.random.default_rng(3)
    background, rows = rng.integers(0, 3, size=(40, 8)).astype(float), rng.integers(0, 3, size=(2, 8)).astype(float)
    assert np.abs(tables(wavy, background, rows) - tables(wavy, background, rows, max_memory="200KiB")).max() < 1e-12


def test_threads_give_the_same_values_and_the_model_stays_in_its_thread_without_them():
    import threading

    rng = np.random.default_rng(3)
    background, rows = rng.normal(size=(20, 6)), rng.normal(size=(7, 6))
    names = set()

    def model(z):
        names.add(threading.current_thread().name)
        return wavy(z)

    alone = tables(model, background, rows)
    assert names == {threading.main_thread().name}
    assert np.array_equal(alone, tables(model, background, rows, n_jobs=2))


def test_a_model_that_scribbles_on_its_input_changes_nothing():
    rng = np.random.default_rng(4)
    background, rows = rng.normal(size=(6, 3)), rng.normal(size=(2, 3))
    kept = background.copy(), rows.copy()

    def model(z):
        out = wavy(z)
        z[:] = -1
        return out

    assert np.array_equal(tables(model, background, rows), tables(wavy, *kept))
    assert np.array_equal(background, kept[0])
    assert np.array_equal(rows, kept[1])


def test_ctrl_c_leaves_nothing_half_done():
    calls = []

    def model(z):
        calls.append(len(z))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return wavy(z)

    explainer = tp.Explainer(model, np.random.default_rng(0).normal(size=(5, 4)), policy="shapley", random_state=0)
    rows = np.random.default_rng(1).normal(size=(3, 4))
    with pytest.raises(KeyboardInterrupt):
        explainer(rows)
    again = explainer(rows)
    assert np.abs(again.discrepancy).max() < 1e-12


def test_a_category_the_background_does_not_name_is_named():
    frame = mixed_frame()[["category", "whole"]]
    row = pd.DataFrame({"category": pd.Categorical(["z"]), "whole": np.array([1], dtype="int32")})
    with pytest.raises(ValueError, match=r"column 'category' of X holds \['z'\]"):
        tp.Explainer(lambda z: z["whole"].astype(float), frame, policy="shapley")(row)


def test_longer_texts_in_an_array_are_read_whole():
    background = np.array([["u"], ["v"]])
    explanation = tp.Explainer(lambda z: np.char.str_len(z[:, 0]), background, policy="shapley")([["longer"]])
    assert explanation.predictions[0] == 6


def twins(first, second):
    cells = np.empty((3, 2), dtype=object)
    cells[:, 0] = [first, second, "other"]
    cells[:, 1] = [1, 1, 2]
    return cells


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((1,), (True,)),
        ((0.0,), (-0.0,)),
        (pd.Timestamp("2024-01-01T00:00Z"), pd.Timestamp("2024-01-01T01:00+01:00")),
        (dt.datetime(2024, 1, 1, tzinfo=dt.UTC), dt.datetime(2024, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1)))),
        (Decimal("1.0"), Decimal("1.00")),
        (complex(0.0, 0.0), complex(-0.0, 0.0)),
        (np.datetime64("2024"), np.datetime64("2024-01-01")),
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
    ],
)
def test_equal_cells_that_a_model_can_tell_apart_are_kept_apart(first, second):
    """Cells were merged by type and value, so (1,) stood in for (True,) and one time zone for another."""
    background, row = twins(first, second), np.empty(2, dtype=object)
    row[:] = [first, 2]

    def model(rows):
        return np.array([float(sum(map(ord, repr(cell)))) * (weight + 1) for cell, weight in rows])

    table = tables(model, background, row[None, :])[0, 0]
    for coalition in range(4):
        hybrids = background.copy()
        for j in (0, 1):
            if coalition >> j & 1:
                hybrids[:, j] = [row[j]] * 3
        assert abs(table[coalition] - model(hybrids).mean()) < 1e-9


def test_equal_cells_that_nothing_tells_apart_are_evaluated_once():
    cells = np.array([[float("nan"), "a"], [float("nan"), "a"], [dt.date(2024, 1, 1), None]] * 2, dtype=object)
    seen = []

    def model(rows):
        seen.append(len(rows))
        return np.array([float(isinstance(cell, float)) for cell, _ in rows])

    tables(model, cells, cells[:1])
    assert sum(seen) == 2 + 2 + 2  # two askings of x, two distinct donors, two mixed rows


def test_texts_in_an_object_column_reach_the_model_as_objects():
    """pandas 3 reads texts without a dtype as strings: predictions saw objects, hybrid rows saw strings."""
    background = pd.DataFrame({"s": pd.Series(["a", "b", None], dtype=object), "x": [1.0, 2.0, 3.0]})

    def model(frame):
        assert frame.dtypes.equals(background.dtypes)
        return frame["x"] * (frame["s"] == "a")

    tables(model, background, background[:2])
    tables(model, background, [["b", 5.0]])


def test_columns_called_rows_and_weights_are_columns():
    """A DataFrame with these two columns was taken for weighted rows."""
    background = pd.DataFrame({"rows": [1.0, 2.0], "weights": [3.0, 5.0], "x": [0.0, 1.0]})
    assert tables(lambda frame: frame["rows"] * frame["weights"], background, background).shape == (2, 1, 8)


def test_one_baseline_row_as_a_list_keeps_its_cells():
    """A flat list of texts and numbers became an array of texts."""
    table = tables(lambda rows: [float(type(row[1]) is float) for row in rows], ["a", 1.5], ["b", 2.5])
    assert np.array_equal(table, np.ones((1, 1, 4)))


@pytest.mark.parametrize("background", [np.array([["a", "b"]]), np.array([["2024", "2025"]], dtype="M8[s]")])
def test_an_empty_list_is_zero_rows_of_any_type(background):
    assert tables(lambda rows: np.zeros(len(rows)), background, []).shape == (0, 1, 4)


def test_masked_cells_are_refused():
    """The mask of explained rows was dropped without a word."""
    masked = np.ma.masked_array(np.ones((1, 2)), mask=[[True, False]])
    with pytest.raises(ValueError, match="X is a masked array"):
        tables(lambda rows: rows[:, 0], np.zeros((2, 2)), masked)


@pytest.mark.parametrize("bound", [2 * 10**6, 4 * 10**6])
@pytest.mark.parametrize(("n", "donors"), [(10, 1000), (12, 100)])
def test_memory_is_bounded_where_cells_repeat(bound, n, donors):
    """What says which hybrid rows coincide was kept for all donors together, whatever the bound."""
    rng = np.random.default_rng(0)
    background, rows = (rng.integers(0, 3, size=(k, n)).astype(float) for k in (donors, 2))
    explainer = tp.Explainer(lambda z: z[:, 0] * z[:, 1], background, policy="shapley", max_memory=bound)
    tracemalloc.start()
    got = explainer(rows).games.values
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= bound
    free = tp.Explainer(lambda z: z[:, 0] * z[:, 1], background, policy="shapley")(rows).games.values
    assert np.abs(got - free).max() <= 1e-12


@pytest.mark.parametrize("groups", [{"a": np.array([0, 2])}, {"a": (0, "x2")}, ["a", "b", "a"], {"a": [0, 2], "x1": 1}])
def test_groups_are_read_in_any_form(groups):
    assert tables(wavy, np.ones((2, 3)), np.zeros((1, 3)), groups=groups).shape == (1, 1, 4)


@pytest.mark.parametrize(
    "groups", [{"a": 1.5}, {"a": None}, {"a": [True]}, {"a": [3]}, {"a": [-1]}, {"a": [0], "b": [0]}]
)
def test_groups_that_name_no_column_are_refused(groups):
    with pytest.raises(ValueError, match="groups: "):
        tp.Explainer(wavy, np.ones((2, 3)), groups=groups)
