"""Tensors in, tensors to the model."""

from __future__ import annotations

import numpy as np
import pytest

import taylorpoda as tp

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def rows():
    return torch.tensor(np.random.default_rng(0).normal(size=(12, 4)))


def test_a_function_of_tensors_gets_tensors(rows):
    def predict(part):
        assert isinstance(part, torch.Tensor)
        assert part.dtype == rows.dtype
        return part[:, 0] * part[:, 1] + part[:, 2]

    explanation = tp.Explainer(predict, rows[:8], policy="optimal")(rows[8:])
    array = rows.numpy()
    same = tp.Explainer(lambda part: part[:, 0] * part[:, 1] + part[:, 2], array[:8], policy="optimal")(array[8:])
    assert np.max(np.abs(explanation.values - same.values)) < 1e-12
    assert isinstance(explanation.data, torch.Tensor)
    assert explanation.to_frame().shape == (4, 4)


def test_arrays_and_single_rows_are_read_into_the_tensors_type(rows):
    explainer = tp.Explainer(lambda part: part.sum(dim=1), rows[:8].float(), policy="shapley")
    assert explainer(rows[8].float()).values.shape == (1, 4)
    assert explainer(rows[8:9].float().numpy()).values.shape == (1, 4)
    with pytest.raises(ValueError, match="X has dtype float64 but the background has float32"):
        explainer(rows[8:9])
    half = tp.Explainer(lambda part: part.float().sum(dim=1), rows[:8].bfloat16(), policy="shapley")
    assert half(np.ones((1, 4))).values.shape == (1, 4)
    with pytest.raises(ValueError, match="not every cell fits"):
        half(np.full((1, 4), 1 + 2.0**-20))


def test_gradients_do_not_follow(rows):
    leaf = rows.clone().requires_grad_()
    explanation = tp.Explainer(lambda part: part.sum(dim=1), leaf[:8], policy="shapley")(leaf[8:])
    assert not explanation.data.requires_grad
    assert leaf.grad is None


def test_a_tensor_of_another_shape_is_refused(rows):
    with pytest.raises(ValueError, match=r"background has shape \(2, 2, 2\)"):
        tp.Explainer(lambda part: part.sum(dim=1), torch.zeros(2, 2, 2))
