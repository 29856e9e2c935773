from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taylorpoda import methods
from taylorpoda.allocation import allocate
from taylorpoda.dividends import harsanyi, shapley_of
from taylorpoda.postulates import Audit, NotLinearError, audit, paper_postulates


def verdicts(found):
    return (found.precision, found.federation, found.zero_discrepancy, found.adaptation)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("occlusion", (True, True, False, False)),
        ("prediction_difference", (True, True, False, False)),
        ("shapley", (True, True, True, False)),
        ("weighted_shap", (True, True, False, "partial")),
        ("taylorpoda", (True, True, True, True)),
        ("taylorpoda_optimal", (True, True, True, True)),
        ("lime", (None, None, None, None)),
    ],
)
def test_the_registered_methods(name, expected, n):
    assert verdicts(audit(name, n)) == expected


def test_the_three_cases_of_the_papers_first_table():
    """Each breaks one postulate and only that one (crediting a bystander keeps the sum)."""
    assert verdicts(audit(methods.without_precision, 3)) == (False, True, True, False)
    assert verdicts(audit(methods.without_federation, 3)) == (True, False, True, False)
    assert verdicts(audit(methods.without_zero_discrepancy, 3)) == (True, True, False, False)
    with pytest.raises(ValueError, match="at least 3"):
        audit(methods.without_precision, 2)


def test_coefficients_are_the_attributions_of_unanimity_games():
    found = audit(shapley_of, 3)
    assert found.coefficients.shape == (8, 3)
    for subset in range(1, 8):
        members = [subset >> player & 1 for player in range(3)]
        assert np.max(np.abs(found.coefficients[subset] - np.array(members) / sum(members))) < 1e-12
    assert np.array_equal(found.coefficients[0], np.zeros(3))
    family = audit("weighted_shap", 3)
    assert family.coefficients.shape == (13, 8, 3)
    assert family.members == 13
    assert np.max(np.abs(family.coefficients[0, 7])) < 1e-15
    assert np.max(np.abs(family.coefficients[12, 7] - 1.0)) < 1e-15


def test_a_callable_a_partial_and_the_function_itself():
    assert verdicts(audit(methods.occlusion, 4)) == (True, True, False, False)
    assert verdicts(audit(methods.weighted_shap, 4)) == (True, True, False, "partial")
    chosen = functools.partial(methods.weighted_shap, utility="exclusion_mse")
    assert verdicts(audit(chosen, 4)) == (True, True, False, "partial")


def test_lime_itself_is_outside_as_its_name_is():
    for method in (methods.lime, functools.partial(methods.lime, num_samples=10), "lime"):
        found = audit(method, 4)
        assert verdicts(found) == (None, None, None, None)
        assert "surrogate" in found.note
        assert found.members == 0


@pytest.mark.parametrize(
    "method",
    [
        lambda values: methods.weighted_shap(values, "inclusion_aup"),
        lambda values: allocate(values, "inclusion_aup", "dirichlet", random_state=0).attributions,
        lambda values: np.abs(shapley_of(values)),
        lambda values: shapley_of(values) + 1.0,
        lambda values: shapley_of(values) * np.sign(values[-1]),
        lambda values: np.maximum(shapley_of(values), 0.0),
        lambda values: shapley_of(values**2),
        lambda values: shapley_of(values) if np.max(np.abs(values)) < 100 else methods.occlusion(values),
        lambda values: (
            methods.prediction_difference(1 / (1 + np.exp(-values)), form="log_odds") * 1.0000001
            + 1e-4 * np.tanh(values[-1])
        ),
    ],
)
def test_methods_that_are_not_linear_are_said_so(method):
    with pytest.raises(NotLinearError, match="not linear"):
        audit(method, 3)


def test_a_family_of_callables_even_from_a_generator():
    pair = (method for method in (methods.shapley, methods.occlusion))
    assert verdicts(audit(pair, 3)) == (True, True, False, "partial")
    assert audit([methods.shapley], 3).adaptation is False
    assert audit([methods.shapley, methods.shapley], 3).adaptation is False
    assert verdicts(audit([methods.shapley, methods.without_federation], 3))[:3] == (True, False, True)
    with pytest.raises(NotLinearError):
        audit([methods.shapley, lambda values: shapley_of(values) ** 2], 3)


def test_a_family_of_all_greedy_vertices_adapts_fully():
    """Every order of players: H(S) goes to the first member; the marginal vectors realize every vertex."""
    import itertools

    def marginal(order, values):
        gains, mask = np.zeros(len(order)), 0
        for player in order:
            gains[player] = values[mask | 1 << player] - values[mask]
            mask |= 1 << player
        return gains

    family = [functools.partial(marginal, order) for order in itertools.permutations(range(3))]
    assert verdicts(audit(family, 3)) == (True, True, True, True)


