from __future__ import annotations

import sys

import numpy as np
import pytest

from taylorpoda import methods
from taylorpoda.utilities import score as methods_score

pytest.importorskip("lime")


def linear(rows):
    return rows @ np.array([3.0, 0.0, -1.0])


def background():
    return np.random.default_rng(0).random((200, 3))


def test_the_same_weights_as_the_lime_package():
    from lime.lime_tabular import LimeTabularExplainer

    train = background()
    explainer = LimeTabularExplainer(train, mode="regression", random_state=7)
    explainer.random_state.seed(7)
    weights = dict(explainer.explain_instance(train[3], linear, num_features=3, num_samples=500).local_exp[1])
    found = methods.lime(linear, train, train[3:4], num_samples=500, random_state=7)
    assert np.array_equal(found[0], [weights[feature] for feature in range(3)])


def test_every_row_is_explained_with_the_same_draws_wherever_it_stands():
    train = background()
    together = methods.lime(linear, train, train[:4], num_samples=200, random_state=1)
    alone = np.concatenate(
        [methods.lime(linear, train, train[k : k + 1], num_samples=200, random_state=1) for k in range(4)]
    )
    assert np.array_equal(together, alone)


def test_it_finds_the_feature_that_does_not_matter():
    train = background()
    found = methods.lime(linear, train, train[:5], random_state=0)
    assert np.all(np.argmin(np.abs(found), axis=1) == 1)
    assert np.max(np.abs(found[:, 1])) < 0.05
    assert found.shape == (5, 3)


def test_the_global_random_state_is_not_touched():
    state = np.random.mtrand._rand.get_state()[1].copy()
    methods.lime(linear, background(), background()[:1], num_samples=50, random_state=0)
    assert np.array_equal(np.random.mtrand._rand.get_state()[1], state)


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="same n"):
        methods.lime(linear, background(), np.zeros((2, 4)))


def test_without_the_package_the_error_is_the_install_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "lime", None)
    monkeypatch.setitem(sys.modules, "lime.lime_tabular", None)
    with pytest.raises(ImportError, match=r"pip install 'taylorpoda\[lime\]'"):
        methods.lime(linear, background(), background()[:1])


def test_compare_shows_lime_beside_all_others():
    train = background()
    rows, donors = train[:4], train[4:24]
    present = (np.arange(8)[:, None] >> np.arange(3)) & 1 == 1
    table = np.array([[linear(np.where(one, row, donors)).mean() for one in present] for row in rows])
    given = {"model": linear, "background": train, "X": rows}
    found = methods.compare(table, ["inclusion_aup", "exclusion_mse"], **given, random_state=5)
    assert found.methods == tuple(methods.METHODS)
    expected = methods.lime(linear, train, rows, random_state=5)
    for utility in found.utilities:
        assert np.array_equal(found.attributions["lime", utility], expected)
        assert np.array_equal(found.scores["lime", utility], methods_score(expected, table, utility))
    without = methods.compare(table, ["inclusion_aup"], random_state=5)
    assert set(found.methods) - set(without.methods) == {"lime"}
    alone = methods.compare(table, ["inclusion_aup"], methods=["lime"], **given, random_state=5)
    assert np.array_equal(alone.attributions["lime", "inclusion_aup"], expected)


def test_compare_says_what_lime_lacks():
    train = background()
    with pytest.raises(ValueError, match=r"needs more than a table: pass model=, background= and X="):
        methods.compare(np.zeros((2, 8)), ["inclusion_aup"], methods=["lime"])
    with pytest.raises(ValueError, match="background and X missing"):
        methods.compare(np.zeros((2, 8)), ["inclusion_aup"], model=linear)
    with pytest.raises(ValueError, match=r"X has shape \(3, 3\); values of shape \(2, 8\) need \(2, 3\)"):
        methods.compare(np.zeros((2, 8)), ["inclusion_aup"], model=linear, background=train, X=train[:3])


def test_compare_keeps_tensors():
    torch = pytest.importorskip("torch")
    train = background()
    table = torch.zeros((2, 8), dtype=torch.float64)
    given = {"model": linear, "background": train, "X": train[:2]}
    found = methods.compare(table, ["inclusion_aup"], methods=["shapley", "lime"], **given, random_state=0)
    assert isinstance(found.attributions["lime", "inclusion_aup"], torch.Tensor)
