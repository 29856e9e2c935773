"""A surrogate serves other models of the same output, and none whose output is on another scale.

One trained on probabilities once answered for an explainer of log-odds: its v(S) were probabilities, its v(N) was not.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import taylorpoda as tp

generator = np.random.default_rng(1)
ROWS = generator.normal(size=(120, 3))
CLASSES = (ROWS[:, 0] + ROWS[:, 1] > 0).astype(int)
MODEL = LogisticRegression().fit(ROWS, CLASSES)
OTHER = LogisticRegression(C=0.1).fit(ROWS, CLASSES)


def train(model=MODEL, **options):
    return tp.masking.Conditional(seed=0, steps=20).train(model, ROWS, output=1, **options)


def explain(surrogate, model=MODEL, **options):
    explainer = tp.Explainer(model, ROWS, masking=surrogate, policy="shapley", random_state=0, **options)
    return explainer(ROWS[:2])


def test_another_model_of_the_same_output(tmp_path):
    surrogate = train()
    found = explain(surrogate, OTHER, output=1)
    assert np.array_equal(found.predictions, OTHER.predict_proba(ROWS[:2])[:, 1])
    assert found.provenance["trained_on"] == "probability"
    surrogate.save(tmp_path / "s.npz")
    loaded = tp.masking.load_surrogate(tmp_path / "s.npz")
    assert np.array_equal(explain(loaded, OTHER, output=1).values, found.values)
    with pytest.raises(ValueError, match=r"trained on outputs of the kind 'probability', .* explains 'log-odds'"):
        explain(loaded, output=1, link="logit")


def test_log_odds_are_served_by_log_odds():
    surrogate = train(link="logit")
    found = explain(surrogate, output=1, link="logit")
    assert np.abs(found.discrepancy).max() < 1e-12
    with pytest.raises(ValueError, match="same output= and link="):
        explain(surrogate, output=1)


def test_margins_are_no_probabilities():
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1).fit(ROWS, CLASSES)
    with pytest.raises(ValueError, match=r"'probability', .* 'margin'"):
        explain(train(booster), booster, output="raw")
    surrogate = tp.masking.Conditional(seed=0, steps=20).train(booster, ROWS, output="raw")
    with pytest.raises(ValueError, match=r"'margin', .* 'probability'"):
        explain(surrogate, booster, output=1)


def test_what_a_callable_gives_is_known_to_its_user():
    surrogate = tp.masking.Conditional(seed=0, steps=20).train(lambda x: MODEL.predict_proba(x)[:, 1], ROWS)
    assert explain(surrogate, output=1).values.shape == (2, 3)
    assert explain(surrogate, LinearRegression().fit(ROWS, CLASSES)).values.shape == (2, 3)
    with pytest.raises(ValueError, match="'log-odds'"):
        explain(surrogate, output=1, link="logit")
