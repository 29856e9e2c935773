from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import taylorpoda as tp
from taylorpoda.utilities import Context, make_context, prefix_masks, ranking, resolve, score_candidates

NAMES = ("inclusion_aup", "exclusion_aup", "inclusion_mse", "exclusion_mse", "inclusion_auc", "exclusion_auc")


def by_definition(attributions, values, name, target, threshold=0.5):
    """One row, one feature at a time, straight from the table of formulas."""
    n = len(attributions)
    order = sorted(range(n), key=lambda player: (-abs(attributions[player]), player))
    total = 0.0
    for m in range(1, n + 1):
        inside = sum(1 << player for player in order[:m])
        value = values[inside if name.startswith("inclusion") else (1 << n) - 1 - inside]
        if name.endswith("aup"):
            total += abs(values[-1] - value)
        elif name.endswith("mse"):
            total += (values[-1] - value) ** 2
        else:
            total += float((1 if value > threshold else 0) == target)
    return total


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_scores_follow_the_formulas(name, data):
    n = data.draw(st.integers(0, 5))
    small = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5])
    values = data.draw(hnp.arrays(np.float64, (3, 1 << n), elements=small))
    attributions = data.draw(hnp.arrays(np.float64, (3, n), elements=small))
    target = data.draw(hnp.arrays(np.int64, 3, elements=st.integers(0, 1)))
    threshold = data.draw(st.sampled_from([0.5, 0.0]))
    scores = tp.score(attributions, values, name, target, threshold=threshold)
    for row in range(3):
        expected = by_definition(attributions[row], values[row], name, target[row], threshold)
        assert abs(scores[row] - expected) <= 1e-12
    tensor = tp.score(torch.tensor(attributions), torch.tensor(values), name, torch.tensor(target), threshold=threshold)
    assert np.max(abs(tensor.numpy() - scores)) <= 1e-12


def test_ties_go_to_the_smaller_index():
    assert np.array_equal(ranking(np.array([0.5, -2.0, 0.5, 2.0])), [1, 3, 0, 2])
    assert np.array_equal(prefix_masks(np.array([1, 3, 0, 2])), [2, 10, 11, 15])
    with pytest.raises(ValueError, match="62"):
        prefix_masks(np.arange(63))


def test_a_value_at_the_threshold_is_labeled_zero():
    values = np.array([0.0, 0.5, 0.5, 0.5])
    assert tp.score([2.0, 1.0], values, "inclusion_auc", 0) == 2
    assert tp.score([2.0, 1.0], values, "inclusion_auc", 1) == 0


def test_classes_compete_by_argmax():
    labels = np.array([[0, 2, 1, 2], [1, 1, 0, 0]])
    values = np.random.default_rng(0).normal(size=(2, 3, 4))
    attributions = np.tile([2.0, 1.0], (2, 3, 1))
    scores = tp.score(attributions, values, "inclusion_auc", np.array([2, 0]), labels=labels)
    assert scores.shape == (2, 3)
    assert np.array_equal(scores[0], [2.0, 2.0, 2.0])  # coalitions 1 and 3 are labeled 2
    assert np.array_equal(scores[1], [1.0, 1.0, 1.0])  # 1 is labeled 1, 3 is labeled 0
    exclusion = tp.score(attributions, values, "exclusion_auc", np.array([2, 0]), labels=labels)
    assert np.array_equal(exclusion[0], [0.0, 0.0, 0.0])  # coalitions 2 and 0 are labeled 1 and 0


@pytest.mark.parametrize("target", [[True, False], [1, 0], [1.0, 0.0], np.array([1, 0], dtype=object)])
def test_labels_in_any_dress(target):
    values = np.array([[0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]])
    assert np.array_equal(tp.score([[2, 1], [2, 1]], values, "inclusion_auc", target), [2.0, 0.0])


def test_a_label_per_row_serves_all_outputs_of_the_row():
    values = np.random.default_rng(1).random(size=(3, 3, 8))
    attributions = np.random.default_rng(2).normal(size=(3, 3, 3))
    target = np.array([1, 0, 1])
    scores = tp.score(attributions, values, "exclusion_auc", target)
    spread = tp.score(attributions, values, "exclusion_auc", np.repeat(target[:, None], 3, axis=1))
    assert np.array_equal(scores, spread)
    assert np.array_equal(scores[1], tp.score(attributions[1], values[1], "exclusion_auc", 0))


