"""Models that are none, or misbehave."""

from __future__ import annotations

import functools

import numpy as np
import torch
from sklearn.cluster import DBSCAN
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.multioutput import MultiOutputClassifier
from sklearn.svm import SVC, LinearSVC

import taylorpoda as tp


@functools.cache
def fitted(kind):
    X = np.random.default_rng(0).normal(size=(30, 3))
    return kind.fit(X, (X[:, 0] > 0).astype(int))


@functools.cache
def booster():
    import xgboost

    X = np.random.default_rng(0).normal(size=(30, 3))
    return xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(X, X[:, 0] > 0), 2)


def raising(error):
    """A model that raises; where only some rows are at fault, on those whose first cell is above 1."""

    def model(rows):
        if (np.asarray(rows)[:, 0] > 1).any():
            raise error
        return np.zeros(len(rows))

    return model


def growing():
    """A model whose number of outputs depends on the call."""
    calls = []

    def model(rows):
        calls.append(1)
        return np.zeros((len(rows), len(calls)))

    return model


class Chatty(torch.nn.Module):
    def forward(self, rows):
        return {"scores": rows}


def explain(w, model, **options):
    return tp.Explainer(model, w.X, policy="shapley", random_state=0, **options)(w.X[:2])


CASES = {
    "None": (
        lambda w: tp.Explainer(None, w.X),
        TypeError,
        "model has type NoneType; allowed: an object with predict, or a callable rows -> numbers.",
    ),
    "a number": (
        lambda w: tp.Explainer(5, w.X),
        TypeError,
        "model has type int; allowed: an object with predict, or a callable rows -> numbers.",
    ),
    "text": (
        lambda w: tp.Explainer("model", w.X),
        TypeError,
        "model has type str; allowed: an object with predict, or a callable rows -> numbers.",
    ),
    "a file that is no graph": (
        lambda w: tp.Explainer("model.pkl", w.X),
        TypeError,
        "model has type str; allowed: an object with predict, or a callable rows -> numbers.",
    ),
    "a class": (
        lambda w: tp.Explainer(LinearRegression, w.X),
        TypeError,
        "model has type ABCMeta; allowed: an object with predict, or a callable rows -> numbers.",
    ),
    "a list": (
        lambda w: tp.Explainer([1, 2], w.X),
        TypeError,
        "model has type list; allowed: an object with predict, or a callable rows -> numbers.",
    ),
    "an estimator without predict": (
        lambda w: tp.Explainer(DBSCAN(), w.X),
        TypeError,
        "model has type DBSCAN; allowed: an object with predict, or a callable rows -> numbers.",
    ),
    "an estimator not fitted": (
        lambda w: explain(w, LinearRegression()),
        ValueError,
        "model=LinearRegression is not fitted; allowed: a model after its fit, or one that was loaded.",
    ),
    "a classifier not fitted": (
        lambda w: explain(w, LogisticRegression()),
        ValueError,
        "model=LogisticRegression is not fitted; allowed: a model after its fit, or one that was loaded.",
    ),
    "a classifier without probabilities": (
        lambda w: explain(w, fitted(LinearSVC())),
        TypeError,
        "model=LinearSVC is a classifier without predict_proba; pass model.decision_function to",
    ),
    "a support vector machine": (
        lambda w: explain(w, fitted(SVC(random_state=0))),
        TypeError,
        "model=SVC is a classifier without predict_proba; pass model.decision_function to explain",
    ),
    "a perceptron": (
        lambda w: explain(w, fitted(Perceptron())),
        TypeError,
        "model=Perceptron is a classifier without predict_proba; pass model.decision_function to",
    ),
    "several targets at once": (
        lambda w: explain(w, MultiOutputClassifier(LogisticRegression()).fit(w.X, np.tile([[0, 1], [1, 0]], (4, 1)))),
        TypeError,
        "MultiOutputClassifier predicts several targets at once; explain one of them with a",
    ),
    "predict of a classifier of texts": (
        lambda w: explain(w, fitted_texts().predict),
        TypeError,
        "the model LinearClassifierMixin.predict gave <U3 values (such as 'yes'); real numbers are",
    ),
    "raises": (
        lambda w: explain(w, raising(RuntimeError("out of paper"))),
        ValueError,
        "raised RuntimeError on background row 2 (coalition {}): out of paper",
    ),
    "raises nothing to say": (
        lambda w: explain(w, raising(KeyError())),
        ValueError,
        "raised KeyError on background row 2 (coalition {})",
    ),
    "gives None": (
        lambda w: explain(w, lambda rows: None),
        TypeError,
        "gave objects such as None; real numbers are needed. For a classifier pass the estimator",
    ),
    "gives text": (
        lambda w: explain(w, lambda rows: ["no"] * len(rows)),
        TypeError,
        "gave <U2 values (such as 'no'); real numbers are needed. For a classifier pass the",
    ),
    "gives one number": (
        lambda w: explain(w, lambda rows: 1.0),
        ValueError,
        "gave shape () for 2 rows; allowed: (2,), (2, 1) or (2, outputs).",
    ),
    "gives one row too few": (
        lambda w: explain(w, lambda rows: rows[1:, 0]),
        ValueError,
        "gave shape (1,) for 2 rows; allowed: (2,), (2, 1) or (2, outputs).",
    ),
    "gives its table turned": (
        lambda w: explain(w, lambda rows: np.zeros((2, len(rows) + 1))),
        ValueError,
        "gave shape (2, 9) for 8 rows; allowed: (8,), (8, 1) or (8, outputs).",
    ),
    "gives three axes": (
        lambda w: explain(w, lambda rows: np.zeros((len(rows), 2, 2))),
        ValueError,
        "gave shape (2, 2, 2) for 2 rows; allowed: (2,), (2, 1) or (2, outputs).",
    ),
    "gives no outputs": (
        lambda w: explain(w, lambda rows: np.zeros((len(rows), 0))),
        ValueError,
        "gave shape (2, 0) for 2 rows; allowed: (2,), (2, 1) or (2, outputs).",
    ),
    "gives NaN": (
        lambda w: explain(w, lambda rows: np.where(rows[:, 0] > 0, np.nan, 1.0)),
        ValueError,
        "gave nan for explained row 0 (coalition of all players); every output must be finite.",
    ),
    "gives infinity": (
        lambda w: explain(w, lambda rows: np.full(len(rows), np.inf)),
        ValueError,
        "gave inf for explained row 0 (coalition of all players); every output must be finite.",
    ),
    "gives NaN in one output": (
        lambda w: explain(w, lambda rows: np.column_stack([rows[:, 0], np.full(len(rows), np.nan)])),
        ValueError,
        "gave nan for explained row 0 (coalition of all players); every output must be finite.",
    ),
    "gives complex numbers": (
        lambda w: explain(w, lambda rows: rows[:, 0] * 1j),
        TypeError,
        "gave complex128 values (such as '0.13j'); real numbers are needed. For a classifier pass",
    ),
    "gives dates": (
        lambda w: explain(w, lambda rows: np.full(len(rows), np.datetime64("2020-01-01"))),
        TypeError,
        "gave datetime64[D] values (such as '2020-01-01'); real numbers are needed. For a classifier",
    ),
    "gives integers beyond float64": (
        lambda w: explain(w, lambda rows: np.full(len(rows), 2**53 + 1)),
        ValueError,
        "gave integers beyond 2**53, which float64 does not hold exactly; return floats instead.",
    ),
    "gives a dictionary": (
        lambda w: explain(w, lambda rows: {"scores": [1]}),
        TypeError,
        "gave values that are not real numbers: float() argument must be a string or a real number,",
    ),
    "gives a generator": (
        lambda w: explain(w, lambda rows: (1.0 for _ in rows)),
        TypeError,
        "gave values that are not real numbers: float() argument must be a string or a real number,",
    ),
    "gives objects": (
        lambda w: explain(w, lambda rows: [object() for _ in rows]),
        TypeError,
        "gave values that are not real numbers: float() argument must be a string or a real number,",
    ),
    "gives ragged rows": (
        lambda w: explain(w, lambda rows: [[1.0], [1.0, 2.0]] * (len(rows) // 2)),
        (TypeError, ValueError),
        "what the model <lambda>.<locals>.<lambda> gave has rows of different lengths; every row",
    ),
    "gives more outputs each time": (lambda w: explain(w, growing()), ValueError, "gave 2 outputs, but 1 before."),
    "takes no argument": (
        lambda w: explain(w, lambda: 1.0),
        ValueError,
        "raised TypeError on explained row 0 (coalition of all players):",
    ),
    "a module that gives a dictionary": (
        lambda w: explain(w, Chatty()),
        ValueError,
        "TypeError on explained row 0 (coalition of all players): the module returned a dict of 1; a tensor of",
    ),
    "a module of other width": (
        lambda w: explain(w, torch.nn.Linear(5, 1)),
        ValueError,
        "the model Linear raised RuntimeError on explained row 0 (coalition of all players):",
    ),
    "a module and texts": (
        lambda w: tp.Explainer(torch.nn.Linear(3, 1), w.mixed, policy="shapley")(w.mixed[:1]),
        (TypeError, ValueError),
        "the model Linear raised TypeError on explained row 0 (coalition of all players):",
    ),
    "an estimator of other width": (
        lambda w: tp.Explainer(fitted(LogisticRegression()), w.X[:, :2])(w.X[:1, :2]),
        ValueError,
        "the model LogisticRegression.predict_proba raised ValueError on explained row 0 (coalition of all players):",
    ),
    "an estimator of other names": (
        lambda w: tp.Explainer(LinearRegression().fit(w.frame, w.X[:, 0]), w.frame.rename(columns={"a": "z"}))(
            w.frame[:1].rename(columns={"a": "z"})
        ),
        ValueError,
        "the model LinearRegression.predict raised ValueError on explained row 0 (coalition of all players):",
    ),
    "an estimator of numbers and texts": (
        lambda w: tp.Explainer(LinearRegression().fit(w.frame, w.X[:, 0]), w.mixed)(w.mixed[:1]),
        ValueError,
        "the model LinearRegression.predict raised ValueError on explained row 0 (coalition of all players):",
    ),
    "a booster of other width": (
        lambda w: tp.Explainer(booster(), w.X[:, :2])(w.X[:1, :2]),
        ValueError,
        "the model Booster.predict raised ValueError on explained row 0 (coalition of all players):",
    ),
    "a graph that is not there": (
        lambda w: tp.Explainer("nowhere.onnx", w.X),
        (ValueError, FileNotFoundError),
        "model='nowhere.onnx' does not exist; allowed: the path of an .onnx file, a session, or a",
    ),
    "a graph that is none": (
        lambda w: tp.Explainer(w.write("bad.onnx", b"hello"), w.X),
        ValueError,
        "model=...bad.onnx' is no graph that onnxruntime can open",
    ),
}


@functools.cache
def fitted_texts():
    X = np.random.default_rng(0).normal(size=(30, 3))
    return LogisticRegression().fit(X, np.where(X[:, 0] > 0, "yes", "no"))
