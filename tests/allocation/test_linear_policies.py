from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import taylorpoda as tp

NAMES = ("inclusion_aup", "exclusion_aup", "inclusion_mse", "exclusion_mse", "inclusion_auc", "exclusion_auc")


def random_shares(rng, n):
    """A valid table of shares, shape (2**n, n)."""
    members = np.arange(1 << n)[:, None] >> np.arange(n) & 1
    shares = rng.exponential(size=members.shape) * members
    sums = np.sum(shares, axis=1, keepdims=True)
    return shares / np.where(sums > 0, sums, 1)


def subtractive(values, shares):
    """a_i = f(x) - f without i - sum over S holding i, |S| > 1, of (1 - share) H(S), straight from the paper."""
    n = values.shape[-1].bit_length() - 1
    dividends = tp.harsanyi(values)
    result = np.zeros(n)
    for player in range(n):
        result[player] = values[-1] - values[(1 << n) - 1 - (1 << player)]
        for subset in range(1 << n):
            if subset >> player & 1 and subset.bit_count() > 1:
                result[player] -= (1 - shares[subset, player]) * dividends[subset]
    return result


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 8, 12])
def test_any_valid_shares_add_up_and_both_formulas_agree(n, scale):
    rng = np.random.default_rng(n)
    values = rng.normal(size=1 << n) * scale
    shares = random_shares(rng, n)
    allocation = tp.allocate(values, policy="shares", shares=shares)
    size = np.max(abs(values - values[0]))
    assert abs(np.sum(allocation.attributions) - (values[-1] - values[0])) <= 1e-9 * size
    if n <= 8:
        other = subtractive(values, shares)
        assert np.all(abs(allocation.attributions - other) <= 1e-12 * max(size, 1e-300) * 4.0**n)
    assert np.all(allocation.attributions >= allocation.lower - 1e-10 * size * 4**n)
    assert np.all(allocation.attributions <= allocation.upper + 1e-10 * size * 4**n)


def test_shares_as_mapping_array_and_view_are_one():
    rng = np.random.default_rng(1)
    values, shares = rng.normal(size=(2, 16)), random_shares(rng, 4)
    plain = tp.allocate(values, policy="shares", shares=shares)
    mapping = {subset: shares[subset].tolist() for subset in range(16) if subset.bit_count() > 1}
    assert np.array_equal(tp.allocate(values, policy="shares", shares=mapping).attributions, plain.attributions)
    view = plain.shares(1)
    again = tp.allocate(values[1], policy="shares", shares=view)
    assert np.max(abs(again.attributions - plain.attributions[1])) <= 1e-12
    per_row = np.stack([shares, random_shares(rng, 4)])
    both = tp.allocate(values, policy="shares", shares=per_row)
    assert np.max(abs(both.attributions[0] - plain.attributions[0])) <= 1e-12
    assert np.array_equal(both.shares(1)[7], per_row[1, 7])
    tensor = tp.allocate(torch.tensor(values), policy="shares", shares=torch.tensor(shares))
    assert np.max(abs(tensor.attributions.numpy() - plain.attributions)) <= 1e-12


def test_coalitions_without_a_dividend_may_be_left_out():
    values = tp.values_from(np.array([0.0, 1.0, 2.0, 0.0, 3.0, 0.0, 0.0, 6.0]))
    allocation = tp.allocate(values, policy="shares", shares={7: [1.0, 0.0, 0.0]})
    assert np.array_equal(allocation.attributions, [7.0, 2.0, 3.0])
    table = np.zeros((8, 3))
    table[7] = [0.5, 0.5, 0.0]
    assert np.array_equal(tp.allocate(values, policy="shares", shares=table).attributions, [4.0, 5.0, 3.0])


