"""Rows that say which cell is which, a Series or mappings, are read by name whatever the background is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lightgbm import LGBMRegressor
from sklearn.linear_model import LinearRegression

import taylorpoda as tp
from taylorpoda.games.tables import read_table
from taylorpoda.games.tables.frames import labeled_rows

NAMES = ["a", "b", "c"]
TABLE = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=NAMES)
FORMS = {
    "series": pd.Series,
    "mapping": lambda row: row,
    "mappings": lambda row: [row],
    "columns": lambda row: {name: [cell] for name, cell in row.items()},
    "arrays": lambda row: {name: np.array([cell]) for name, cell in row.items()},
}
CONTAINERS = {
    "numpy": lambda table: table.to_numpy(),
    "pandas": lambda table: table,
    "polars": pl.from_pandas,
    "pyarrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_labels_beat_positions(container, form):
    """A Series in another order was once read by position beside an array, though the model knew the names."""
    model = LinearRegression().fit(TABLE, TABLE["a"] + 2 * TABLE["b"] + 3 * TABLE["c"])
    predict = (lambda rows: model.predict(rows.to_pandas())) if container == "pyarrow" else model
    explainer = tp.Explainer(predict, CONTAINERS[container](TABLE), policy="shapley")
    row = FORMS[form](TABLE.iloc[4][["c", "a", "b"]].to_dict())
    expected = explainer(CONTAINERS[container](TABLE)[4:5] if container != "pyarrow" else TABLE[4:5])
    assert np.max(abs(explainer(row).values - expected.values)) <= 1e-12


@pytest.mark.parametrize("form", FORMS)
def test_trees_without_a_background(form):
    model = LGBMRegressor(n_estimators=5, min_child_samples=2, verbose=-1).fit(TABLE, TABLE["a"] * TABLE["b"])
    explainer = tp.Explainer(model, None, policy="shapley")
    row = FORMS[form](TABLE.iloc[4][["c", "a", "b"]].to_dict())
    assert np.array_equal(explainer(row).values, explainer(TABLE[4:5]).values)


def test_labels_that_name_no_column_are_positions():
    array = read_table(TABLE.to_numpy(), "background").renamed(tuple(NAMES))
    assert np.array_equal(array.read(pd.Series([1.0, 2.0, 3.0]), "X").native(), [[1.0, 2.0, 3.0]])


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"a": 1.0}, r"missing \['b', 'c'\]"),
        ({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}, r"not in the background \['d'\]"),
        ([{"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 1.0, "b": 2.0}], "row 1 of X names"),
        ({"a": [1.0], "b": [2.0, 3.0], "c": [4.0]}, r"columns of X have the lengths \[1, 2\]"),
        (pd.Series([1.0, 2.0, 3.0, 4.0], index=["a", "a", "b", "c"]), r"several columns named \['a'\]"),
    ],
)
def test_rows_that_do_not_fit_are_refused(container, rows, message):
    background = read_table(CONTAINERS[container](TABLE), "background")
    if container == "numpy":
        background = background.renamed(tuple(NAMES))
    with pytest.raises(ValueError, match=message):
        background.read(rows, "X")


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.fixed_dictionaries({"a": st.integers(-9, 9), "t": st.sampled_from(["x", "y"])}), min_size=1),
    turned=st.booleans(),
)
def test_mappings_are_the_frame_of_their_rows(rows, turned):
    given_rows = [dict(reversed(row.items())) for row in rows] if turned else rows
    names, columns = labeled_rows(given_rows, "X")
    assert dict(zip(names, columns, strict=True)) == {name: [row[name] for row in rows] for name in names}
    background = pd.DataFrame({"a": [1, 2], "t": ["x", "y"]})
    for frame in (background, pl.from_pandas(background)):
        read = read_table(frame, "background").read(given_rows, "X").native()
        assert [dict(zip(("a", "t"), row, strict=True)) for row in zip(read["a"], read["t"], strict=True)] == rows


def test_one_labeled_row_is_a_background():
    model = LinearRegression().fit(TABLE, TABLE["a"] + 2 * TABLE["b"])
    expected = tp.Explainer(model, TABLE.mean().to_frame().T, masking="baseline", policy="shapley")(TABLE[:3])
    found = tp.Explainer(model, TABLE.mean(), masking="baseline", policy="shapley")(TABLE[:3])
    assert np.array_equal(found.values, expected.values)
    assert found.feature_names == tuple(NAMES)


@pytest.mark.parametrize("columns", [["a", "b"], ["a", "b", "c", "d"], ["a", "b", "d"]])
def test_a_background_of_other_columns_is_told_from_the_model(columns):
    """Libraries say that something mismatches; which of the two tables must change, only we can say."""
    model = LinearRegression().fit(TABLE, TABLE["a"])
    background = TABLE.assign(d=0.0)[columns]
    message = r"fitted on the columns \['a', 'b', 'c'\], but the background has .* columns of the model"
    with pytest.raises(ValueError, match=message):
        tp.Explainer(model, background)(background[:1])


def test_what_has_no_labels_is_left_alone():
    for data in ([1.0, 2.0], [[1.0]], np.zeros(3), (), {}, "abc", TABLE):
        assert labeled_rows(data, "X") is None
