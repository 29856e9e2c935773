"""Outputs, names, links and labels that a model does not have."""

from __future__ import annotations

import functools

import numpy as np
import torch
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import taylorpoda as tp


@functools.cache
def fitted(kind):
    X = np.random.default_rng(0).normal(size=(30, 3))
    return kind.fit(X, (X[:, 0] > 0).astype(int))


@functools.cache
def forest():
    return fitted(GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=0))


@functools.cache
def booster():
    import xgboost

    X = np.random.default_rng(0).normal(size=(30, 3))
    return xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(X, X[:, 0] > 0), 2)


def explain(w, model, **options):
    return tp.Explainer(model, w.X, policy="shapley", random_state=0, **options)(w.X[:2])


CASES = {
    "output: an unknown class": (
        lambda w: explain(w, fitted(LogisticRegression()), output="yes"),
        ValueError,
        "output='yes' is not known. Allowed: '0', '1'.",
    ),
    "output: a class too far": (
        lambda w: explain(w, fitted(LogisticRegression()), output=2),
        ValueError,
        "output=2 is not known. Allowed: '0', '1'.",
    ),
    "output: an index too far": (
        lambda w: explain(w, w.classes, output=3),
        ValueError,
        "output=3 is not known. Allowed: '0', '1', '2'.",
    ),
    "output: half an index": (
        lambda w: explain(w, w.classes, output=0.5),
        ValueError,
        "output=0.5 is not known. Did you mean '0'? Allowed: '0', '1', '2'.",
    ),
    "output: a list": (
        lambda w: explain(w, w.classes, output=[0, 1]),
        ValueError,
        "output=[0, 1] is not known. Allowed: '0', '1', '2'.",
    ),
    "output: a truth": (
        lambda w: explain(w, w.classes, output=True),
        ValueError,
        "output=True is not known. Allowed: '0', '1', '2'.",
    ),
    "output: a second of one": (
        lambda w: explain(w, lambda rows: rows[:, 0], output=1),
        ValueError,
        "output=1 is not known. Allowed: '0'.",
    ),
    "output: the class a booster does not speak for": (
        lambda w: explain(w, booster(), output=0),
        ValueError,
        "output=0: the model Booster.predict gives one number, which speaks for 1; allowed: None or",
    ),
    "output: raw of a callable": (
        lambda w: explain(w, w.classes, output="raw"),
        ValueError,
        'output="raw" is the margin of a boosted ensemble; World.classes is a plain callable. Use',
    ),
    "output: raw of a linear model": (
        lambda w: explain(w, fitted(LogisticRegression()), output="raw"),
        ValueError,
        'output="raw" is the margin of a boosted ensemble; LogisticRegression has none. Use',
    ),
    "output: raw of a module": (
        lambda w: explain(w, torch.nn.Linear(3, 1), output="raw"),
        ValueError,
        'output="raw" is the margin of a boosted ensemble; Linear is a torch module. Use output=None.',
    ),
    "output_names: text": (
        lambda w: explain(w, w.classes, output_names="abc"),
        TypeError,
        "output_names has type str; allowed: None or one name per output, e.g. a list.",
    ),
    "output_names: too few": (
        lambda w: explain(w, w.classes, output_names=["a", "b"]),
        ValueError,
        "the model World.classes gave 3 outputs but has 2 output_names: ('a', 'b').",
    ),
    "output_names: twice the same": (
        lambda w: explain(w, w.classes, output_names=["a", "a", "b"]),
        ValueError,
        "output_names=['a', 'a', 'b'] is not allowed; allowed: one name per output, all different.",
    ),
    "output_names: none": (
        lambda w: explain(w, w.classes, output_names=[]),
        ValueError,
        "output_names=[] is not allowed; allowed: one name per output, all different.",
    ),
    "output_names: a number": (
        lambda w: explain(w, w.classes, output_names=3),
        TypeError,
        "output_names has type int; allowed: None or one name per output, e.g. a list.",
    ),
    "link: unknown": (
        lambda w: explain(w, w.classes, link="probit"),
        ValueError,
        "link='probit' is not known. Did you mean 'logit'? Allowed: 'logit'.",
    ),
    "link: a truth": (
        lambda w: explain(w, w.classes, link=True),
        ValueError,
        "link=True is not known. Allowed: 'logit'.",
    ),
    "link: a probability of one": (
        lambda w: explain(w, lambda rows: np.ones(len(rows)), link="logit"),
        ValueError,
        'link="logit" needs outputs strictly between 0 and 1, but <lambda>.<locals>.<lambda> gave',
    ),
    "link: no probabilities": (
        lambda w: explain(w, lambda rows: rows[:, 0] * 10, link="logit"),
        ValueError,
        'link="logit" needs outputs strictly between 0 and 1, but <lambda>.<locals>.<lambda> gave',
    ),
    "link: on top of raw": (
        lambda w: explain(w, forest(), output="raw", link="logit"),
        ValueError,
        "link='logit' explains the logit of a probability, but",
    ),
    "labels: none of the classes": (
        lambda w: tp.Explainer(fitted(LogisticRegression()), w.X)(w.X[:2], ["yes", "no"]),
        ValueError,
        "y holds 'yes', which is none of the model's classes [0, 1].",
    ),
    "labels: NaN for a class": (
        lambda w: tp.Explainer(fitted(LogisticRegression()), w.X)(w.X[:2], [np.nan, 1]),
        ValueError,
        "y holds nan, which is none of the model's classes [0, 1].",
    ),
}