@pytest.mark.parametrize(
    ("shares", "error", "words"),
    [
        ({3: [0.5, 0.6, 0.0]}, ValueError, "subset 3 .players 0, 1. sum to 1.1"),
        ({3: [1.5, -0.5, 0.0]}, ValueError, "subset 3 .*negative"),
        ({3: [0.5, 0.0, 0.5]}, ValueError, "subset 3 .*outside"),
        ({3: [np.nan, 0.5, 0.5]}, ValueError, "subset 3 .*NaN"),
        ({3: [0.5, 0.5]}, ValueError, "subset 3 .*shape"),
        ({9: [0.5, 0.5, 0.0]}, ValueError, "key 9"),
        ({-1: [0.5, 0.5, 0.0]}, ValueError, "key -1"),
        ({"a": [0.5, 0.5, 0.0]}, TypeError, "'a'"),
        ({3: [0.5, 0.5, 0.0]}, ValueError, "no entry for subset 5"),
        (np.zeros((4, 3)), ValueError, "shape"),
        (np.full((5, 8, 3), 0.5), ValueError, "leading axes"),
        ("even", TypeError, "mapping"),
        (None, ValueError, "shares="),
    ],
)
def test_bad_shares_name_the_subset(shares, error, words):
    values = np.random.default_rng(2).normal(size=8)
    with pytest.raises(error, match=words):
        tp.allocate(values, policy="shares", shares=shares)


def test_shares_with_another_policy_are_refused():
    with pytest.raises(ValueError, match="policy='shares'"):
        tp.allocate(np.arange(4.0), policy="shapley", shares={3: [0.5, 0.5]})


@given(hnp.arrays(np.float64, (3, 16), elements=st.floats(-100, 100)))
def test_intervals_are_what_some_shares_reach_and_none_exceed(values):
    allocation = tp.allocate(values, policy="shapley")
    dividends = tp.harsanyi(values)
    for player in range(4):
        interactions = [s for s in range(16) if s >> player & 1 and s.bit_count() > 1]
        single = dividends[:, 1 << player]
        upper = single + np.sum(np.maximum(dividends[:, interactions], 0), axis=1)
        lower = single + np.sum(np.minimum(dividends[:, interactions], 0), axis=1)
        assert np.all(abs(allocation.upper[:, player] - upper) <= 1e-9)
        assert np.all(abs(allocation.lower[:, player] - lower) <= 1e-9)


def test_shapley_has_even_shares():
    values = np.random.default_rng(3).normal(size=(2, 8))
    allocation = tp.allocate(values, policy="shapley")
    assert np.array_equal(allocation.attributions, tp.methods.shapley(values))
    assert np.array_equal(allocation.shares(1)[7], np.full(3, 1 / 3))
    assert list(allocation.shares(1)) == [3, 5, 6, 7]


def test_dirichlet_keeps_shapley_and_never_falls_below_it():
    values = np.random.default_rng(4).normal(size=(20, 64))
    for name in NAMES:
        allocation = tp.allocate(values, name, "dirichlet", np.ones(20), random_state=0)
        sign = 1 if name in {"exclusion_aup", "exclusion_mse", "inclusion_auc"} else -1
        assert np.all(sign * (allocation.score - allocation.shapley_score) >= 0)
        assert np.array_equal(allocation.score, tp.score(allocation.attributions, values, name, np.ones(20)))
        alone = tp.allocate(values, name, "dirichlet", np.ones(20), candidates=1)
        assert np.array_equal(alone.attributions, tp.methods.shapley(values))
    few = tp.allocate(values, policy="dirichlet", candidates=8, random_state=0).score
    many = tp.allocate(values, policy="dirichlet", candidates=64, random_state=0).score
    assert np.all(many <= few)


