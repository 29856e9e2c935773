"""Cells and columns that do not fit those of the background, in every container."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import torch
from scipy import sparse

import taylorpoda as tp


def count(rows):
    """Any container: one number a row."""
    return np.zeros(rows.shape[0] if hasattr(rows, "shape") else rows.num_rows)


def explain(background, X, **options):
    return tp.Explainer(count, background, policy="shapley", **options)(X)


class Weighted:
    """A background with weights, as `taylorpoda.background` makes one."""

    def __init__(self, rows, weights):
        self.rows, self.weights = rows, weights


CASES = {
    "pandas: a missing column": (
        lambda w: explain(w.frame, w.frame[["a", "b"]]),
        ValueError,
        "X has other columns than the background: missing ['c']. Expected ['a', 'b', 'c'].",
    ),
    "pandas: another name": (
        lambda w: explain(w.frame, w.frame.rename(columns={"c": "C"})),
        ValueError,
        "X has other columns than the background: missing ['c']; not in the background ['C'].",
    ),
    "pandas: a column too many": (
        lambda w: explain(w.frame, w.frame.assign(d=1)),
        ValueError,
        "X has other columns than the background: not in the background ['d']. Expected ['a', 'b',",
    ),
    "pandas: background names a column twice": (
        lambda w: explain(pd.DataFrame(w.X, columns=["a", "a", "b"]), w.X),
        ValueError,
        "background has several columns named ['a']; column names must be unique.",
    ),
    "pandas: names that are the same text": (
        lambda w: explain(pd.DataFrame(w.X, columns=[1, "1", 2]), w.X),
        ValueError,
        "background has several columns named ['1']; column names must be unique.",
    ),
    "pandas: texts where the background has numbers": (
        lambda w: explain(w.frame, w.frame.astype(object).assign(a="tall")),
        ValueError,
        "column 'a' of X has ... but the background has float64, and not every cell fits;",
    ),
    "pandas: a new category": (
        lambda w: explain(w.mixed, w.mixed.assign(c=pd.Categorical(["green"] * 8))),
        ValueError,
        "column 'c' of X holds ['green'], which the background's categories ['blue', 'red'] do not",
    ),
    "pandas: fractions for integers": (
        lambda w: explain(w.mixed, w.mixed.assign(n=0.5)),
        ValueError,
        "column 'n' of X has ... but the background has int64, and not every cell fits;",
    ),
    "pandas: gaps among integers": (
        lambda w: explain(w.mixed, w.mixed.assign(n=np.nan)),
        ValueError,
        "column 'n' of X has ... but the background has int64, and not every cell fits;",
    ),
    "pandas: gaps among nullable and plain": (
        lambda w: explain(w.mixed, w.mixed.assign(n=pd.array([None] * 8, dtype="Int64"))),
        ValueError,
        "column 'n' of X has ... but the background has int64, and not every cell fits;",
    ),
    "pandas: dates for numbers": (
        lambda w: explain(w.frame, w.frame.assign(a=pd.Timestamp("2020-01-01"))),
        ValueError,
        "column 'a' of X has ... but the background has float64, and not every cell",
    ),
    "pandas: numbers for dates": (
        lambda w: explain(w.frame.assign(a=pd.Timestamp("2020-01-01")), w.frame),
        ValueError,
        "column 'a' of X has ... but the background has datetime64",
    ),
    "pandas: another time zone": (
        lambda w: explain(
            w.frame.assign(a=pd.Timestamp("2020-01-01", tz="UTC")), w.frame.assign(a=pd.Timestamp("2020-01-01"))
        ),
        ValueError,
        "column 'a' of X has ... but the background has datetime64",
    ),
    "pandas: numbers for booleans": (
        lambda w: explain(w.frame.assign(a=True), w.frame.assign(a=2)),
        ValueError,
        "column 'a' of X has ... but the background has bool, and not every cell fits;",
    ),
    "pandas: integers beyond the background's": (
        lambda w: explain(w.frame.assign(a=np.int8(1)), w.frame.assign(a=1000)),
        ValueError,
        "column 'a' of X has ... but the background has int8, and not every cell fits;",
    ),
    "pandas: a row without a name of ours": (
        lambda w: explain(w.frame, pd.Series({"a": 1.0, "b": 2.0, "z": 3.0})),
        ValueError,
        "X has other columns than the background: missing ['c']; not in the background ['z'].",
    ),
    "pandas: a row of texts": (
        lambda w: explain(w.frame, pd.Series({"a": "x", "b": "y", "c": "z"})),
        ValueError,
        "column 'a' of X has ... but the background has float64, and not every cell fits,",
    ),
    "pandas: an array of other width": (
        lambda w: explain(w.frame, np.zeros((2, 5))),
        ValueError,
        "X has shape (2, 5); the background is a DataFrame with the 3 columns ['a', 'b', 'c'].",
    ),
    "pandas: a list of dictionaries without a column": (
        lambda w: explain(w.frame, [{"a": 1, "b": 2}]),
        ValueError,
        "X has other columns than the background: missing ['c']. Expected ['a', 'b', 'c'].",
    ),
    "pandas: a list of dictionaries that differ": (
        lambda w: explain(w.frame, [{"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2}]),
        ValueError,
        "row 1 of X names ['a', 'b'], but row 0 names ['a', 'b', 'c'].",
    ),
    "pandas: a list of dictionaries for the background": (
        lambda w: explain([{"a": 1, "b": 2, "c": 3}], w.X),
        TypeError,
        "background is a list of dictionaries; allowed: a DataFrame, e.g. pandas.DataFrame(background).",
    ),
    "pandas: a Series for the background": (
        lambda w: explain(pd.Series([1.0, 2.0], name="a"), w.X),
        (TypeError, ValueError),
        "background has shape (2,); expected (rows, columns) with at least one column.",
    ),
    "pandas: several header rows": (
        lambda w: explain(pd.DataFrame(w.X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 1), ("b", 1)])), w.X),
        ValueError,
        "background has several columns named [\"('a', 1)\"]; column names must be unique.",
    ),
    "numpy: texts where the background has numbers": (
        lambda w: explain(w.X, [["a", "b", "c"]]),
        ValueError,
        "X has ... but the background has float64, and not every cell fits, such as 'a';",
    ),
    "numpy: one text": (
        lambda w: explain(w.X, [[1.0, "2", 3.0]]),
        ValueError,
        "X has ... but the background has float64, and not every cell fits, such as '2';",
    ),
    "numpy: None among numbers": (
        lambda w: explain(w.X.astype(np.int64), [[1, None, 3]]),
        ValueError,
        "X has ... but the background has int64, and not every cell fits, such as None;",
    ),
    "numpy: complex": (
        lambda w: explain(w.X, np.array([[1j, 2, 3]])),
        ValueError,
        "X has ... but the background has float64, and not every cell fits; convert one",
    ),
    "numpy: fractions for integers": (
        lambda w: explain(np.arange(6).reshape(2, 3), [[0.5, 1, 2]]),
        ValueError,
        "X has ... but the background has int64, and not every cell fits; convert one of",
    ),
    "numpy: NaN for integers": (
        lambda w: explain(np.arange(6).reshape(2, 3), [[np.nan, 1, 2]]),
        ValueError,
        "X has ... but the background has int64, and not every cell fits; convert one of",
    ),
    "numpy: integers beyond the background's": (
        lambda w: explain(np.ones((2, 3), dtype=np.int8), [[1, 2, 3000]]),
        ValueError,
        "X has ... but the background has int8, and not every cell fits; convert one of them",
    ),
    "numpy: precision beyond the background's": (
        lambda w: explain(w.X.astype(np.float32), [[0.1, 0.2, 0.3]]),
        ValueError,
        "X has ... but the background has float32, and not every cell fits; convert one of",
    ),
    "numpy: dates for numbers": (
        lambda w: explain(w.X, np.array([["2020-01-01"] * 3], dtype="M8[D]")),
        ValueError,
        "X has ... but the background has float64, and not every cell fits; convert",
    ),
    "numpy: masked cells": (
        lambda w: explain(w.X, np.ma.masked_greater(w.X, 0.0)),
        ValueError,
        "X is a masked array with masked cells; fill them first, e.g. with .filled(np.nan).",
    ),
    "numpy: masked background": (
        lambda w: explain(np.ma.masked_greater(w.X, 0.0), w.X),
        ValueError,
        "background is a masked array with masked cells; fill them first, e.g. with .filled(np.nan).",
    ),
    "numpy: records": (
        lambda w: explain(np.zeros(3, dtype=[("a", "f8")]), w.X),
        TypeError,
        "background is a structured array of dtype [('a', '<f8')]; allowed: an array with one column per",
    ),
    "polars: a lazy background": (
        lambda w: explain(pl.DataFrame(w.X).lazy(), w.X),
        TypeError,
        "background is a polars LazyFrame; call .collect() first.",
    ),
    "polars: lazy rows": (
        lambda w: explain(pl.DataFrame(w.X), pl.DataFrame(w.X).lazy()),
        TypeError,
        "X is a lazy frame; call .collect() first.",
    ),
    "polars: lazy rows for an array": (
        lambda w: explain(w.X, pl.DataFrame(w.X).lazy()),
        TypeError,
        "X is a lazy frame; call .collect() first.",
    ),
    "polars: other columns": (
        lambda w: explain(pl.DataFrame(w.frame), pl.DataFrame({"a": [1.0], "b": [2.0]})),
        ValueError,
        "X has other columns than the background: missing ['c']. Expected ['a', 'b', 'c'].",
    ),
    "polars: texts for numbers": (
        lambda w: explain(pl.DataFrame(w.frame), pl.DataFrame({"a": ["x"], "b": [1.0], "c": [2.0]})),
        ValueError,
        "column 'a' of X has ... but the background has Float64, and not every cell fits;",
    ),
    "polars: fractions for integers": (
        lambda w: explain(pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [0.5]})),
        ValueError,
        "column 'a' of X has ... but the background has Int64, and not every cell fits;",
    ),
    "polars: integers beyond the background's": (
        lambda w: explain(pl.DataFrame({"a": [1]}, schema={"a": pl.UInt8}), pl.DataFrame({"a": [256]})),
        ValueError,
        "column 'a' of X has ... but the background has UInt8, and not every cell fits;",
    ),
    "polars: a member no enumeration names": (
        lambda w: explain(pl.DataFrame({"a": ["x"]}, schema={"a": pl.Enum(["x", "y"])}), pl.DataFrame({"a": ["z"]})),
        ValueError,
        "column 'a' of X has ... but the background has Enum(categories=['x', 'y']), and not",
    ),
    "polars: no columns": (
        lambda w: explain(pl.DataFrame(), w.X),
        ValueError,
        "background has no columns; at least one is needed.",
    ),
    "polars: no rows": (
        lambda w: explain(pl.DataFrame(w.frame).head(0), w.X),
        ValueError,
        "background has no rows (shape (0, 3)); at least one is needed.",
    ),
    "polars: a Series": (
        lambda w: explain(pl.Series([1.0, 2.0]), w.X),
        (TypeError, ValueError),
        "background has shape (2,); expected (rows, columns) with at least one column.",
    ),
    "pyarrow: other columns": (
        lambda w: explain(pa.table({"a": [1.0]}), pa.table({"b": [1.0]})),
        ValueError,
        "X has other columns than the background: missing ['a']; not in the background ['b'].",
    ),
    "pyarrow: a column twice": (
        lambda w: explain(pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]), [[1.0, 2.0]]),
        ValueError,
        "background has several columns named ['a']; column names must be unique.",
    ),
    "pyarrow: texts for numbers": (
        lambda w: explain(pa.table({"a": [1.0]}), pa.table({"a": ["x"]})),
        ValueError,
        "column 'a' of X has ... but the background has double, and not every cell fits;",
    ),
    "pyarrow: no rows": (
        lambda w: explain(pa.table({"a": pa.array([], pa.float64())}), [[1.0]]),
        ValueError,
        "background has no rows (shape (0, 1)); at least one is needed.",
    ),
    "pyarrow: an array of other width": (
        lambda w: explain(pa.table({"a": [1.0]}), [[1.0, 2.0]]),
        ValueError,
        "X has shape (1, 2); the background has the 1 columns ['a'].",
    ),
    "sparse: other width": (
        lambda w: explain(sparse.csr_matrix(w.X), sparse.csr_matrix(np.ones((1, 4)))),
        ValueError,
        "X has shape (1, 4); the background has 3 columns, so (rows, 3) is expected.",
    ),
    "sparse: no rows": (
        lambda w: explain(sparse.csr_matrix((0, 3)), w.X),
        ValueError,
        "background has no rows (shape (0, 3)); at least one is needed.",
    ),
    "sparse: texts": (
        lambda w: explain(sparse.csr_matrix(w.X), [["a", "b", "c"]]),
        (TypeError, ValueError),
        "X has shape (1, 3) and dtype <U1; the background is a sparse matrix of 3 columns, so (rows,",
    ),
    "sparse: no columns": (
        lambda w: explain(sparse.csr_matrix((3, 0)), w.X),
        ValueError,
        "background has shape (3, 0); expected (rows, columns) with at least one column.",
    ),
    "sparse: one axis": (
        lambda w: explain(sparse.coo_array(np.ones(3)), w.X),
        ValueError,
        "background has shape (3,); expected (rows, columns) with at least one column.",
    ),
    "torch: other width": (
        lambda w: explain(torch.tensor(w.X), torch.ones(1, 4)),
        ValueError,
        "X has shape (1, 4); the background has 3 columns, so (rows, 3), or (3,) for one row, is",
    ),
    "torch: three axes": (
        lambda w: explain(torch.ones(2, 2, 2), torch.ones(1, 4)),
        ValueError,
        "background has shape (2, 2, 2); expected (rows, columns) with at least one column.",
    ),
    "torch: no rows": (
        lambda w: explain(torch.ones(0, 3), w.X),
        ValueError,
        "background has no rows (shape (0, 3)); at least one is needed.",
    ),
    "torch: texts": (
        lambda w: explain(torch.tensor(w.X), [["a", "b", "c"]]),
        (TypeError, ValueError),
        "X has ... but the background has float64, and not every cell fits; convert one of",
    ),
    "torch: precision beyond the background's": (
        lambda w: explain(torch.ones(2, 3, dtype=torch.float16), torch.full((1, 3), 1 / 3)),
        ValueError,
        "X has ... but the background has float16, and not every cell fits; convert one of",
    ),
    "weighted: weights of other rows": (
        lambda w: explain(Weighted(w.X, [1.0]), w.X),
        ValueError,
        "weights have shape (1,); expected 8 finite numbers >= 0, not all 0.",
    ),
    "weighted: weights of text": (
        lambda w: explain(Weighted(w.X, ["a"] * 8), w.X),
        (TypeError, ValueError),
        "weights are no numbers (could not convert string to float: 'a'); expected one finite number",
    ),
    "weighted: weights below zero": (
        lambda w: explain(Weighted(w.X, [-1.0] * 8), w.X),
        ValueError,
        "weights have shape (8,) and hold -1.0; expected 8 finite numbers >= 0, not all 0.",
    ),
    "dates of another kind": (
        lambda w: explain(pd.DataFrame({"d": [dt.date(2020, 1, 1)]}), pl.DataFrame({"e": [dt.date(2020, 1, 1)]})),
        ValueError,
        "X has other columns than the background: missing ['d']; not in the background ['e'].",
    ),
}
