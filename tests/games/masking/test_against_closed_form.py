"""Every conditional value function against the closed form on a linear model with normal data."""

from __future__ import annotations

import numpy as np
import pytest

import taylorpoda as tp


@pytest.mark.parametrize(
    ("masking", "times"), [("gaussian", 20), ("copula", 10), ("conditional", 10), ("neighbours", 5)]
)
def test_shapley_values_are_far_nearer_to_the_truth_than_marginal_ones(gaussian_world, masking, times):
    assert times * gaussian_world.error(masking) < gaussian_world.error("marginal")


def test_gaussian_values_are_those_of_the_normal_distribution_with_the_background_moments(small_world):
    rows, background = small_world.rows[:3], small_world.background
    rule = tp.masking.Gaussian()
    explainer = tp.Explainer(small_world.model, background, masking=rule, policy="shapley", random_state=0)
    explanation = explainer(rows)
    mean, covariance = background.mean(axis=0), np.cov(background.T, bias=True)
    shrunk = explanation.provenance["shrinkage"]
    covariance = (1 - shrunk) * covariance + shrunk * np.diag(np.diag(covariance))
    for row in range(3):
        values = tp.values_from(explanation.dividends(row))
        for mask in range(8):
            known = np.array([mask >> j & 1 == 1 for j in range(3)])
            expected = np.where(known, rows[row], mean)
            if known.any() and not known.all():
                inside = covariance[np.ix_(known, known)]
                across = covariance[np.ix_(known, ~known)]
                expected[~known] += (rows[row] - mean)[known] @ np.linalg.solve(inside, across)
            assert abs(values[mask] - expected @ small_world.slopes) < 1e-9


def test_gaussian_second_moments_are_exact(small_world):
    """E[X'X | x_S] needs the conditional covariance too; the draws match it exactly, in closed form."""
    background, row = small_world.background, small_world.rows[:1]
    explainer = tp.Explainer(
        lambda x: np.square(x).sum(axis=1), background, masking="gaussian", policy="shapley", random_state=0
    )
    explanation = explainer(row)
    values = tp.values_from(explanation.dividends(0))
    mean, covariance = background.mean(axis=0), np.cov(background.T, bias=True)
    shrunk = explanation.provenance["shrinkage"]
    covariance = (1 - shrunk) * covariance + shrunk * np.diag(np.diag(covariance))
    assert abs(values[0] - (np.trace(covariance) + mean @ mean)) < 1e-9
    known, absent = [0], [1, 2]
    link = np.linalg.solve(covariance[np.ix_(known, known)], covariance[np.ix_(known, absent)])
    center = mean[absent] + (row[0, known] - mean[known]) @ link
    left = covariance[np.ix_(absent, absent)] - covariance[np.ix_(absent, known)] @ link
    assert abs(values[1] - (row[0, 0] ** 2 + center @ center + np.trace(left))) < 1e-9


def test_the_trained_surrogate_is_near_a_known_conditional_expectation():
    """y = sign(x0) |x1|, x1 = x0 + noise: nothing linear about it, and E[y | x] can be simulated."""
    generator = np.random.default_rng(0)
    first = generator.standard_normal(6000)
    rows = np.stack([first, first + generator.standard_normal(6000)], axis=1)

    def model(x):
        return np.sign(x[:, 0]) * np.abs(x[:, 1])

    surrogate = tp.masking.Conditional(seed=0, steps=800).train(model, rows)
    explainer = tp.Explainer(model, rows[:10], masking=surrogate, policy="shapley")
    for x0 in (-1.5, 0.8, 1.5):
        values = tp.values_from(explainer(np.array([[x0, 0.3]])).dividends(0))
        truth = np.mean(np.sign(x0) * np.abs(x0 + generator.standard_normal(200_000)))
        assert abs(values[1] - truth) < 0.15
