"""Policies, share tables and utilities that are not allowed."""

from __future__ import annotations

import numpy as np

import taylorpoda as tp


def mine(**options):
    """A utility of the user's own on some game."""
    return tp.allocate([0.0, 1, 2, 5], tp.Utility("mine", **{"higher_is_better": True, **options}), random_state=0)


def negative_shares(w):
    shares = {3: [1.5, -0.5, 0], 5: [1, 0, 0], 6: [0, 1, 0], 7: [1, 0, 0]}
    return tp.allocate(w.values, policy="shares", shares=shares)


CASES = {
    "policy: unknown": (
        lambda w: w.explainer(policy="best"),
        ValueError,
        "policy='best' is not known. Allowed: 'dirichlet', 'optimal', 'shapley', 'shares'.",
    ),
    "policy: a typing error": (
        lambda w: tp.allocate(w.values, policy="shapely"),
        ValueError,
        "policy='shapely' is not known. Did you mean 'shapley'? Allowed: 'dirichlet', 'optimal',",
    ),
    "policy: None": (
        lambda w: w.explainer(policy=None),
        ValueError,
        "policy=None is not known. Allowed: 'dirichlet', 'optimal', 'shapley', 'shares'.",
    ),
    "policy: a list": (
        lambda w: tp.allocate(w.values, policy=["optimal"]),
        ValueError,
        "policy=['optimal'] is not known. Did you mean 'optimal'? Allowed: 'dirichlet', 'optimal',",
    ),
    "policy: shares without any": (
        lambda w: w.explainer(policy="shares"),
        ValueError,
        "policy='shares' with shares=NoneType: policy='shares' needs shares=, and no other policy",
    ),
    "policy: shares for another": (
        lambda w: w.explainer(policy="optimal", shares={}),
        ValueError,
        "policy='optimal' with shares=dict: policy='shares' needs shares=, and no other policy takes",
    ),
    "allocate: shares for another": (
        lambda w: tp.allocate(w.values, policy="shapley", shares={}),
        ValueError,
        "shares= is given, but policy='shapley' chooses its own; allowed with policy='shares' only.",
    ),
    "allocate: shares without any": (
        lambda w: tp.allocate(w.values, policy="shares"),
        ValueError,
        "policy='shares' needs shares=, a mapping {subset index: n shares} or an array of shape",
    ),
    "allocate: shares below zero": (
        negative_shares,
        ValueError,
        "shares of subset 3 (players 0, 1): -0.5 for player 1 is negative; shares are",
    ),
    "allocate: shares that sum to 2": (
        lambda w: tp.allocate([0.0, 1, 2, 5], policy="shares", shares={3: [1.0, 1.0]}),
        ValueError,
        "shares of subset 3 (players 0, 1) sum to 2.0; they must sum to 1.",
    ),
    "allocate: shares of too few": (
        lambda w: tp.allocate([0.0, 1, 2, 5], policy="shares", shares={3: [1.0]}),
        ValueError,
        "shares of subset 3 (players 0, 1) have shape (1,); expected 2 numbers.",
    ),
    "allocate: a share for nobody": (
        lambda w: tp.allocate(w.values, policy="shares", shares={3: [0, 0, 1.0]}),
        ValueError,
        "shares of subset 3 (players 0, 1): 1.0 for player 2 goes to a player outside",
    ),
    "allocate: shares missing": (
        lambda w: tp.allocate(w.values, policy="shares", shares={3: [1, 0, 0]}),
        ValueError,
        "shares has no entry for subset 5 (players 0, 2), whose dividend is not zero.",
    ),
    "allocate: shares of text": (
        lambda w: tp.allocate(w.values, policy="shares", shares="even"),
        (TypeError, ValueError),
        "shares has type str and dtype <U4; allowed: a mapping {subset index: n shares}, or an array",
    ),
    "allocate: an array of shares of other shape": (
        lambda w: tp.allocate(w.values, policy="shares", shares=np.ones((8, 2))),
        ValueError,
        "shares has shape (8, 2); expected (..., 8, 3).",
    ),
    "utility: unknown": (
        lambda w: w.explainer(utility="accuracy"),
        ValueError,
        "utility='accuracy' is not known. Allowed: 'exclusion_auc', 'exclusion_aup',",
    ),
    "utility: a typing error": (
        lambda w: tp.allocate(w.values, "inclusion_apu"),
        ValueError,
        "utility='inclusion_apu' is not known. Did you mean 'inclusion_aup'? Allowed:",
    ),
    "utility: None": (
        lambda w: w.explainer(utility=None),
        TypeError,
        "utility=None has type NoneType; allowed: one of 'inclusion_aup', 'exclusion_aup',",
    ),
    "utility: a function": (
        lambda w: w.explainer(utility=np.mean),
        TypeError,
        "utility=<function mean ...> has type _ArrayFunctionDispatcher; allowed: one",
    ),
    "utility: a list": (
        lambda w: tp.allocate(w.values, ["inclusion_aup"]),
        TypeError,
        "utility=['inclusion_aup'] has type list; allowed: one of 'inclusion_aup', 'exclusion_aup',",
    ),
    "utility: the class": (
        lambda w: tp.allocate(w.values, tp.Utility),
        TypeError,
        "utility=<class 'taylorpoda.utilities.base.Utility'> has type type; allowed: one of",
    ),
    "Utility: no name": (
        lambda w: tp.Utility(None, stage=abs),
        TypeError,
        "name=None has type NoneType; a utility needs a name, e.g. Utility('mine', ...).",
    ),
    "Utility: neither stage nor evaluate": (
        lambda w: tp.Utility("mine"),
        ValueError,
        "utility 'mine' needs exactly one of stage= and evaluate=.",
    ),
    "Utility: both": (
        lambda w: tp.Utility("mine", stage=abs, evaluate=abs),
        ValueError,
        "utility 'mine' needs exactly one of stage= and evaluate=.",
    ),
    "Utility: a stage that is no function": (
        lambda w: tp.Utility("mine", stage=3),
        TypeError,
        "stage=3 of utility 'mine' is not callable.",
    ),
    "Utility: convex without a gradient": (
        lambda w: tp.Utility("mine", evaluate=abs, convex=True),
        ValueError,
        "utility 'mine' says convex=True; it then needs evaluate= and gradient=.",
    ),
    "Utility: a gradient of text": (
        lambda w: tp.Utility("mine", evaluate=abs, gradient="up"),
        TypeError,
        "gradient='up' of utility 'mine' is not callable.",
    ),
    "Utility: a direction of text": (
        lambda w: tp.Utility("mine", stage=abs, higher_is_better="yes"),
        TypeError,
        "higher_is_better='yes' of utility 'mine' has type str; allowed: bool.",
    ),
    "Utility: a stage of another shape": (
        lambda w: mine(stage=lambda c: c.values[..., :2]),
        ValueError,
        "stage of utility 'mine' returned shape (2,); expected (4,).",
    ),
    "Utility: a stage of NaN": (
        lambda w: mine(stage=lambda c: c.values * np.nan),
        ValueError,
        "stage of utility 'mine' returned NaN or infinity.",
    ),
    "Utility: a stage of nothing": (
        lambda w: mine(stage=lambda c: None),
        (TypeError, ValueError),
        "stage of utility 'mine' returned shape (); expected (4,).",
    ),
    "Utility: a stage of text": (
        lambda w: mine(stage=lambda c: np.full(c.values.shape, "a")),
        (TypeError, ValueError),
        "stage of utility 'mine' returned ndarray, which is no array of real numbers.",
    ),
    "Utility: evaluate of another shape": (
        lambda w: mine(evaluate=lambda a, c: a).score,
        ValueError,
        "evaluate of utility 'mine' returned shape (2,); expected ().",
    ),
    "Utility: evaluate of NaN": (
        lambda w: mine(evaluate=lambda a, c: a[..., 0] * np.nan).score,
        ValueError,
        "evaluate of utility 'mine' returned NaN.",
    ),
    "Utility: evaluate of text": (
        lambda w: mine(evaluate=lambda a, c: "good").score,
        (TypeError, ValueError),
        "evaluate of utility 'mine' returned str, which is no array of real numbers.",
    ),
    "Utility: a gradient of another shape": (
        lambda w: (
            mine(
                evaluate=lambda a, c: (a**2).sum(-1),
                gradient=lambda a, c: a[..., :1],
                convex=True,
                higher_is_better=False,
            ).score
        ),
        ValueError,
        "gradient of utility 'mine' returned shape (1,); expected (2,).",
    ),
}