@pytest.mark.parametrize(
    ("target", "error", "words"),
    [
        (None, ValueError, "target="),
        ([2, 0], ValueError, "0 and 1"),
        ([0.5, 0.0], ValueError, "0.5"),
        ([np.nan, 0.0], ValueError, "nan"),
        ([0, 1, 1], ValueError, r"\(3,\).*\(2,\)"),
        (["yes", "no"], TypeError, "dtype"),
    ],
)
def test_bad_labels_are_refused(target, error, words):
    with pytest.raises(error, match=words):
        tp.score(np.zeros((2, 2)), np.zeros((2, 4)), "inclusion_auc", target)


@pytest.mark.parametrize(
    ("attributions", "error", "words"),
    [
        ([1.0, np.nan], ValueError, "NaN"),
        ([1.0, 2.0, 3.0], ValueError, "2 players"),
        (np.zeros((3, 2)), ValueError, "leading axes"),
        (["a", "b"], TypeError, "dtype"),
    ],
)
def test_bad_attributions_are_refused(attributions, error, words):
    with pytest.raises(error, match=words):
        tp.score(attributions, np.zeros((2, 4)), "inclusion_aup")


def test_unknown_names_list_the_known_and_suggest_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'inclusion_aup'") as raised:
        resolve("inclusion_uap")
    assert all(name in str(raised.value) for name in NAMES)
    with pytest.raises(TypeError, match="Utility"):
        resolve(3)


def test_a_stage_of_ones_own():
    mine = tp.Utility("mine", stage=lambda context: abs(context.values - context.full_value[..., None]))
    values = np.random.default_rng(3).normal(size=(4, 16))
    attributions = np.random.default_rng(4).normal(size=(4, 4))
    assert np.array_equal(tp.score(attributions, values, mine), tp.score(attributions, values, "inclusion_aup"))
    assert mine.additive
    assert "additive" in repr(mine)


def test_a_function_of_ones_own_sees_the_context():
    def mass_on_known(attributions, context):
        assert context.n_players == 3
        assert np.array_equal(context.base_value, context.values[..., 0])
        return np.sum(attributions, axis=-1) - context.full_value + context.base_value

    mine = tp.Utility("rest", evaluate=mass_on_known, higher_is_better=False)
    values = np.random.default_rng(5).normal(size=(2, 8))
    shapley = tp.methods.shapley(values)
    assert np.max(abs(tp.score(shapley, values, mine))) <= 1e-12
    assert not mine.additive


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: tp.Utility("x"), ValueError, "exactly one"),
        (lambda: tp.Utility("x", stage=abs, evaluate=abs), ValueError, "exactly one"),
        (lambda: tp.Utility("x", stage=3), TypeError, "callable"),
        (lambda: tp.Utility(3, stage=abs), TypeError, "name"),
        (lambda: tp.Utility("x", evaluate=abs, convex=True), ValueError, "gradient"),
    ],
)
def test_a_utility_that_cannot_work_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize(
    ("utility", "words"),
    [
        (tp.Utility("x", stage=lambda context: context.values[..., :2]), "returned shape"),
        (tp.Utility("x", stage=lambda context: context.values * np.nan), "NaN"),
        (tp.Utility("x", evaluate=lambda attributions, context: attributions), "returned shape"),
        (tp.Utility("x", evaluate=lambda attributions, context: attributions[..., 0] * np.nan), "NaN"),
    ],
)
def test_a_utility_that_answers_wrongly_is_named(utility, words):
    with pytest.raises(ValueError, match=words) as raised:
        tp.score(np.ones((2, 2)), np.ones((2, 4)), utility)
    assert "'x'" in str(raised.value)


def test_values_of_coalitions_given_as_rows():
    values = np.random.default_rng(6).normal(size=(5, 16))
    context = Context(values)
    rows = np.array([[True, False, True, False], [False, False, False, False]])
    assert np.array_equal(context.value_of(rows), values[:, [5, 0]])
    assert np.array_equal(Context(torch.tensor(values)).value_of(rows).numpy(), values[:, [5, 0]])


def test_candidates_are_scored_like_single_attributions():
    values = np.random.default_rng(7).normal(size=(3, 16))
    candidates = np.random.default_rng(8).normal(size=(3, 5, 4))
    for name in NAMES:
        utility = resolve(name)
        context = make_context(values, utility, [0, 1, 0])
        together = score_candidates(context, utility, candidates)
        for candidate in range(5):
            assert np.array_equal(together[:, candidate], tp.score(candidates[:, candidate], values, name, [0, 1, 0]))


def test_the_six_can_be_pickled():
    for name in NAMES:
        assert pickle.loads(pickle.dumps(resolve(name))).name == name


def test_threshold_must_be_a_number():
    with pytest.raises(ValueError, match="threshold"):
        tp.score([1.0], [0.0, 1.0], "inclusion_auc", 1, threshold="half")
