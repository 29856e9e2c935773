"""A "no" of the solver counts only with weights whose one inequality shows it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import taylorpoda as tp
from taylorpoda.allocation import probe as probe_module
from taylorpoda.allocation.boundary import Polytopes, rounding_of
from taylorpoda.allocation.refutation import FREE, contradict, refuted


def question(rng, n, n_rows, shift):
    """Random rows over a box, the last one an equality; the larger the shift, the harder to satisfy."""
    matrix = np.vstack([rng.normal(size=(n_rows, n)), np.ones(n)])
    above = np.concatenate([np.ones(n), rng.normal(size=n_rows) - shift, [0.3]])
    below = np.concatenate([-np.ones(n), np.full(n_rows, -FREE), [0.3]])
    return matrix, above, below


def feasible(matrix, above, below):
    n = matrix.shape[1]
    return (
        linprog(
            np.zeros(n),
            A_ub=matrix[:-1],
            b_ub=above[n:-1],
            A_eq=matrix[-1:],
            b_eq=above[-1:],
            bounds=list(zip(below[:n], above[:n], strict=True)),
            method="highs",
        ).status
        == 0
    )


@given(st.integers(0, 10**6), st.integers(2, 7), st.floats(0.0, 1.5))
def test_refuted_exactly_where_a_linear_program_finds_nothing(seed, n, shift):
    rng = np.random.default_rng(seed)
    matrix, above, below = question(rng, n, 8, shift)
    assert refuted(np.eye(n), rng.normal(size=n), matrix, above, below) != feasible(matrix, above, below)


def test_contradictions_as_small_as_a_ten_thousandth_of_a_margin():
    rng = np.random.default_rng(0)
    for gap in (1e-3, 1e-6, 1e-8, 1e-10):
        for _ in range(20):
            rows, point = rng.normal(size=(6, 6)), rng.uniform(-0.5, 0.5, 6)
            against = -(rng.random(6) * (rng.random(6) < 0.6)) @ rows
            matrix = np.vstack([rows, against, np.ones(6)])
            above = np.concatenate([np.ones(6), rows @ point, [against @ point - gap], [point.sum()]])
            below = np.concatenate([-np.ones(6), np.full(7, -FREE), [point.sum()]])
            assert refuted(np.eye(6), rng.normal(size=6), matrix, above, below)
            above[-2] += 2 * gap
            assert not refuted(np.eye(6), rng.normal(size=6), matrix, above, below)


@given(st.integers(0, 10**6))
def test_no_weights_contradict_rows_that_some_vector_satisfies(seed):
    rng = np.random.default_rng(seed)
    matrix, above, below = question(rng, 5, 8, 0.0)
    inside = rng.uniform(-1, 1, 5)
    above[5:-1] = matrix[:-1] @ inside + rng.exponential(size=8) * (rng.random(8) < 0.5)
    below[-1] = above[-1] = inside.sum()
    for size in (1e-6, 1.0, 1e6):
        assert not contradict(rng.normal(size=9) * size, matrix, above, below)


def test_limits_known_up_to_rounding_contradict_nothing_that_holds_before_it():
    """Rows that some vector just satisfies, moved a little: contradictory as they stand, but not as they are meant."""
    rng = np.random.default_rng(8)
    blur, contradictory = 1e-6, 0
    for _ in range(40):
        matrix, above, below = question(rng, 5, 12, 0.0)
        inside = rng.uniform(-1, 1, 5)
        above[5:-1] = matrix[:-1] @ inside
        below[-1] = above[-1] = inside.sum()
        above[5:] -= rng.uniform(0, blur, 13)
        below[-1] = above[-1]
        above[:5] -= rng.uniform(0, blur, 5)
        contradictory += refuted(np.eye(5), rng.normal(size=5), matrix, above, below)
        assert not refuted(np.eye(5), rng.normal(size=5), matrix, above, below, blur)
    assert contradictory > 20


@pytest.mark.parametrize("n", [2, 5, 8, 10])
def test_rounding_moves_the_boundary_by_less_than_is_allowed_for(n):
    rng = np.random.default_rng(n)
    inside = np.arange(1 << n)[:, None] >> np.arange(n) & 1
    smooth = np.tanh(inside @ rng.normal(size=n))
    for values in (rng.normal(size=1 << n), inside @ rng.normal(size=n), 1e3 + smooth, smooth * 1e-5):
        set_of = Polytopes.of(values[None])
        unit, computed = Fraction(float(set_of.unit[0])), set_of.boundary[0]
        exact = exact_boundary([Fraction(float(value)) for value in values], n)
        off = max(abs(Fraction(float(given)) - true / unit) for given, true in zip(computed, exact, strict=True))
        assert off <= rounding_of(computed) / 10


def exact_boundary(values, n):
    """g by its definition, in fractions."""
    full = (1 << n) - 1
    dividends = [value - values[0] for value in values]
    for player in range(n):
        for subset in range(1 << n):
            if subset >> player & 1:
                dividends[subset] -= dividends[subset ^ 1 << player]
    return [
        sum((dividends[1 << player] for player in range(n) if subset >> player & 1), Fraction(0))
        + sum(
            (
                dividend
                for other, dividend in enumerate(dividends)
                if other.bit_count() > 1
                and ((dividend > 0 and other & subset) or (dividend < 0 and other & ~subset & full == 0))
            ),
            Fraction(0),
        )
        for subset in range(1 << n)
    ]


def test_a_solver_that_says_no_without_reason_proves_nothing(monkeypatch):
    """The bound stays valid, and the answer is not called certified."""
    values = np.random.default_rng(1).normal(size=(6, 32))
    honest = tp.allocate(values, "exclusion_aup")
    assert honest.certified.all()
    real = probe_module.daqp.solve
    asked = []

    def liar(*arguments, **settings):
        point, value, flag, info = real(*arguments, **settings)
        if "rho_soft" in settings:  # the softened program that looks for a proof
            return point, value, flag, info
        asked.append(flag)
        return point, value, -1, info

    monkeypatch.setattr(probe_module.daqp, "solve", liar)
    lied = tp.allocate(values, "exclusion_aup")
    assert asked
    better = honest.score > honest.shapley_score
    assert better.any()
    assert not lied.certified[better].any()
    assert np.all(lied.bound >= honest.score - 1e-9)
    assert np.all(lied.score >= lied.shapley_score)


@pytest.mark.parametrize("name", ["exclusion_aup", "exclusion_auc"])
def test_every_no_of_real_searches_is_refuted(name, monkeypatch):
    said = []
    monkeypatch.setattr(probe_module, "refuted", lambda *question: said.append(refuted(*question)) or said[-1])
    rng = np.random.default_rng(2)
    sizes = np.array([subset.bit_count() for subset in range(128)])
    dividends = rng.normal(size=(30, 128)) * 0.4**sizes * (rng.random((30, 128)) < 0.3)
    values = tp.values_from(dividends)
    allocation = tp.allocate(values, name, target=1, margin=0.01, threshold=float(np.median(values)))
    assert allocation.certified.all()
    assert len(said) > 20
    assert all(said)
