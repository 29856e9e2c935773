"""What a second look at every door found: not fitted, not dense, not ordered, not whole."""

from __future__ import annotations

import pickle

import catboost
import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import torch
import xgboost
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import taylorpoda as tp


def unfitted(model):
    """Refused by the constructor, before a row is read."""
    name = type(model).__name__
    return (
        lambda w: tp.Explainer(model, w.X, policy="shapley"),
        ValueError,
        f"model={name} is not fitted; allowed: a model after its fit, or one that was loaded.",
    )


def background(make, error, words):
    return lambda w: tp.Explainer(lambda rows: np.zeros(len(rows)), make(w)), error, words


def answer(make, error, words):
    """A function whose answer cannot be explained."""
    return lambda w: w.explain(w.X[:2], used=make(w), policy="shapley"), error, words


def labels(y, error, words):
    return lambda w: w.explain(w.X[:2], y, utility="inclusion_auc"), error, words


def option(words, **options):
    """One option, the type of its error told by its words."""
    error = TypeError if " has type " in words else ValueError
    return lambda w: w.explain(w.X[:1], **{"policy": "dirichlet", **options}), error, words


def grouped(groups, words):
    error = TypeError if " has type " in words else ValueError
    return lambda w: w.explainer(lambda rows: rows["a"], w.frame, groups=groups), error, words


def row_of(key, error, words):
    return lambda w: w.explanation()[key], error, words


async def later(rows):
    return rows[:, 0]


def graph(w):
    """An ONNX graph of three numbers, asked about two."""
    from skl2onnx import to_onnx
    from sklearn.linear_model import LinearRegression

    made = to_onnx(LinearRegression().fit(w.X, w.X[:, 0]), w.X[:1].astype(np.float32))
    return tp.Explainer(made, w.X[:, :2], policy="shapley")(w.X[:1, :2])


def wide(w):
    """A cell that single precision does not hold."""
    from skl2onnx import to_onnx
    from sklearn.linear_model import LinearRegression

    made = to_onnx(LinearRegression().fit(w.X, w.X[:, 0]), w.X[:1].astype(np.float32))
    return tp.Explainer(made, w.X, policy="shapley")(w.X[:1] * 1e300)


class Two(torch.nn.Module):
    def forward(self, rows):
        return rows[:, 0], rows[:, 1]


def nested(w):
    """Cells that are records can be explained, but not written."""
    table = pl.DataFrame({"a": [{"k": 1.0}, {"k": 2.0}], "b": [1.0, 2.0]})
    explanation = tp.Explainer(lambda rows: rows["b"].to_numpy(), table, policy="shapley")(table[:1])
    explanation.save(w.folder / "nested")


def unfitted_file(w):
    w.write("unfitted.pkl", pickle.dumps(LogisticRegression()))
    w.cli("explain", "unfitted.pkl", "data.csv", "--trust", "--target", "label", "--drop", "id")