@pytest.mark.parametrize("draws", ["shared", "independent"])
@pytest.mark.parametrize("alpha", [0.01, 0.5, 1.0, 3.0])
def test_dirichlet_answers_come_with_their_shares(draws, alpha):
    values = np.random.default_rng(5).normal(size=(6, 32))
    allocation = tp.allocate(values, "exclusion_aup", "dirichlet", draws=draws, alpha=alpha, random_state=3)
    totals = values[:, -1] - values[:, 0]
    assert np.max(abs(np.sum(allocation.attributions, axis=1) - totals)) <= 1e-12
    for row in range(6):
        again = tp.allocate(values[row], policy="shares", shares=allocation.shares(row))
        assert np.max(abs(again.attributions - allocation.attributions[row])) <= 1e-10


@pytest.mark.parametrize("draws", ["shared", "independent"])
def test_a_row_does_not_depend_on_its_neighbors(draws):
    values = np.random.default_rng(6).normal(size=(9, 32))
    options = dict(policy="dirichlet", draws=draws, random_state=7)
    together = tp.allocate(values, **options).attributions
    assert np.array_equal(tp.allocate(values[::-1], **options).attributions[::-1], together)
    assert np.array_equal(tp.allocate(values[4], **options).attributions, together[4])
    assert np.array_equal(tp.allocate(values.reshape(3, 3, 32), **options).attributions.reshape(9, 5), together)


@pytest.mark.parametrize("draws", ["shared", "independent"])
@pytest.mark.parametrize("utility", ["inclusion_aup", "exclusion_auc"])
@pytest.mark.parametrize("shape", [(700, 2), (3,), (300,)])
def test_rows_beyond_a_block_get_what_they_get_alone(draws, utility, shape):
    values = np.random.default_rng(1).uniform(size=(*shape, 2**5))
    labels = np.random.default_rng(2).integers(2, size=shape)
    options = dict(utility=utility, policy="dirichlet", random_state=0, draws=draws)
    together = tp.allocate(values, target=labels, **options)
    for row in (0, shape[0] // 2, shape[0] - 1):
        alone = tp.allocate(values[row], target=labels[row], **options)
        assert np.array_equal(together.attributions[row], alone.attributions)
        assert np.array_equal(together.score[row], alone.score)
    assert together.attributions.shape == (*shape, 5)


def test_a_users_own_function_is_asked_about_all_rows_at_once():
    """It may know its rows by position."""
    values, wish = np.random.default_rng(1).normal(size=(3000, 2**4)), np.random.default_rng(2).normal(size=(3000, 4))
    near = tp.Utility("near", evaluate=lambda a, context: np.abs(a - wish).sum(axis=-1), higher_is_better=False)
    found = tp.allocate(values, near, "dirichlet", random_state=0)
    assert (found.score <= np.abs(tp.methods.shapley(values) - wish).sum(axis=-1)).all()


@pytest.mark.parametrize("alpha", [0.05, 0.7, 1.0])
@pytest.mark.parametrize("n", [3, 11])
def test_independent_tables_follow_one_another_in_the_stream_of_their_row(n, alpha):
    """Drawn together or one by one: the shares that are shown give the attributions."""
    values = np.random.default_rng(1).normal(size=(4, 2**n))
    found = tp.allocate(
        values,
        "exclusion_mse",
        "dirichlet",
        random_state=3,
        draws="independent",
        alpha=alpha,
        candidates=40 >> (n > 9) * 3,
    )
    assert (np.abs(found.attributions - tp.methods.shapley(values)).max(axis=1) > 1e-6).any()
    dividends = tp.harsanyi(values)
    for row in range(4):
        again = dividends[row, 1 << np.arange(n)].copy()
        for coalition, shares in found.shares(row).items():
            again += dividends[row, coalition] * shares
        assert np.max(np.abs(again - found.attributions[row])) < 1e-10 * np.abs(values).max() * 2**n


def test_independent_draws_differ_between_rows_and_shared_ones_do_not():
    rng = np.random.default_rng(8)
    values = rng.normal(size=64)
    near = np.stack([values, values + 1e-13 * rng.normal(size=64)])
    shared = tp.allocate(near, policy="dirichlet", random_state=0).attributions
    independent = tp.allocate(near, policy="dirichlet", random_state=0, draws="independent").attributions
    assert np.max(abs(shared[0] - shared[1])) <= 1e-9
    assert np.max(abs(independent[0] - independent[1])) > 1e-3


def test_shares_are_drawn_uniformly_from_the_simplex():
    from scipy import stats

    from taylorpoda.allocation.dirichlet import share_table

    for alpha in (0.09, 0.4, 1.0, 2.5):
        drawn = np.array([share_table(seed, 3, alpha, 1)[[3, 7]] for seed in range(400)])
        pair, three = drawn[:, 0, 0], drawn[:, 1, 0]
        assert stats.kstest(pair, stats.beta(alpha, alpha).cdf).pvalue > 1e-3
        assert stats.kstest(three, stats.beta(alpha, 2 * alpha).cdf).pvalue > 1e-3


def test_the_global_random_state_is_left_alone_and_the_seed_recorded():
    values = np.random.default_rng(9).normal(size=16)
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - this is the state that must not move
    fresh = tp.allocate(values, policy="dirichlet")
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002 - what must stay untouched
    again = tp.allocate(values, policy="dirichlet", random_state=fresh.seed)
    assert np.array_equal(again.attributions, fresh.attributions)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"candidates": 0}, ValueError, "candidates"),
        ({"candidates": True}, TypeError, "candidates"),
        ({"alpha": 0}, ValueError, "alpha"),
        ({"alpha": "1"}, TypeError, "alpha"),
        ({"draws": "common"}, ValueError, "independent"),
        ({"random_state": -1}, ValueError, "random_state"),
        ({"random_state": "x"}, TypeError, "random_state"),
    ],
)
def test_bad_options_are_named(options, error, words):
    with pytest.raises(error, match=words):
        tp.allocate(np.arange(8.0), policy="dirichlet", **options)


