"""What a caller may get wrong: each says which parameter, what came and what is allowed, or is understood."""

from __future__ import annotations

import numpy as np
import pytest

import taylorpoda as tp
from taylorpoda import methods
from taylorpoda.methods.semivalues import beta_size_weights, semivalues

GAME = np.random.default_rng(0).random(8)


def test_a_patch_may_be_a_mask():
    """A mask used to be read as the players 0 and 1, without a word."""
    mask = np.array([False, True, True])
    expected = methods.occlusion(GAME, patches=[(1, 2)])
    assert np.array_equal(methods.occlusion(GAME, patches=[mask]), expected)
    assert np.array_equal(methods.occlusion(GAME, patches=[mask.tolist()]), expected)
    assert np.array_equal(methods.occlusion(GAME, patches=[np.array([1, 2])]), expected)


@pytest.mark.parametrize("patch", [[1.7], ["a"], [True, 2], [False, True], 1, [None]])
def test_a_patch_holds_numbers_of_players(patch):
    with pytest.raises(TypeError, match=r"patches\[1\]"):
        methods.occlusion(GAME, patches=[[0], patch])


@pytest.mark.parametrize("length", [1, 2, 4])
def test_one_weight_per_size(length):
    with pytest.raises(ValueError, match=rf"size_weights\[1\] has shape \({length},\)"):
        semivalues(GAME, [np.ones(3) / 3, np.ones(length) / length])


@pytest.mark.parametrize(
    ("arguments", "parameter"), [((0, 1, 1), "n_players"), ((3, 0, 1), "alpha"), ((3, 1, -1), "beta")]
)
def test_size_weights_need_positive_integers(arguments, parameter):
    with pytest.raises(ValueError, match=parameter):
        beta_size_weights(*arguments)
    with pytest.raises(TypeError, match=parameter):
        beta_size_weights(*(1.5 if one < 1 else one for one in arguments))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_names": ["a"]}, "feature_names holds 1"),
        ({"num_samples": 0}, "num_samples=0"),
        ({"categorical_features": [7]}, "categorical_features holds 7"),
    ],
)
def test_lime_checks_its_options(options, message):
    pytest.importorskip("lime")
    rows = np.random.default_rng(0).random((20, 3))
    with pytest.raises(ValueError, match=message):
        methods.lime(lambda table: table[:, 0], rows, rows[:1], **options)


def test_two_utilities_of_one_name_are_refused():
    """The second used to be judged by the first."""
    one, two = (tp.Utility("mine", stage=lambda c, k=k: 0.0 * c.values + k, higher_is_better=True) for k in (1, 2))
    with pytest.raises(ValueError, match="two utilities of the name 'mine'"):
        methods.compare(GAME, [one, two])
    assert methods.compare(GAME, [one, one]).utilities == ("mine",)
    with pytest.raises(ValueError, match="others holds 'shapley'"):
        methods.compare(GAME, others={"shapley": np.zeros(3)})


def test_one_name_need_not_be_a_list():
    found = methods.compare(GAME, "inclusion_mse", methods="shapley")
    assert (found.methods, found.utilities) == (("shapley",), ("inclusion_mse",))


def test_margins_are_labeled_at_zero():
    """Labels of log-odds change at 0, not at 0.5."""
    margins = np.random.default_rng(1).normal(size=(6, 8))
    target = np.array([0, 1, 0, 1, 1, 0])
    found = methods.compare(margins, ["inclusion_auc"], target, threshold=0.0)
    for name in ("shapley", "weighted_shap", "taylorpoda_optimal"):
        made = found.attributions[name, "inclusion_auc"]
        expected = tp.score(made, margins, "inclusion_auc", target, threshold=0.0)
        assert np.array_equal(found.scores[name, "inclusion_auc"], expected)
    best = tp.allocate(margins, "inclusion_auc", "optimal", target, threshold=0.0)
    assert np.array_equal(found.scores["taylorpoda_optimal", "inclusion_auc"], best.score)


def test_an_audit_says_which_member_is_no_method():
    with pytest.raises(ValueError, match="member 1 'occlusion', which is not callable"):
        tp.audit([methods.shapley, "occlusion"], 3)
    with pytest.raises(ValueError, match="no members"):
        tp.audit([], 3)


def test_an_audit_offers_the_mapping_to_whoever_walks_over_it():
    def mine(values, *, shares):
        dividends = tp.harsanyi(values)
        made = dividends[[1, 2, 4]].copy()
        for subset in shares:
            made = made + np.asarray(shares[subset]) * dividends[subset]
        return made

    assert tp.audit(mine, 3).adaptation is True
