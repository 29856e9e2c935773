from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import taylorpoda as tp
from taylorpoda.dividends import (
    occlusion_from,
    occlusion_of,
    pairwise_dividends,
    shapley_from,
    shapley_interactions,
    shapley_of,
)

tables = st.integers(0, 6).flatmap(
    lambda n: hnp.arrays(np.float64, (2, 1 << n), elements=st.floats(-1e3, 1e3, allow_nan=False))
)


@pytest.mark.parametrize("n", range(9))
def test_dividends_follow_their_definition(n, brute_dividends):
    values = np.random.default_rng(n).normal(size=(3, 1 << n)) * 10.0 ** np.arange(-3, 6, 3)[:, None]
    expected = np.array([brute_dividends(row) for row in values])
    scale = np.max(abs(values), axis=1, keepdims=True)
    assert np.all(abs(tp.harsanyi(values) - expected) <= 1e-12 * scale * 2**n)


@pytest.mark.parametrize("n", [16, 17, 20])
def test_blocked_passes_agree_with_plain_ones_and_invert(n):
    values = np.random.default_rng(n).normal(size=1 << n)
    plain = values
    for player in range(n):
        halves = plain.reshape(-1, 2, 1 << player)
        plain = np.stack([halves[:, 0], halves[:, 1] - halves[:, 0]], axis=1).reshape(-1)
    dividends = tp.harsanyi(values)
    assert np.array_equal(dividends, plain)
    assert np.max(abs(tp.values_from(dividends) - values)) <= 1e-11 * np.max(abs(values))


@given(tables)
def test_transform_inverts_and_leaves_its_argument_alone(values):
    before = values.copy()
    back = tp.values_from(tp.harsanyi(values))
    assert np.array_equal(values, before)
    assert np.all(abs(back - values) <= 1e-11 * max(1.0, np.max(abs(values))))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(64,), (3, 64), (2, 1, 4, 64), (0, 64)])
def test_any_leading_axes_and_memory_layout(order, shape):
    values = np.asarray(np.random.default_rng(0).normal(size=shape), order=order)
    result = tp.harsanyi(values)
    assert result.shape == shape
    flat = values.reshape(-1, 64)
    for row, expected in enumerate(result.reshape(-1, 64)):
        assert np.array_equal(tp.harsanyi(flat[row]), expected)


def test_strided_views_and_integers_are_read_right():
    values = np.random.default_rng(1).normal(size=(4, 128))
    assert np.array_equal(tp.harsanyi(values[::2, ::4]), tp.harsanyi(values[::2, ::4].copy()))
    counts = np.arange(16).reshape(2, 8)
    assert tp.harsanyi(counts).dtype == np.float64
    assert np.array_equal(tp.harsanyi(counts), tp.harsanyi(counts.astype(float)))
    assert np.array_equal(tp.harsanyi([0, 1, 2, 5]), [0.0, 1.0, 2.0, 2.0])


def test_a_player_that_never_matters_has_dividends_of_exactly_zero():
    values = np.random.default_rng(2).normal(size=1 << 7)[np.arange(1 << 7) & ~(1 << 4)]
    held = np.arange(1 << 7) >> 4 & 1 == 1
    assert np.all(tp.harsanyi(values)[held] == 0.0)
    assert shapley_of(values)[4] == 0.0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_tensors_stay_tensors(dtype):
    values = torch.tensor(np.random.default_rng(3).normal(size=(2, 32)), dtype=dtype)
    before = values.clone()
    result = tp.harsanyi(values)
    assert isinstance(result, torch.Tensor)
    assert result.dtype == dtype
    assert torch.equal(values, before)
    expected = tp.harsanyi(values.numpy().astype(np.float64))
    assert np.max(abs(result.numpy() - expected)) <= (1e-12 if dtype == torch.float64 else 1e-4)
    assert np.max(abs(tp.values_from(result).numpy() - values.numpy())) <= (1e-12 if dtype == torch.float64 else 1e-4)
    assert np.max(abs(shapley_of(values).numpy() - shapley_of(values.numpy()))) <= 1e-5


def test_float32_tables_keep_their_precision():
    assert tp.harsanyi(np.zeros(4, dtype=np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        (np.zeros(6), ValueError, "power of two"),
        (np.array(1.0), ValueError, "single number"),
        (np.array([0.0, np.nan]), ValueError, r"index \(1,\)"),
        (np.array([0.0, np.inf]), ValueError, "finite"),
        (np.array(["a", "b"]), TypeError, "real numbers"),
        (np.array([1j, 0]), TypeError, "real numbers"),
        (torch.zeros(4, dtype=torch.complex64), TypeError, "real numbers"),
        (np.array([2**62 + 1, 0]), ValueError, "exactly"),
    ],
)
def test_bad_tables_are_refused_by_name(values, error, words):
    with pytest.raises(error, match=words) as raised:
        tp.harsanyi(values)
    assert "values" in str(raised.value)


@given(tables)
def test_shapley_and_occlusion_from_values_and_from_dividends_agree(values):
    n = values.shape[1].bit_length() - 1
    dividends = tp.harsanyi(values)
    size = max(1.0, np.max(abs(values))) * 4.0**n
    shapley = shapley_of(values)
    assert shapley.shape == (2, n)
    assert np.all(abs(shapley_from(dividends) - shapley) <= 1e-13 * size)
    assert np.all(abs(occlusion_from(dividends) - occlusion_of(values)) <= 1e-13 * size)
    if n:
        assert np.all(
            abs(np.sum(shapley, axis=1) - values[:, -1] + values[:, 0]) <= 1e-12 * max(1, np.max(abs(values)))
        )


def test_shapley_is_the_mean_over_all_orders():
    from itertools import permutations

    values = np.random.default_rng(4).normal(size=1 << 5)
    gains = np.zeros(5)
    orders = list(permutations(range(5)))
    for order in orders:
        reached = 0
        for player in order:
            gains[player] += values[reached | 1 << player] - values[reached]
            reached |= 1 << player
    assert np.max(abs(shapley_of(values) - gains / len(orders))) <= 1e-12


def test_a_row_has_the_same_bits_alone_and_in_a_batch():
    values = np.random.default_rng(5).normal(size=(37, 1 << 9))
    together = shapley_of(values)
    for row in range(37):
        assert np.array_equal(shapley_of(values[row]), together[row])
    assert np.array_equal(shapley_of(np.asfortranarray(values)), together)


def test_pairs():
    values = np.random.default_rng(6).normal(size=1 << 4)
    dividends = tp.harsanyi(values)
    pairs, index = pairwise_dividends(dividends), shapley_interactions(dividends)
    assert pairs[1, 3] == pairs[3, 1] == dividends[0b1010]
    assert pairs[2, 2] == dividends[0b100]
    sizes = np.array([subset.bit_count() for subset in range(16)])
    held = np.array([subset & 0b1010 == 0b1010 for subset in range(16)])
    expected = np.sum(dividends[held] / (sizes[held] - 1))
    assert abs(index[1, 3] - expected) <= 1e-12
    assert abs(index[3, 1] - expected) <= 1e-12
    assert np.array_equal(np.diagonal(index), shapley_from(dividends))
    assert pairwise_dividends(np.zeros(1)).shape == shapley_interactions(np.zeros(1)).shape == (0, 0)


def test_a_tensor_keeps_its_place_in_the_graph():
    """Copying it by `asarray` warned that its gradient may be lost one day."""
    values = torch.tensor([0.0, 1.0, 2.0, 5.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tp.harsanyi(values)[3].backward()
    assert values.grad.tolist() == [1.0, -1.0, -1.0, 1.0]