def test_other_policies_know_how_far_they_are_from_the_optimum():
    values = np.random.default_rng(10).normal(size=(5, 16))
    best = tp.allocate(values)
    for policy in ("shapley", "dirichlet"):
        other = tp.allocate(values, policy=policy, random_state=0)
        assert np.max(abs(other.bound - np.minimum(best.score, other.score))) <= 1e-12
        assert np.array_equal(other.certified, other.score <= best.score + 1e-9)
        assert np.array_equal(other.ceiling, best.ceiling)
        assert np.array_equal(other.gap, abs(other.score - other.bound))


def test_results_are_frozen_read_only_and_readable():
    import dataclasses

    allocation = tp.allocate(np.random.default_rng(11).normal(size=(2, 8)), policy="shapley")
    with pytest.raises(dataclasses.FrozenInstanceError):
        allocation.policy = "other"
    shares = allocation.shares()
    with pytest.raises(ValueError, match="read-only"):
        shares[3][0] = 1.0
    with pytest.raises(KeyError):
        shares[1]
    assert 3 in shares
    assert True not in shares
    assert "x" not in shares
    assert "shapley" in repr(allocation)
    assert "4 coalitions" in repr(shares)
    with pytest.raises(IndexError, match="2 rows"):
        allocation.shares(2)
    assert np.array_equal(allocation.shares(-1).array, allocation.shares(1).array)


@pytest.mark.parametrize("policy", ["shapley", "dirichlet"])
def test_tensors_stay_where_they_are(policy):
    values = torch.tensor(np.random.default_rng(12).normal(size=(2, 3, 16)))
    allocation = tp.allocate(values, policy=policy, random_state=0)
    for part in ("attributions", "score", "shapley_score", "lower", "upper", "bound", "ceiling", "certified"):
        assert isinstance(getattr(allocation, part), torch.Tensor), part
    plain = tp.allocate(values.numpy(), policy=policy, random_state=0)
    assert np.max(abs(allocation.attributions.numpy() - plain.attributions)) <= 1e-12
