"""Columns of lists, as embeddings and tags are kept in: stored with their type, or refused by name."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import taylorpoda as tp

FLOATS = [[1.0, float("nan")], None, [], [3.0, None]]
POLARS = {
    "floats": pl.Series(FLOATS, dtype=pl.List(pl.Float64)),
    "single": pl.Series([[0.1], [0.2], None, []], dtype=pl.List(pl.Float32)),
    "whole": pl.Series([[2**63 - 1], [], [1, 2], None], dtype=pl.List(pl.Int64)),
    "texts": pl.Series([["a", None], ["é\n"], [], None], dtype=pl.List(pl.String)),
    "nested": pl.Series([[[True], None], [], None, [[]]], dtype=pl.List(pl.List(pl.Boolean))),
    "fixed": pl.Series([[1, 2], [3, 4], None, [5, 6]], dtype=pl.Array(pl.UInt8, 2)),
}
ARROW = {
    "floats": pa.array(FLOATS, pa.list_(pa.float64())),
    "single": pa.array([[0.1], [0.2], None, []], pa.list_(pa.float32())),
    "whole": pa.array([[2**63 - 1], [], [1, 2], None], pa.list_(pa.int64())),
    "large": pa.array([["a", None], ["é\n"], [], None], pa.large_list(pa.string())),
    "nested": pa.array([[[True], None], [], None, [[]]], pa.list_(pa.list_(pa.bool_()))),
    "fixed": pa.array([[1, 2], [3, 4], None, [5, 6]], pa.list_(pa.uint8(), 2)),
    "named": pa.array([[1], [2], None, []], pa.list_(pa.field("element", pa.int8()))),
}


def lengths(rows):
    lists = rows["lists"]
    cells = lists.to_list() if hasattr(lists, "to_list") else lists.to_pylist()
    return np.array([0 if cell is None else len(cell) for cell in cells]) * np.asarray(rows["number"])


def saved(rows, folder):
    explanation = tp.Explainer(lengths, rows, policy="shapley")(rows)
    explanation.save(folder / "explained")
    loaded = tp.load(folder / "explained")
    assert np.array_equal(loaded.values, explanation.values)
    return loaded.data


@pytest.mark.parametrize("kind", POLARS)
def test_polars(kind, tmp_path):
    rows = pl.DataFrame({"lists": POLARS[kind], "number": [1.0, 2.0, 3.0, 4.0]})
    found = saved(rows, tmp_path)
    assert found.schema == rows.schema
    assert found.equals(rows)


@pytest.mark.parametrize("kind", ARROW)
def test_pyarrow(kind, tmp_path):
    rows = pa.table({"lists": ARROW[kind], "number": [1.0, 2.0, 3.0, 4.0]})
    found = saved(rows, tmp_path)
    assert str(found.schema) == str(rows.schema)
    assert repr(found.to_pylist()) == repr(rows.to_pylist())


@pytest.mark.parametrize(
    "rows",
    [
        pl.DataFrame({"lists": [[dt.date(2024, 1, 1)], []], "number": [1.0, 2.0]}),
        pa.table({"lists": [[{"k": 1}], []], "number": [1.0, 2.0]}),
        pd.DataFrame({"lists": [{1}, {2}], "number": [1.0, 2.0]}),
        pd.DataFrame({"lists": [np.zeros(2), np.ones(1)], "number": [1.0, 2.0]}),
    ],
)
def test_what_cannot_be_stored_is_named(rows, tmp_path):
    explanation = tp.Explainer(lengths, rows, policy="shapley")(rows)
    with pytest.raises(
        TypeError, match=r"column 'lists' h(as the type|olds a cell of type) .* cannot be stored.*allowed"
    ):
        explanation.save(tmp_path / "explained")
    assert not list(tmp_path.iterdir())