RECORDS = np.zeros(3, dtype=[("a", float), ("b", float)])
FIXES = "allowed: dense tensors of real numbers"
UNREAD = "allowed: a DataFrame, an array, or nested lists of rows."
CASES = {
    "unfitted: XGBClassifier": unfitted(xgboost.XGBClassifier()),
    "unfitted: XGBRegressor": unfitted(xgboost.XGBRegressor()),
    "unfitted: Booster": unfitted(xgboost.Booster()),
    "unfitted: LGBMClassifier": unfitted(lightgbm.LGBMClassifier()),
    "unfitted: LGBMRegressor": unfitted(lightgbm.LGBMRegressor()),
    "unfitted: CatBoostClassifier": unfitted(catboost.CatBoostClassifier()),
    "unfitted: CatBoostRegressor": unfitted(catboost.CatBoostRegressor()),
    "unfitted: CatBoost": unfitted(catboost.CatBoost()),
    "unfitted: forest": unfitted(RandomForestClassifier()),
    "unfitted: pipeline": unfitted(make_pipeline(StandardScaler(), LogisticRegression())),
    "model: a path of a pickle": (
        lambda w: tp.Explainer("model.pkl", w.X),
        TypeError,
        "model has type str; allowed: ... Of files only .onnx is opened here: load the model first",
    ),
    "model: a state dict": (
        lambda w: tp.Explainer(torch.nn.Linear(3, 1).state_dict(), w.X),
        TypeError,
        "model has type OrderedDict; allowed: an object with predict, or a callable rows -> numbers.",
    ),
    "model: a coroutine": answer(lambda _: later, TypeError, "the model later gave values that are not real numbers"),
    "model: an iterator": answer(
        lambda _: lambda rows: iter(rows[:, 0]), TypeError, "gave values that are not real numbers"
    ),
    "model: a set": answer(lambda _: lambda rows: set(rows[:, 0]), TypeError, "gave values that are not real numbers"),
    "model: one mean for all": answer(
        lambda _: lambda rows: rows.mean(), ValueError, "gave shape () for 2 rows; allowed: (2,), (2, 1) or"
    ),
    "model: a module of two tensors": (
        lambda w: tp.Explainer(Two(), w.X, policy="shapley")(w.X[:1]),
        ValueError,
        "the module returned a tuple of 2; a tensor of shape (rows,) or (rows, outputs) is needed. Say which part",
    ),
    "onnx: other width": (graph, ValueError, "the rows have 2 columns, but the ONNX graph reads 3 (X: tensor(float)"),
    "onnx: beyond single precision": (wide, ValueError, "reads tensor(float) from column 0, where "),
    "background: records": background(lambda _: RECORDS, TypeError, "background is a structured array of dtype"),
    "background: a recarray": background(
        lambda w: w.frame.to_records(), TypeError, "background is a structured array of dtype"
    ),
    "background: a sparse tensor": background(lambda w: torch.tensor(w.X).to_sparse(), TypeError, FIXES),
    "background: a complex tensor": background(lambda w: torch.tensor(w.X).to(torch.complex64), TypeError, FIXES),
    "background: a DMatrix": background(lambda w: xgboost.DMatrix(w.X), TypeError, "type DMatrix; " + UNREAD),
    "background: a lightgbm Dataset": background(lambda w: lightgbm.Dataset(w.X), TypeError, "type Dataset; " + UNREAD),
    "background: a catboost Pool": background(lambda w: catboost.Pool(w.X), TypeError, "background has type Pool"),
    "background: an iterator": background(lambda w: iter(w.X), TypeError, "background has type iterator; " + UNREAD),
    "background: a data loader": background(
        lambda w: torch.utils.data.DataLoader(w.X), TypeError, "background has type DataLoader; " + UNREAD
    ),
    "background: a lazy frame": background(
        lambda w: pl.DataFrame(w.X).lazy(), TypeError, "background is a polars LazyFrame; call .collect() first."
    ),
    "background: a polars Series": background(lambda _: pl.Series([1.0]), ValueError, "background has shape (1,)"),
    "background: a chunked array": background(
        lambda _: pa.chunked_array([[1.0]]), ValueError, "background has shape (1,)"
    ),
    "background: a dictionary": background(lambda _: {"a": [1.0]}, TypeError, "background has type dict; " + UNREAD),
    "background: names that read alike": background(
        lambda w: w.frame.set_axis([1, "1", 2], axis=1), ValueError, "several columns named ['1']"
    ),
    "y: complex": labels([0, 1j], TypeError, "y has dtype complex128 and the model names no classes; pass numbers"),
    "y: texts of numbers": labels(["0", "1"], TypeError, "y has dtype <U1 and the model names no classes; pass"),
    "y: dates": labels(
        pd.date_range("2020", periods=2), TypeError, "y has dtype datetime64[us] and the model names no classes"
    ),
    "y: objects that are texts": labels(
        np.array(["0", 1], dtype=object), TypeError, "y has dtype object and the model names no classes"
    ),
    "y: a dictionary": labels({"a": 1}, ValueError, "y has type dict; expected one label per explained row"),
    "y: two columns": labels(np.zeros((2, 2)), ValueError, "y has shape (2, 2); expected one label per"),
    "max_memory: a truth value": option("max_memory=True has type bool; allowed: None, bytes", max_memory=True),
    "max_memory: infinity": option("max_memory='inf' is not understood; allowed: bytes", max_memory="inf"),
    "policy: in capitals": option("policy='OPTIMAL' is not known. Did you mean 'optimal'?", policy="OPTIMAL"),
    "engine: in capitals": option("engine='EXACT' is not known. Did you mean 'exact'?", engine="EXACT"),
    "utility: in capitals": option("Did you mean 'inclusion_mse'?", utility="Inclusion_MSE"),
    "n_jobs: a truth value": option("n_jobs=True has type bool; allowed: None or an integer >= 1.", n_jobs=True),
    "output: text where there is one number": option("output='yes' is not known. Allowed: '0'.", output="yes"),
    "output_names: a set": option("output_names has type set; allowed: None or one name per", output_names={"a", "b"}),
    "output_names: a mapping": option("output_names has type dict; allowed: None or one name", output_names={0: "a"}),
    "groups: a missing label": grouped(["x", None, "y"], "groups=['x', None, 'y'] holds a missing label"),
    "groups: a NaN label": grouped(["x", np.nan, "y"], "holds a missing label; it needs one label per column."),
    "groups: a column twice in one": grouped({"p": ["a", "a"]}, "groups: column 'a' belongs to both 'p' and 'p'."),
    "rows: one of a list too far": row_of([0, 7], IndexError, "row 7 is out of range for an explanation of 2 rows."),
    "rows: one of a list before the first": row_of([-3], IndexError, "row -3 is out of range for an explanation of"),
    "rows: a table of rows": row_of(np.array([[0]]), TypeError, "rows are selected by an integer, a slice or a list"),
    "rows: a half": row_of(0.5, TypeError, "rows are selected by an integer, a slice or a list of them, got 0.5."),
    "save: cells that are records": (
        nested,
        TypeError,
        "column 'a' has the type Struct({'k': Float64}), which cannot be stored;",
    ),
    "cli: an unfitted model": (
        unfitted_file,
        SystemExit,
        "2: error: model=LogisticRegression is not fitted; allowed: a model after its fit, or one that was",
    ),
    "cli: several models": (
        lambda w: w.cli("explain", "model.json", "model.json", "data.csv"),
        SystemExit,
        "2: error: Got unexpected extra argument",
    ),
    "cli: the model for the data": (
        lambda w: w.cli("explain", "data.csv", "model.json"),
        SystemExit,
        "2: error: MODEL='data.csv' is of no known kind; allowed: XGBoost",
    ),
    "cli: a URL": (
        lambda w: w.cli("explain", "https://example.org/model.json", "data.csv"),
        SystemExit,
        "2: error: MODEL='https:/example.org/model.json' does not exist; allowed: a file of",
    ),
    "cli: NUL in a name": (
        lambda w: w.cli("explain", "model.json", "data.csv", "--target", "la\0bel"),
        SystemExit,
        "2: error: --target=",
    ),
    "cli: rows in reverse": (
        lambda w: w.bad_explain("--rows", "5:2"),
        SystemExit,
        "2: error: --rows='5:2' names no row; there are 30, 0 to 29.",
    ),
}
