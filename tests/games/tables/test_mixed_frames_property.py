"""Any DataFrame at all: its types reach the model unchanged, and what is explained adds up."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taylorpoda as tp


def day(text):
    return pd.Timestamp(text).to_pydatetime()


NAMES = st.text(st.characters(blacklist_categories=["Cs"]), max_size=8)
FLOATS = st.floats(allow_nan=True, allow_infinity=True)
CELLS = {
    "int64": st.integers(-(2**63), 2**63 - 1),
    "int8": st.integers(-128, 127),
    "uint64": st.integers(0, 2**64 - 1),
    "float64": FLOATS,
    "float32": st.floats(width=32),
    "bool": st.booleans(),
    "str": st.one_of(st.none(), st.text(max_size=4)),
    "object": st.one_of(st.none(), st.text(max_size=3), st.integers(), st.booleans(), st.tuples(st.integers())),
    "Int64": st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
    "boolean": st.one_of(st.none(), st.booleans()),
    "Float32": st.one_of(st.none(), st.floats(width=32, allow_nan=False)),
    "string": st.one_of(st.none(), st.text(max_size=4)),
    "category": st.one_of(st.none(), st.sampled_from(["a", "b", ""])),
    "datetime64[ns]": st.datetimes(day("1970"), day("2100")),
    "timedelta64[ns]": st.timedeltas(dt.timedelta(0), dt.timedelta(days=10**4)),
    "datetime64[ns, Europe/Paris]": st.datetimes(day("1990"), day("2030")),
}


@st.composite
def frames(draw, n_rows=5):
    """A pandas DataFrame of one to four columns of any type and any name."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    columns = {}
    for name in names:
        dtype = draw(st.sampled_from(sorted(CELLS)))
        cells = draw(st.lists(CELLS[dtype], min_size=n_rows, max_size=n_rows))
        if "Paris" in dtype:
            columns[name] = pd.Series(pd.to_datetime(cells).tz_localize("UTC").tz_convert("Europe/Paris"))
        else:
            columns[name] = pd.Series(pd.array(cells, dtype=dtype))
    return pd.DataFrame(columns)


def hashed(cells):
    """A number in [0, 1) for every cell, by its text: a model of anything."""
    return np.array([sum(map(ord, repr(cell))) % 97 / 97 for cell in cells])


@settings(max_examples=60)
@given(frame=frames())
def test_types_reach_the_model_and_values_add_up(frame):
    def predict(rows):
        assert list(rows.dtypes) == list(frame.dtypes)
        assert list(rows.columns) == list(frame.columns)
        total = np.zeros(len(rows))
        for name in rows.columns:
            total = total * 1.3 + hashed(rows[name]) * (1 + total)
        return total

    explanation = tp.Explainer(predict, frame[:3], policy="optimal")(frame[3:])
    assert np.max(np.abs(explanation.discrepancy)) <= 1e-9 * max(1.0, np.max(np.abs(explanation.predictions)))
    pd.testing.assert_frame_equal(explanation.data, frame[3:])
    assert list(explanation.to_frame().columns) == [str(name) for name in frame.columns]


@settings(max_examples=40)
@given(frame=frames())
def test_what_is_saved_comes_back(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "explained"
    explanation = tp.Explainer(
        lambda rows: hashed(rows[rows.columns[0]]), frame[:3], policy="shapley", groups={"all": list(frame.columns)}
    )(frame[3:])
    explanation.save(path)
    again = tp.load(path)
    pd.testing.assert_frame_equal(again.data, explanation.data)
    assert np.array_equal(again.values, explanation.values)


@settings(max_examples=40)
@given(frame=frames())
def test_polars_agrees_with_pandas(frame):
    pl = pytest.importorskip("polars")
    columns = {}
    for name in frame.columns:
        cells = [None if cell is pd.NA or cell is None or cell is pd.NaT else cell for cell in frame[name]]
        kinds = {type(cell) for cell in cells if cell is not None}
        if (
            kinds <= {int, float, bool, str}
            and len(kinds) <= 1
            and not any(isinstance(c, float) and math.isnan(c) for c in cells)
        ):
            columns[name] = pl.Series(name, cells, strict=False)
    if not columns:
        return
    table = pl.DataFrame(list(columns.values()))

    def predict(rows):
        assert rows.schema == table.schema
        return sum(hashed(rows[name].to_list()) for name in rows.columns)

    explanation = tp.Explainer(predict, table[:3], policy="shapley")(table[3:])
    assert np.max(np.abs(explanation.discrepancy)) < 1e-12
    assert explanation.to_frame().columns == table.columns
