"""Numbers and names of options that are not allowed, in explainers, allocations and reallocations."""

from __future__ import annotations

import numpy as np

import taylorpoda as tp

CASES = {
    "candidates: none": (
        lambda w: w.explainer(candidates=0),
        ValueError,
        "candidates=0 is not allowed; allowed: an integer >= 1.",
    ),
    "candidates: a fraction": (
        lambda w: tp.allocate(w.values, policy="dirichlet", candidates=2.5),
        TypeError,
        "candidates=2.5 has type float; allowed: an integer >= 1.",
    ),
    "candidates: a truth": (
        lambda w: tp.allocate(w.values, policy="dirichlet", candidates=True),
        TypeError,
        "candidates=True has type bool; allowed: an integer >= 1.",
    ),
    "alpha: zero": (
        lambda w: w.explainer(alpha=0),
        ValueError,
        "alpha=0 is not allowed; allowed: a finite number > 0.",
    ),
    "alpha: NaN": (
        lambda w: w.explainer(alpha=float("nan")),
        ValueError,
        "alpha=nan is not allowed; allowed: a finite number > 0.",
    ),
    "alpha: text": (
        lambda w: w.explainer(alpha="1"),
        TypeError,
        "alpha='1' has type str; allowed: a finite number > 0.",
    ),
    "draws: unknown": (
        lambda w: w.explainer(draws="own"),
        ValueError,
        "draws='own' is not known. Allowed: 'independent', 'shared'.",
    ),
    "margin: negative": (
        lambda w: w.explainer(margin=-1e-6),
        ValueError,
        "margin=-1e-06 is not allowed; allowed: a finite number >= 0.",
    ),
    "margin: infinite": (
        lambda w: tp.allocate(w.values, margin=float("inf")),
        ValueError,
        "margin=inf is not allowed; allowed: a finite number >= 0.",
    ),
    "node_limit: negative": (
        lambda w: w.explainer(node_limit=-1),
        ValueError,
        "node_limit=-1 is not allowed; allowed: an integer >= 0.",
    ),
    "node_limit: text": (
        lambda w: w.explainer(node_limit="none"),
        TypeError,
        "node_limit='none' has type str; allowed: an integer >= 0.",
    ),
    "time_limit: negative": (
        lambda w: w.explainer(time_limit=-1.0),
        ValueError,
        "time_limit=-1.0 is not allowed; allowed: a finite number >= 0.",
    ),
    "time_limit: text": (
        lambda w: tp.allocate(w.values, time_limit="1s"),
        TypeError,
        "time_limit='1s' has type str; allowed: a finite number >= 0.",
    ),
    "random_state: negative": (
        lambda w: w.explainer(random_state=-1),
        ValueError,
        "random_state=-1 is negative; allowed: None or an integer >= 0.",
    ),
    "random_state: text": (
        lambda w: w.explainer(random_state="seed"),
        TypeError,
        "random_state='seed' has type str; allowed: None, an integer >= 0, numpy.random.Generator,",
    ),
    "random_state: a fraction": (
        lambda w: tp.allocate(w.values, policy="dirichlet", random_state=0.5),
        TypeError,
        "random_state=0.5 has type float; allowed: None, an integer >= 0, numpy.random.Generator,",
    ),
    "random_state: a truth": (
        lambda w: tp.allocate(w.values, policy="dirichlet", random_state=True),
        TypeError,
        "random_state=True has type bool; allowed: None, an integer >= 0, numpy.random.Generator,",
    ),
    "engine: unknown": (
        lambda w: w.explainer(engine="fast"),
        ValueError,
        "engine='fast' is not known. Did you mean 'auto'? Allowed: 'auto', 'exact', 'trees'.",
    ),
    "engine: None": (
        lambda w: w.explainer(engine=None),
        ValueError,
        "engine=None is not known. Allowed: 'auto', 'exact', 'trees'.",
    ),
    "engine: trees of a callable": (
        lambda w: w.explainer(engine="trees"),
        ValueError,
        'engine="trees" does not apply: function is not a tree ensemble of XGBoost, LightGBM,',
    ),
    "masking: unknown": (
        lambda w: w.explainer(masking="mean"),
        ValueError,
        "masking='mean' is not known. Did you mean 'marginal'? Allowed: 'baseline', 'conditional',",
    ),
    "masking: a number": (
        lambda w: w.explainer(masking=0),
        TypeError,
        "masking has type int; allowed: one of ['baseline', 'conditional', 'copula', 'gaussian',",
    ),
    "masking: the class": (
        lambda w: w.explainer(masking=tp.masking.Marginal),
        TypeError,
        "masking has type type; allowed: one of ['baseline', 'conditional', 'copula', 'gaussian',",
    ),
    "budget: none": (
        lambda w: w.explainer(budget=0),
        ValueError,
        "budget=0 is not allowed; allowed: None or an integer >= 1.",
    ),
    "budget: text": (
        lambda w: w.explainer(budget="lots"),
        TypeError,
        "budget='lots' has type str; allowed: None or an integer >= 1.",
    ),
    "order: zero": (lambda w: w.explainer(order=0), ValueError, "order=0 is not allowed; allowed: an integer >= 1."),
    "order: a fraction": (
        lambda w: w.explainer(order=1.5),
        TypeError,
        "order=1.5 has type float; allowed: an integer >= 1.",
    ),
    "n_jobs: zero": (
        lambda w: w.explainer(n_jobs=0),
        ValueError,
        "n_jobs=0 is not allowed; allowed: None or an integer >= 1.",
    ),
    "n_jobs: text": (
        lambda w: w.explainer(n_jobs="all"),
        TypeError,
        "n_jobs='all' has type str; allowed: None or an integer >= 1.",
    ),
    "max_memory: text": (
        lambda w: w.explainer(max_memory="much"),
        ValueError,
        'max_memory=\'much\' is not understood; allowed: bytes or text such as "2GiB", "500MB".',
    ),
    "max_memory: zero": (
        lambda w: w.explainer(max_memory=0),
        ValueError,
        'max_memory=0 is not positive; allowed: None, bytes above 0, or text such as "2GiB".',
    ),
    "max_memory: too little": (
        lambda w: w.explainer(max_memory=64),
        ValueError,
        "engine='auto': exact enumeration of 3 players needs 64 model rows and a table of 64 B for",
    ),
    "an option nobody knows": (
        lambda w: w.explainer(maskings="marginal"),
        ValueError,
        "option='maskings' is not known. Did you mean 'masking'? Allowed: 'alpha', 'budget',",
    ),
    "an option that is nearly one": (
        lambda w: w.explainer(candidate=3),
        ValueError,
        "option='candidate' is not known. Did you mean 'candidates'? Allowed: 'alpha', 'budget',",
    ),
    "40 players": (
        lambda w: tp.Explainer(w.classes, np.zeros((2, 40))),
        ValueError,
        "engine='auto': exact enumeration of 40 players needs 2,199,023,255,552 model rows and a",
    ),
    "22 players and 100 rows": (
        lambda w: tp.Explainer(w.classes, np.eye(100, 22)),
        ValueError,
        "engine='auto': exact enumeration of 22 players needs 96,468,992 model rows and a table of",
    ),
    "cost: text": (
        lambda w: w.explainer().cost("one"),
        TypeError,
        "n_rows='one' has type str; allowed: an integer >= 0.",
    ),
    "cost: negative": (
        lambda w: w.explainer().cost(-3),
        ValueError,
        "n_rows=-3 is not allowed; allowed: an integer >= 0.",
    ),
    "reallocate: an unknown policy": (
        lambda w: w.explanation().reallocate("best"),
        ValueError,
        "policy='best' is not known. Allowed: 'dirichlet', 'optimal', 'shapley', 'shares'.",
    ),
    "reallocate: an unknown utility": (
        lambda w: w.explanation().reallocate(utility="accuracy"),
        ValueError,
        "utility='accuracy' is not known. Allowed: 'exclusion_auc', 'exclusion_aup',",
    ),
    "reallocate: labels missing": (
        lambda w: w.explanation().reallocate(utility="inclusion_auc"),
        ValueError,
        "utility='inclusion_auc' compares with the labels of the explained rows: pass y, e.g.",
    ),
    "reallocate: labels of other rows": (
        lambda w: w.explanation().reallocate(y=[1]),
        ValueError,
        "y has shape (1,); expected one label per explained row, (2,).",
    ),
    "reallocate: an option nobody knows": (
        lambda w: w.explanation().reallocate(depth=3),
        (TypeError, ValueError),
        "option='depth' is not known. Allowed: 'alpha', 'candidates', 'draws', 'margin',",
    ),
    "reallocate: candidates of text": (
        lambda w: w.explanation().reallocate("dirichlet", candidates="many"),
        TypeError,
        "candidates='many' has type str; allowed: an integer >= 1.",
    ),
    "scores: an unknown utility": (
        lambda w: w.explanation().scores("auc"),
        ValueError,
        "utility='auc' is not known. Allowed: 'exclusion_auc', 'exclusion_aup', 'exclusion_mse',",
    ),
    "scores: labels missing": (
        lambda w: w.explanation().scores("exclusion_auc"),
        ValueError,
        "utility='exclusion_auc' compares with the labels: give target= (in an explainer, y=): 0 or",
    ),
    "scores: a number": (
        lambda w: w.explanation().scores(3),
        TypeError,
        "utility=3 has type int; allowed: one of 'inclusion_aup', 'exclusion_aup', 'inclusion_mse',",
    ),
    "plot: an unknown kind": (
        lambda w: w.explanation().plot.pie,
        AttributeError,
        "there is no kind of picture 'pie'; known: bar, beeswarm, interactions, intervals, scores,",
    ),
    "plot: a row too far": (
        lambda w: w.explanation().plot.waterfall(7),
        (IndexError, ValueError),
        "row=7 does not exist; allowed: -2 to 1.",
    ),
    "datasets: an unknown name": (
        lambda w: tp.datasets.load("iris_of_mars"),
        ValueError,
        "name='iris_of_mars' is not known. Allowed: 'abalone', 'california', 'cancer', 'concrete',",
    ),
    "an attribute nobody knows": (
        lambda w: w.explanation().value,
        AttributeError,
        "'Explanation' object has no attribute 'value'",
    ),
}
