"""Questions that a table or an explanation cannot answer: scores, projections, reports, slices."""

from __future__ import annotations

import numpy as np
import pandas as pd

import taylorpoda as tp

CASES = {
    "score: too few attributions": (
        lambda w: tp.score([1.0, 2.0], w.values, "inclusion_aup"),
        ValueError,
        "attributions have shape (2,); the last axis must hold 3 players.",
    ),
    "score: one number": (
        lambda w: tp.score(1.0, w.values, "inclusion_aup"),
        ValueError,
        "attributions have shape (); the last axis must hold 3 players.",
    ),
    "score: rows that do not match": (
        lambda w: tp.score(np.ones((3, 3)), np.stack([w.values] * 2), "inclusion_aup"),
        ValueError,
        "attributions have shape (3, 3); the leading axes must match (2,), those of the values.",
    ),
    "score: NaN": (
        lambda w: tp.score([1.0, 2, np.nan], w.values, "inclusion_aup"),
        ValueError,
        "attributions hold NaN or infinity; only finite attributions can be ranked.",
    ),
    "score: text": (
        lambda w: tp.score(["a", "b", "c"], w.values, "inclusion_aup"),
        TypeError,
        "attributions have dtype <U1; allowed: real numbers.",
    ),
    "score: labels missing": (
        lambda w: tp.score([1.0, 2, 3], w.values, "exclusion_auc"),
        ValueError,
        "utility='exclusion_auc' compares with the labels: give target= (in an explainer, y=): 0 or",
    ),
    "score: a label of 2": (
        lambda w: tp.score([1.0, 2, 3], w.values, "exclusion_auc", 2),
        ValueError,
        "target holds 2.0; allowed: 0 and 1.",
    ),
    "score: labels of other rows": (
        lambda w: tp.score([1.0, 2, 3], w.values, "exclusion_auc", [0, 1]),
        ValueError,
        "target has shape (2,), which does not match the leading axes () of the values.",
    ),
    "score: a threshold of text": (
        lambda w: tp.score([1.0, 2, 3], w.values, "exclusion_aup", threshold="0.5"),
        ValueError,
        "threshold='0.5' is not a finite number.",
    ),
    "score: classes of half": (
        lambda w: tp.score([1.0, 2, 3], w.values, "inclusion_auc", 0, labels=np.full(8, 0.5)),
        ValueError,
        "labels holds 0.5; allowed: class indices 0, 1, 2, ....",
    ),
    "project: too few": (
        lambda w: tp.project(w.values, [1.0, 2.0]),
        ValueError,
        "reference has shape (2,); it must broadcast to (3,), one vector of n players per row.",
    ),
    "project: NaN": (
        lambda w: tp.project(w.values, [1.0, 2.0, np.nan]),
        ValueError,
        "reference holds NaN or infinity.",
    ),
    "project: text": (
        lambda w: tp.project(w.values, ["a", "b", "c"]),
        TypeError,
        "reference has dtype <U1; allowed: real numbers.",
    ),
    "project: None": (
        lambda w: tp.project(w.values, None),
        TypeError,
        "reference has dtype object; allowed: real numbers.",
    ),
    "project: scored for nothing": (
        lambda w: tp.project(w.values, [1.0, 2, 3]).score,
        ValueError,
        "this projection was made for no utility; give project a utility= (and target=) to score it.",
    ),
    "project: an unknown utility": (
        lambda w: tp.project(w.values, [1.0, 2, 3], "inclusion"),
        ValueError,
        "utility='inclusion' is not known. Did you mean 'inclusion_mse'? Allowed: 'exclusion_auc',",
    ),
    "report: no rows": (
        lambda w: tp.value_function_report(w.classes, w.X, w.X[:0]),
        ValueError,
        "X has no rows; pass rows that are not in the background.",
    ),
    "report: other columns": (
        lambda w: tp.value_function_report(w.classes, w.X, w.X[:, :2]),
        ValueError,
        "X has shape (8, 2); the background has 3 columns, so (rows, 3), or (3,) for one row, is",
    ),
    "report: no coalitions": (
        lambda w: tp.value_function_report(w.classes, w.X, w.X[:2], coalitions=0),
        ValueError,
        "coalitions=0 is not allowed; allowed: an integer >= 1.",
    ),
    "report: an unknown masking": (
        lambda w: tp.value_function_report(w.classes, w.X, w.X[:2], maskings=["mean"]),
        ValueError,
        "masking='mean' is not known. Did you mean 'marginal'? Allowed: 'baseline', 'conditional',",
    ),
    "report: no maskings": (
        lambda w: tp.value_function_report(w.classes, w.X, w.X[:2], maskings=[]),
        ValueError,
        "maskings=[] is empty; pass names or rules to compare, or None for all there are.",
    ),
    "slice: a row too far": (
        lambda w: w.explanation()[2],
        IndexError,
        "row 2 is out of range for an explanation of 2 rows.",
    ),
    "slice: a row by name": (
        lambda w: w.explanation()["a"],
        (TypeError, IndexError),
        "rows are selected by an integer, a slice or a list of them, got 'a'.",
    ),
    "slice: three subscripts": (
        lambda w: w.explanation()[0, 0, 0],
        IndexError,
        "an explanation is sliced as [rows] or [rows, output], got 3 subscripts.",
    ),
    "slice: an output too far": (
        lambda w: w.explanation(used=w.classes)[0, 3],
        (ValueError, IndexError),
        "output=3 is not known. Allowed: '0', '1', '2'.",
    ),
    "slice: booleans of another length": (
        lambda w: w.explanation()[[True, False, True]],
        IndexError,
        "rows are selected by 3 booleans, but there are 2 rows.",
    ),
    "slice: booleans of other outputs": (
        lambda w: w.explanation(used=w.classes)[:, [True]],
        IndexError,
        "outputs are selected by 1 booleans, but there are 3 outputs.",
    ),
    "dividends: a row too far": (
        lambda w: w.explanation().dividends(5),
        IndexError,
        "row 5 is out of range for an explanation of 2 rows.",
    ),
    "dividends: which output": (
        lambda w: w.explanation(used=w.classes).dividends(0),
        ValueError,
        "output=None, but 3 outputs are explained; allowed: ['0', '1', '2'].",
    ),
    "dividends: half a row": (
        lambda w: w.explanation().dividends(0.5),
        TypeError,
        "row=0.5 has type float; allowed: an integer.",
    ),
    "shares: a row too far": (
        lambda w: w.explanation().shares(9),
        IndexError,
        "row 9 is out of range for an explanation of 2 rows.",
    ),
    "interactions: order 0": (
        lambda w: w.explanation().interactions(0),
        ValueError,
        "order=0 is out of range; allowed: 1 to 3.",
    ),
    "interactions: order 4 of 3": (
        lambda w: w.explanation().interactions(4),
        ValueError,
        "order=4 is out of range; allowed: 1 to 3.",
    ),
    "interactions: order as text": (
        lambda w: w.explanation().interactions("two"),
        TypeError,
        "order='two' has type str; allowed: an integer.",
    ),
    "to_frame: an unknown output": (
        lambda w: w.explanation(used=w.classes).to_frame("zero"),
        ValueError,
        "output='zero' is not known. Allowed: '0', '1', '2'.",
    ),
    "to_shapiq: order too large": (
        lambda w: w.explanation().to_shapiq(order=7),
        ValueError,
        "order=7 is out of range; allowed: None, or 0 to 3.",
    ),
    "allocation: a row too far": (
        lambda w: tp.allocate(w.values, policy="shapley").shares(1),
        IndexError,
        "row=1 is out of range; there are 1 rows.",
    ),
    "explanation: written to": (
        lambda w: w.explanation().values.__setitem__(0, 1.0),
        ValueError,
        "assignment destination is read-only",
    ),
    "frame of rows: two columns of one name": (
        lambda w: w.explain(pd.DataFrame(w.X, columns=["a", "a", "c"]), background=w.frame),
        ValueError,
        "X has several columns named ['a']; column names must be unique.",
    ),
}
