"""Shapes that do not fit: backgrounds, rows, labels, groups, weights."""

from __future__ import annotations

import numpy as np

import taylorpoda as tp

CASES = {
    "background: None": (
        lambda w: tp.Explainer(w.classes, None),
        TypeError,
        "background is None; pass rows of the training data (an array, a DataFrame), or one baseline",
    ),
    "background: a number": (
        lambda w: tp.Explainer(w.classes, 3.0),
        TypeError,
        "background has type float; allowed: a DataFrame, an array, or nested lists of rows.",
    ),
    "background: text": (
        lambda w: tp.Explainer(w.classes, "data.csv"),
        (TypeError, ValueError),
        "background has type str; allowed: a DataFrame, an array, or nested lists of rows.",
    ),
    "background: no rows": (
        lambda w: tp.Explainer(w.classes, w.X[:0]),
        ValueError,
        "background has no rows (shape (0, 3)); at least one is needed.",
    ),
    "background: no columns": (
        lambda w: tp.Explainer(w.classes, w.X[:, :0]),
        ValueError,
        "background has shape (8, 0); expected (rows, columns) with at least one column.",
    ),
    "background: three axes": (
        lambda w: tp.Explainer(w.classes, np.zeros((2, 2, 2))),
        ValueError,
        "background has shape (2, 2, 2); expected (rows, columns) with at least one column.",
    ),
    "background: an empty list": (
        lambda w: tp.Explainer(w.classes, []),
        ValueError,
        "background has shape (0,); expected (rows, columns) with at least one column.",
    ),
    "background: ragged": (
        lambda w: tp.Explainer(w.classes, [[1.0, 2], [3.0]]),
        ValueError,
        "background has rows of different lengths; every row needs the same number of entries.",
    ),
    "background: a dictionary": (
        lambda w: tp.Explainer(w.classes, {"a": [1.0]}),
        (TypeError, ValueError),
        "background has type dict; allowed: a DataFrame, an array, or nested lists of rows.",
    ),
    "background: a generator": (
        lambda w: tp.Explainer(w.classes, (row for row in w.X)),
        (TypeError, ValueError),
        "background has type generator; allowed: a DataFrame, an array, or nested lists of rows.",
    ),
    "background: no rows of a frame": (
        lambda w: tp.Explainer(w.classes, w.frame[:0]),
        ValueError,
        "background has no rows (shape (0, 3)); at least one is needed.",
    ),
    "background: no columns of a frame": (
        lambda w: tp.Explainer(w.classes, w.frame[[]]),
        ValueError,
        "background has no columns; at least one is needed.",
    ),
    "X: too many columns": (
        lambda w: w.explain(np.zeros((1, 4))),
        ValueError,
        "X has shape (1, 4); the background has 3 columns, so (rows, 3), or (3,) for one row, is",
    ),
    "X: too few columns": (
        lambda w: w.explain([[1.0, 2.0]]),
        ValueError,
        "X has shape (1, 2); the background has 3 columns, so (rows, 3), or (3,) for one row, is",
    ),
    "X: one row too long": (
        lambda w: w.explain([1.0, 2, 3, 4]),
        ValueError,
        "X has shape (4,); the background has 3 columns, so (rows, 3), or (3,) for one row, is",
    ),
    "X: three axes": (
        lambda w: w.explain(w.X[None]),
        ValueError,
        "X has shape (1, 8, 3); the background has 3 columns, so (rows, 3), or (3,) for one row, is",
    ),
    "X: ragged": (
        lambda w: w.explain([[1.0, 2, 3], [1.0, 2]]),
        ValueError,
        "X has rows of different lengths; every row needs the same number of entries.",
    ),
    "X: None": (
        lambda w: w.explain(None),
        (TypeError, ValueError),
        "X has shape (); the background has 3 columns, so (rows, 3), or (3,) for one row, is",
    ),
    "X: a number": (
        lambda w: w.explain(1.0),
        ValueError,
        "X has shape (); the background has 3 columns, so (rows, 3), or (3,) for one row, is",
    ),
    "X: text": (
        lambda w: w.explain("a row"),
        ValueError,
        "X has shape (); the background has 3 columns, so (rows, 3), or (3,) for one row, is",
    ),
    "X: a dictionary": (
        lambda w: w.explain({"a": 1, "b": 2, "c": 3}),
        (TypeError, ValueError),
        "X has other columns than the background: missing ['x0', 'x1', 'x2']; not in the background ['a', 'b', 'c'].",
    ),
    "X: a set": (
        lambda w: w.explain({1.0, 2.0, 3.0}),
        (TypeError, ValueError),
        "X has shape (); the background has 3 columns, so (rows, 3), or (3,) for one row, is",
    ),
    "y: too long": (
        lambda w: w.explain(w.X[:2], [0, 1, 0]),
        ValueError,
        "y has shape (3,); expected one label per explained row, (2,).",
    ),
    "y: two axes": (
        lambda w: w.explain(w.X[:2], np.zeros((2, 2))),
        ValueError,
        "y has shape (2, 2); expected one label per explained row, (2,).",
    ),
    "y: one number for two rows": (
        lambda w: w.explain(w.X[:2], 1),
        ValueError,
        "y has shape (); expected one label per explained row, (2,).",
    ),
    "y: texts without classes": (
        lambda w: w.explain(w.X[:2], ["yes", "no"]),
        TypeError,
        "y has dtype <U3 and the model names no classes; pass numbers (0 and 1 for a binary label).",
    ),
    "y: NaN": (
        lambda w: w.explain(w.X[:2], [0.0, np.nan]),
        ValueError,
        "y holds NaN or infinity; every explained row needs a label.",
    ),
    "y: half a label": (
        lambda w: w.explain(w.X[:2], [0.5, 1], utility="inclusion_auc"),
        ValueError,
        "target holds 0.5; allowed: 0 and 1.",
    ),
    "y: missing": (
        lambda w: w.explain(w.X[:2], utility="inclusion_auc"),
        ValueError,
        "utility='inclusion_auc' compares with the labels: pass y, e.g. explainer(X, y).",
    ),
    "y: None among labels": (
        lambda w: w.explain(w.X[:2], [None, 1]),
        (TypeError, ValueError),
        "y holds NaN or infinity; every explained row needs a label.",
    ),
    "y: a dictionary": (
        lambda w: w.explain(w.X[:2], {"a": 1}),
        (TypeError, ValueError),
        "y has type dict; expected one label per explained row, (2,).",
    ),
    "groups: too few labels": (
        lambda w: w.explainer(groups=["p", "q"]),
        ValueError,
        "groups has 2 labels for 3 columns; it needs one label per column.",
    ),
    "groups: a number": (
        lambda w: w.explainer(groups=3),
        TypeError,
        "groups has type int; allowed: None, a mapping {player: [columns]}, or one label per column.",
    ),
    "groups: text": (
        lambda w: w.explainer(groups="abc"),
        TypeError,
        "groups has type str; allowed: None, a mapping {player: [columns]}, or one label per column.",
    ),
    "groups: an unknown column": (
        lambda w: w.explainer(background=w.frame, groups={"p": ["a", "z"]}),
        ValueError,
        "groups: player 'p' names the column 'z'; known columns: ['a', 'b', 'c'].",
    ),
    "groups: a position too far": (
        lambda w: w.explainer(groups={"p": [0, 3]}),
        ValueError,
        "groups: player 'p' names the column 3; known columns: ['x0', 'x1', 'x2'].",
    ),
    "groups: a column twice": (
        lambda w: w.explainer(groups={"p": [0, 1], "q": [1, 2]}),
        ValueError,
        "groups: column 1 belongs to both 'p' and 'q'.",
    ),
    "groups: no columns": (lambda w: w.explainer(groups={"p": []}), ValueError, "groups: player 'p' has no columns."),
    "groups: a name that is a column's": (
        lambda w: w.explainer(background=w.frame, groups={"c": ["a", "b"]}),
        ValueError,
        "groups: ['c'] name both a group and a column outside it.",
    ),
    "groups: a boolean for a column": (
        lambda w: w.explainer(groups={"p": [True]}),
        ValueError,
        "groups: player 'p' names the column True; known columns: ['x0', 'x1', 'x2'].",
    ),
    "weights: too few": (
        lambda w: tp.background(w.X, 3, weights=[1.0, 2.0]),
        ValueError,
        "weights have shape (2,); expected 8 finite numbers >= 0, not all 0.",
    ),
    "weights: negative": (
        lambda w: tp.background(w.X, 3, weights=-np.ones(8)),
        ValueError,
        "weights have shape (8,) and hold -1.0; expected 8 finite numbers >= 0, not all 0.",
    ),
    "weights: all zero": (
        lambda w: tp.background(w.X, 3, weights=np.zeros(8)),
        ValueError,
        "weights have shape (8,); expected 8 finite numbers >= 0, not all 0.",
    ),
    "weights: NaN": (
        lambda w: tp.background(w.X, 3, weights=np.full(8, np.nan)),
        ValueError,
        "weights have shape (8,) and hold nan; expected 8 finite numbers >= 0, not all 0.",
    ),
    "weights: text": (
        lambda w: tp.background(w.X, 3, weights=["a"] * 8),
        (TypeError, ValueError),
        "weights are no numbers (could not convert string to float: 'a'); expected one finite number",
    ),
    "k: none": (lambda w: tp.background(w.X, 0), ValueError, "k=0 is not allowed; allowed: an integer >= 1."),
    "k: a fraction": (lambda w: tp.background(w.X, 0.5), TypeError, "k=0.5 has type float; allowed: an integer >= 1."),
    "k: a truth": (lambda w: tp.background(w.X, True), ValueError, "k=True is not allowed; allowed: an integer >= 1."),
    "background method: unknown": (
        lambda w: tp.background(w.X, 2, "kmeans"),
        ValueError,
        "method='kmeans' is not known. Allowed: 'medoids', 'sample'.",
    ),
    "background data: no rows": (
        lambda w: tp.background(w.X[:0], 2),
        ValueError,
        "background has no rows (shape (0, 3)); at least one is needed.",
    ),
}
