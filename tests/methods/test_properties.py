"""What holds of the methods whatever the game."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from taylorpoda import methods
from taylorpoda.methods.counterexamples import COUNTEREXAMPLES
from taylorpoda.postulates import audit
from taylorpoda.utilities import score

numbers = st.floats(-100, 100, width=32)
probabilities = st.floats(0.01, 0.99)


@st.composite
def games(draw, elements=numbers, least=1, largest=5):
    n = draw(st.integers(least, largest))
    return draw(hnp.arrays(np.float64, 1 << n, elements=elements))


def players_of(values):
    return values.size.bit_length() - 1


def renamed(values, order):
    """The same game with player order[k] called k."""
    n = players_of(values)
    return values[[sum(1 << order[k] for k in range(n) if subset >> k & 1) for subset in range(1 << n)]]


@given(games(), st.data())
@settings(max_examples=60, deadline=None)
def test_patches_lose_what_the_grand_coalition_loses_without_them(values, data):
    n = players_of(values)
    patches = data.draw(st.lists(st.sets(st.integers(0, n - 1), min_size=1), min_size=1, max_size=6))
    found = methods.occlusion(values, patches=patches)
    spread = methods.occlusion(values, patches=patches, per_player=True)
    for patch, effect in zip(patches, found, strict=True):
        rest = sum(1 << player for player in range(n) if player not in patch)
        assert effect == values[-1] - values[rest]
    for player in range(n):
        of_player = [effect for patch, effect in zip(patches, found, strict=True) if player in patch]
        expected = np.mean(of_player) if of_player else 0.0
        assert abs(spread[player] - expected) < 1e-10 * max(1.0, np.abs(values).max())


@given(games(probabilities))
@settings(max_examples=60, deadline=None)
def test_evidence_for_a_class_is_evidence_against_the_other(values):
    for_it = methods.prediction_difference(values, form="log_odds")
    against = methods.prediction_difference(1.0 - values, form="log_odds")
    assert np.max(np.abs(for_it + against)) < 1e-9
    whole = methods.prediction_difference(values, form="information")
    half = methods.prediction_difference(values / 2, form="information")
    assert np.max(np.abs(whole - half)) < 1e-12
    # both grow with the plain difference: they rank the signs alike
    plain = methods.prediction_difference(values)
    assert np.array_equal(np.sign(plain), np.sign(for_it))
    assert np.array_equal(np.sign(plain), np.sign(whole))


@given(games(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_names_of_players_do_not_matter(values, random):
    n = players_of(values)
    order = random.sample(range(n), n)
    scale = max(1.0, np.abs(values).max())
    for method in (methods.shapley, methods.occlusion, methods.weighted_shap_candidates):
        assert np.max(np.abs(method(renamed(values, order)) - method(values)[..., order])) < 1e-10 * scale


@given(games(largest=4), st.integers(0, 4))
@settings(max_examples=60, deadline=None)
def test_who_adds_nothing_gets_nothing(values, place):
    n = players_of(values)
    place = min(place, n)
    low = (1 << place) - 1
    wider = values[[(s & low) | (s >> place + 1 << place) for s in range(1 << n + 1)]]
    for method in (methods.shapley, methods.occlusion, methods.weighted_shap_candidates):
        assert np.array_equal(method(wider)[..., place], np.zeros_like(method(wider)[..., place]))


@given(games(), st.sampled_from(["inclusion_aup", "exclusion_aup", "inclusion_mse", "exclusion_mse"]))
@settings(max_examples=60, deadline=None)
def test_weighted_shap_is_never_worse_than_shapley_which_it_may_choose(values, utility):
    chosen = score(methods.weighted_shap(values, utility), values, utility)
    candidates = methods.weighted_shap_candidates(values)
    shapley = score(candidates[6], values, utility)
    assert np.max(np.abs(candidates[6] - methods.shapley(values))) < 1e-10 * max(1.0, np.abs(values).max())
    assert chosen >= shapley if utility.startswith("exclusion") else chosen <= shapley


@given(st.integers(1, 12), st.integers(1, 40), st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_size_weights_are_a_distribution_that_mirrors(n, alpha, beta):
    weights = methods.beta_size_weights(n, alpha, beta)
    assert abs(weights.sum() - 1.0) < 1e-14
    assert np.all(weights > 0)
    assert np.max(np.abs(weights[::-1] - methods.beta_size_weights(n, beta, alpha))) < 1e-15


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("broken", list(COUNTEREXAMPLES))
def test_each_case_of_the_papers_first_table_breaks_one_postulate_alone(broken, n):
    found = audit(COUNTEREXAMPLES[broken], n)
    kept = {"precision": found.precision, "federation": found.federation, "zero_discrepancy": found.zero_discrepancy}
    assert [name for name, holds in kept.items() if not holds] == [broken]
    assert found.adaptation is False


@given(games(), st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_compare_judges_what_the_methods_gave(values, seed):
    names = ["occlusion", "shapley", "weighted_shap", "taylorpoda", "taylorpoda_optimal"]
    found = methods.compare(values, ["exclusion_aup"], methods=names, random_state=seed)
    scale = max(1.0, np.abs(values).max())
    best = found.scores["taylorpoda_optimal", "exclusion_aup"]
    for name in names:
        made = found.attributions[name, "exclusion_aup"]
        assert found.scores[name, "exclusion_aup"] == score(made, values, "exclusion_aup")
        off = values[0] + made.sum() - values[-1]
        assert abs(found.discrepancy[name, "exclusion_aup"] - off) < 1e-9 * scale
        if name in ("shapley", "taylorpoda", "taylorpoda_optimal"):
            assert abs(off) < 1e-9 * scale
    assert best >= found.scores["shapley", "exclusion_aup"]