def by_array(values, *, shares):
    return (harsanyi(values)[:, None] * shares).sum(axis=0)


def by_mapping(values, shares):
    dividends = harsanyi(values)
    n = values.size.bit_length() - 1
    made = np.array([dividends[1 << player] for player in range(n)])
    for subset, row in shares.items():
        made = made + row * dividends[subset]
    return made


def by_index(values, shares=None):
    dividends = harsanyi(values)
    n = values.size.bit_length() - 1
    made = np.array([dividends[1 << player] for player in range(n)])
    for subset in range(1 << n):
        if subset.bit_count() > 1:
            made = made + np.asarray(shares[subset]) * dividends[subset]
    return made


def ignores(values, *, shares):
    return shapley_of(values)


def halfway(values, *, shares):
    return 0.5 * by_array(values, shares=shares) + 0.5 * shapley_of(values)


def loses(values, *, shares):
    return by_array(values, shares=shares * 0.9)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (by_array, (True, True, True, True)),
        (by_mapping, (True, True, True, True)),
        (by_index, (True, True, True, True)),
        (methods.taylorpoda, (True, True, True, True)),
        (lambda values, shares: allocate(values, policy="shares", shares=shares).attributions, (True,) * 4),
        (ignores, (True, True, True, False)),
        (halfway, (True, True, True, "partial")),
        (loses, (False, True, False, "partial")),
    ],
)
def test_methods_with_a_keyword_shares(method, expected):
    assert verdicts(audit(method, 4)) == expected


def test_an_error_inside_a_method_with_shares_is_not_swallowed():
    def broken(values, *, shares):
        msg = "mine"
        raise AttributeError(msg)

    with pytest.raises(AttributeError, match="mine"):
        audit(broken, 3)


def test_the_constant_belongs_to_nobody():
    """v(empty) spread over the players: precise, but it goes to players outside the empty coalition."""
    found = audit(lambda values: shapley_of(values) + values[0] / 3, 3)
    assert verdicts(found) == (True, False, False, False)


@pytest.mark.parametrize(
    ("method", "n", "error", "message"),
    [
        ("shaply", 3, ValueError, "Did you mean 'shapley'"),
        ("shapley", 1, ValueError, "n_players=1; allowed: 2 to 10"),
        ("shapley", 11, ValueError, "n_players=11"),
        ("shapley", "3", TypeError, "n_players='3'"),
        (3, 3, TypeError, "method=3 has type int"),
        ([], 3, ValueError, "no members"),
        ([3], 3, ValueError, "callable"),
        (lambda values: values, 3, ValueError, r"shape \(8,\)"),
        (lambda values: np.full(3, np.nan), 3, ValueError, "NaN"),
    ],
)
def test_bad_arguments(method, n, error, message):
    with pytest.raises(error, match=message):
        audit(method, n)


@given(st.integers(2, 4), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_any_linear_method_is_read_back_from_its_coefficients(n, seed):
    """Random coefficients, verdicts worked out from them directly."""
    draw = np.random.default_rng(seed)
    coefficients = draw.normal(size=(1 << n, n))
    held = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
    if draw.random() < 0.5:
        coefficients = coefficients * held
    if draw.random() < 0.5:
        for player in range(n):
            coefficients[1 << player] = np.eye(n)[player]
    found = audit(lambda values: harsanyi(values) @ coefficients, n)
    assert isinstance(found, Audit)
    assert np.max(np.abs(found.coefficients - coefficients)) < 1e-10
    singles = np.array([coefficients[1 << player] for player in range(n)])
    sizes = held.sum(axis=1)
    foreign = (coefficients * (1 - held))[sizes != 1]
    assert found.precision == bool(np.max(np.abs(singles - np.eye(n))) < 1e-9)
    assert found.federation == bool(np.max(np.abs(foreign)) < 1e-9)
    assert found.zero_discrepancy == bool(np.max(np.abs(coefficients.sum(axis=1) - (sizes > 0))) < 1e-9)
    assert found.adaptation is False


def test_the_papers_column_beside_ours():
    rows = paper_postulates()
    assert [row.method for row in rows] == ["OCC-1", "LIME", "SHAP", "WeightedSHAP", "TaylorPODA"]
    differing = [row for row in rows if row.printed != row.computed]
    assert [row.method for row in differing] == ["WeightedSHAP"]
    assert differing[0].printed[0] is False
    assert differing[0].computed[0] is True
    assert "sum to one" in differing[0].remark
    assert all(not row.remark for row in rows if row is not differing[0])


def test_weights_that_do_not_sum_to_one_break_precision():
    """What the paper's 'no' would need: the candidates scaled by 0.9."""
    scaled = [
        functools.partial(lambda member, values: 0.9 * member(values), one) for one in methods.weighted_shap_family()
    ]
    assert verdicts(audit(scaled, 3)) == (False, True, False, "partial")
