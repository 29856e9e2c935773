"""WeightedSHAP's candidates from sparse dividends: the table's numbers where there is one, and beyond."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from taylorpoda import methods
from taylorpoda.dividends import harsanyi
from taylorpoda.dividends.sparse import SparseDividends
from taylorpoda.methods.weighted_shap import candidate_weights, dividend_shares


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6).flatmap(lambda n: hnp.arrays(np.float64, 1 << n, elements=st.floats(-100, 100, width=32))))
def test_the_same_as_from_the_table(values):
    sparse = SparseDividends.from_dense(harsanyi(values))
    found = methods.weighted_shap_candidates(sparse)
    expected = methods.weighted_shap_candidates(values)
    assert np.max(abs(found - expected)) <= 1e-10 * max(1.0, np.max(abs(values)))


def test_shares_of_a_dividend_by_counting():
    """A member of T gets H(T) if the others of T are in a coalition of its size: counted over sizes, n = 12."""
    from math import comb

    n = 12
    shares = dividend_shares(n)
    for row, weights in enumerate(candidate_weights(n)):
        for size in range(1, n + 1):
            chance = sum(
                weight * comb(n - size, joined - size + 1) / comb(n - 1, joined)
                for joined, weight in enumerate(weights)
                if joined >= size - 1
            )
            assert abs(shares[row, size] - chance) < 1e-12


def test_three_hundred_players():
    """A sum of small games: each player's number is that of its own game, where there is a table."""
    rng = np.random.default_rng(0)
    tables = rng.normal(size=(60, 32))
    sets, values = [], []
    for game, dividends in enumerate(harsanyi(tables)):
        for subset in range(1, 32):
            sets.append([5 * game + j for j in range(5) if subset >> j & 1])
            values.append(dividends[subset])
    found = methods.weighted_shap_candidates(SparseDividends.from_sets(sets, values, 300))
    shapley = methods.weighted_shap_candidates(tables)[:, 6].ravel()
    assert found.shape == (13, 300)
    assert np.max(abs(found[6] - shapley)) < 1e-12
    assert np.max(abs(found[12] - methods.occlusion(tables).ravel())) < 1e-12


def test_no_dividends_at_all():
    none = SparseDividends.from_sets([[]], [2.0], 4)
    assert np.array_equal(methods.weighted_shap_candidates(none), np.zeros((13, 4)))


@pytest.mark.parametrize("rows", [0, 1])
def test_any_number_of_rows(rows):
    table = np.random.default_rng(0).random((rows, 8))
    assert methods.weighted_shap(table).shape == (rows, 3)
    assert methods.weighted_shap_candidates(table).shape == (rows, 13, 3)
    found = methods.compare(table)
    assert found.attributions["weighted_shap", "inclusion_aup"].shape == (rows, 3)
