"""Utilities that are functions of the attributions: convex ones are proven, others are searched."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

import taylorpoda as tp
from taylorpoda.allocation import AdmissibleSet


def distance_to(reference):
    return tp.Utility(
        "distance",
        evaluate=lambda attributions, context: np.sum((attributions - reference) ** 2, axis=-1),
        gradient=lambda attributions, context: 2 * (attributions - reference),
        convex=True,
        higher_is_better=False,
    )


SPARSE = tp.Utility(
    "sparse",
    evaluate=lambda attributions, context: -np.sum(abs(attributions), axis=-1),
    gradient=lambda attributions, context: -np.sign(attributions),
    convex=True,
)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_a_convex_distance_is_minimized_like_a_projection(n, scale):
    rng = np.random.default_rng(n)
    values, reference = rng.normal(size=(3, 1 << n)) * scale, rng.normal(size=n) * scale
    allocation = tp.allocate(values, distance_to(reference))
    nearest = np.sum((tp.project(values, reference).attributions - reference) ** 2, axis=-1)
    assert np.all(allocation.certified)
    assert np.array_equal(allocation.bound, allocation.score)
    assert np.all(allocation.score <= nearest * (1 + 1e-5) + 1e-12 * scale**2)
    for row in range(3):
        assert AdmissibleSet(values[row]).contains(allocation.attributions[row])


def test_a_concave_gain_with_kinks_equals_a_linear_program():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(4, 16))
    allocation = tp.allocate(values, SPARSE)
    assert np.all(allocation.certified)
    member = np.arange(1, 16)[:, None] >> np.arange(4) & 1
    for row in range(4):
        g = AdmissibleSet(values[row]).boundary
        one = np.eye(4)
        rows = np.block([[member, np.zeros((15, 4))], [one, -one], [-one, -one]])
        result = linprog(
            np.repeat([0.0, 1.0], 4),
            A_ub=rows,
            b_ub=np.concatenate([g[1:], np.zeros(8)]),
            A_eq=np.repeat([1.0, 0.0], 4)[None, :],
            b_eq=g[-1:],
            bounds=[(None, None)] * 4 + [(0, None)] * 4,
        )
        assert abs(allocation.score[row] + result.fun) <= 1e-6


def test_a_limit_leaves_an_honest_bound():
    values = np.random.default_rng(2).normal(size=(3, 32))
    full, cut = tp.allocate(values, SPARSE), tp.allocate(values, SPARSE, node_limit=2)
    assert np.all(cut.bound >= full.score - 1e-9)
    assert np.all(cut.score >= cut.shapley_score)
    assert not np.any(cut.certified)


def test_any_other_function_is_searched_and_nothing_is_claimed():
    largest = tp.Utility("largest share", evaluate=lambda a, context: np.max(abs(a), axis=-1) / np.sum(abs(a), axis=-1))
    values = np.random.default_rng(3).normal(size=(5, 16))
    allocation = tp.allocate(values, largest, random_state=0)
    dirichlet = tp.allocate(values, largest, "dirichlet", random_state=0)
    assert np.all(allocation.score >= dirichlet.score - 1e-12)
    assert np.all(allocation.score > allocation.shapley_score)
    assert not np.any(allocation.certified)
    assert np.all(np.isinf(allocation.bound))
    assert np.all(np.isinf(allocation.gap))
    assert np.all(np.isinf(allocation.ceiling))
    for row in range(5):
        assert AdmissibleSet(values[row]).contains(allocation.attributions[row])
    alone = tp.allocate(values[2], largest, random_state=0)
    assert np.array_equal(alone.attributions, allocation.attributions[2])
    again = tp.allocate(values, largest, random_state=allocation.seed)
    assert np.array_equal(again.attributions, allocation.attributions)


def test_functions_of_tensors():
    mine = tp.Utility("first", evaluate=lambda attributions, context: attributions[..., 0])
    values = torch.tensor(np.random.default_rng(4).normal(size=(2, 8)))
    allocation = tp.allocate(values, mine, random_state=0)
    assert isinstance(allocation.attributions, torch.Tensor)
    assert bool(torch.all(allocation.score <= allocation.upper[:, 0] + 1e-9))
    assert bool(torch.all(allocation.score >= allocation.shapley_score))


def test_a_wrong_gradient_is_named():
    wrong = tp.Utility(
        "wrong", evaluate=lambda a, context: np.sum(a, axis=-1), gradient=lambda a, context: a[..., :1], convex=True
    )
    with pytest.raises(ValueError, match=r"gradient of utility 'wrong' returned shape \(1,\)"):
        tp.allocate(np.arange(8.0) ** 2, wrong)
