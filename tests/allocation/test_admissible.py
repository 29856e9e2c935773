from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

import taylorpoda as tp
from taylorpoda.allocation import AdmissibleSet

games = st.integers(1, 5).flatmap(
    lambda n: hnp.arrays(np.float64, 1 << n, elements=st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0]))
)


def given_by_shares(values, shares):
    """The attributions of a mapping of shares, one coalition at a time."""
    n = len(values).bit_length() - 1
    dividends = tp.harsanyi(values)
    result = dividends[1 << np.arange(n)].copy()
    for subset, share in shares.items():
        result += share * dividends[subset]
    return result


def attainable_by_program(values, attributions):
    """Whether some shares give a vector, by a linear program over the shares themselves."""
    n = len(values).bit_length() - 1
    dividends = tp.harsanyi(values)
    shared = [s for s in range(1 << n) if s.bit_count() > 1 and dividends[s] != 0]
    columns = [(subset, player) for subset in shared for player in range(n) if subset >> player & 1]
    if not columns:
        return np.max(abs(attributions - dividends[1 << np.arange(n)])) <= 1e-7
    equal = np.zeros((n + len(shared), len(columns)))
    for column, (subset, player) in enumerate(columns):
        equal[player, column] = dividends[subset]
        equal[n + shared.index(subset), column] = 1
    right = np.concatenate([attributions - dividends[1 << np.arange(n)], np.ones(len(shared))])
    return linprog(np.zeros(len(columns)), A_eq=equal, b_eq=right, bounds=(0, 1), method="highs").status == 0


@given(games, st.integers(0, 1000))
def test_membership_is_attainability_by_shares(values, seed):
    rng = np.random.default_rng(seed)
    admissible = AdmissibleSet(values)
    n = admissible.n_players
    vertices = admissible.vertex(np.array([rng.permutation(n) for _ in range(3)]))
    inside = rng.dirichlet(np.ones(3)) @ vertices
    assert admissible.contains(inside)
    assert attainable_by_program(values, inside)
    outside = inside + rng.normal(size=n) * (1 + np.max(admissible.upper - admissible.lower))
    outside += (admissible.total - np.sum(outside)) / n
    assert bool(admissible.contains(outside)) == attainable_by_program(values, outside)


@given(games, st.integers(0, 1000))
def test_vertices_carry_their_shares_and_bound_every_direction(values, seed):
    rng = np.random.default_rng(seed)
    admissible = AdmissibleSet(values)
    n = admissible.n_players
    order = rng.permutation(n)
    vertex, shares = admissible.vertex(order), admissible.vertex_shares(order)
    assert np.max(abs(given_by_shares(values, shares) - vertex)) <= 1e-12
    assert np.all((shares.array == 0) | (shares.array == 1))
    direction = rng.normal(size=n)
    best = admissible.maximize(direction)
    everywhere = admissible.vertex(np.array([rng.permutation(n) for _ in range(20)]))
    assert np.max(everywhere @ direction) <= best @ direction + 1e-9
    for player in range(n):
        assert abs(admissible.maximize(np.eye(n)[player])[player] - admissible.upper[player]) <= 1e-12
        assert abs(admissible.maximize(-np.eye(n)[player])[player] - admissible.lower[player]) <= 1e-12


@given(games, st.integers(0, 1000))
def test_shares_of_any_member(values, seed):
    rng = np.random.default_rng(seed)
    admissible = AdmissibleSet(values)
    n = admissible.n_players
    vertices = admissible.vertex(np.array([rng.permutation(n) for _ in range(n + 1)]))
    member = rng.dirichlet(np.full(n + 1, 0.5)) @ vertices
    for point in (member, vertices[0], (vertices[0] + vertices[-1]) / 2, tp.methods.shapley(values)):
        shares = admissible.shares(point)
        assert np.all((shares.array >= 0) & (shares.array <= 1))
        assert np.all(abs(np.sum(shares.array, axis=1) - 1) <= 1e-9)
        assert np.max(abs(given_by_shares(values, shares) - point)) <= 1e-8 * max(admissible.scale, 1e-300)


def test_shares_at_sixteen_players():
    rng = np.random.default_rng(0)
    values = rng.normal(size=1 << 16)
    admissible = AdmissibleSet(values)
    member = rng.dirichlet(np.ones(20)) @ admissible.vertex(np.array([rng.permutation(16) for _ in range(20)]))
    shares = admissible.shares(member)
    dividends = tp.harsanyi(values)
    rebuilt = dividends[1 << np.arange(16)] + dividends[shares.coalitions] @ shares.array
    assert np.max(abs(rebuilt - member)) <= 1e-8 * admissible.scale
    assert np.max(abs(np.sum(shares.array, axis=1) - 1)) <= 1e-9


def test_a_stranger_has_no_shares():
    admissible = AdmissibleSet(np.array([0.0, 1.0, 2.0, 5.0]))
    with pytest.raises(ValueError, match="not admissible"):
        admissible.shares([0.0, 5.0])


def test_boundary_is_submodular_and_attained():
    values = np.random.default_rng(1).normal(size=32)
    g = AdmissibleSet(values).boundary
    for one in range(32):
        for other in range(32):
            assert g[one] + g[other] >= g[one | other] + g[one & other] - 1e-9
    for subset in range(32):
        inside = np.array([subset >> player & 1 for player in range(5)], float)
        assert abs(AdmissibleSet(values).maximize(inside) @ inside - g[subset]) <= 1e-9


@given(games, st.integers(0, 1000), st.sampled_from([1e-3, 1.0, 1e3]))
def test_projection_is_nearest(values, seed, spread):
    rng = np.random.default_rng(seed)
    admissible = AdmissibleSet(values)
    n = admissible.n_players
    reference = rng.normal(size=n) * spread
    projection = tp.project(values, reference)
    assert projection.policy == "project"
    assert projection.nearest_certified
    assert admissible.contains(projection.attributions)
    vertices = admissible.vertex(np.array([rng.permutation(n) for _ in range(10)]))
    mixtures = rng.dirichlet(np.full(10, 0.3), size=500) @ vertices
    away = np.sqrt(np.min(np.sum((mixtures - reference) ** 2, axis=1)))
    distance = np.sqrt(np.sum((projection.attributions - reference) ** 2))
    assert distance <= away + 1e-9 * max(spread, 1.0)
    assert np.max(abs(given_by_shares(values, projection.shares()) - projection.attributions)) <= 1e-8 * max(spread, 1)


def test_a_member_is_its_own_projection():
    rng = np.random.default_rng(2)
    for scale in (1e-6, 1.0, 1e6):
        values = rng.normal(size=(6, 32)) * scale
        members = tp.allocate(values, policy="dirichlet", random_state=0).attributions
        assert np.max(abs(tp.project(values, members).attributions - members)) <= 1e-9 * scale
        again = tp.project(values, tp.project(values, np.zeros(5)).attributions).attributions
        assert np.max(abs(again - tp.project(values, np.zeros(5)).attributions)) <= 1e-9 * scale


def test_projection_in_batches_with_a_utility_and_as_tensors():
    values = np.random.default_rng(3).normal(size=(2, 3, 16))
    projection = tp.project(values, [1.0, 0.0, 0.0, 0.0], "inclusion_aup")
    assert projection.attributions.shape == (2, 3, 4)
    assert np.array_equal(projection.score, tp.score(projection.attributions, values, "inclusion_aup"))
    best = tp.allocate(values)
    assert np.all(projection.score >= best.score - 1e-9)
    assert np.max(abs(projection.bound - np.minimum(best.score, projection.score))) <= 1e-9
    assert np.max(abs(projection.ceiling - best.ceiling)) <= 1e-12
    tensor = tp.project(torch.tensor(values), torch.tensor([1.0, 0.0, 0.0, 0.0]))
    assert isinstance(tensor.attributions, torch.Tensor)
    assert np.max(abs(tensor.attributions.numpy() - projection.attributions)) <= 1e-12
    with pytest.raises(ValueError, match="utility="):
        _ = tensor.score
    assert tp.project(np.zeros((0, 8)), np.zeros(3)).attributions.shape == (0, 3)


@pytest.mark.parametrize(
    ("reference", "error", "words"),
    [
        ([0.0, np.nan], ValueError, "NaN"),
        ([0.0, 1.0, 2.0], ValueError, "broadcast"),
        (["a", "b"], TypeError, "dtype"),
    ],
)
def test_bad_references_are_refused(reference, error, words):
    with pytest.raises(error, match=words) as raised:
        tp.project(np.arange(4.0), reference)
    assert "reference" in str(raised.value)


def test_bad_arguments_of_the_set_are_refused():
    admissible = AdmissibleSet(np.arange(8.0))
    with pytest.raises(ValueError, match="one game"):
        AdmissibleSet(np.zeros((2, 8)))
    with pytest.raises(ValueError, match="permutation"):
        admissible.vertex([0, 0, 1])
    with pytest.raises(ValueError, match="3 players"):
        admissible.contains([1.0, 2.0])
    assert "3 players" in repr(admissible)


def test_tolerance_is_relative_to_the_scale():
    for scale in (1e-6, 1e6):
        admissible = AdmissibleSet(np.array([0.0, 1.0, 2.0, 5.0]) * scale)
        near = np.array([1.0 - 1e-6, 4.0 + 1e-6]) * scale
        assert not admissible.contains(near)
        assert admissible.contains(near, tolerance=1e-5)
        assert np.array_equal(admissible.contains(np.stack([near, [1.5 * scale, 3.5 * scale]])), [False, True])


def test_shares_are_exact_where_dividends_span_sixteen_magnitudes():
    """Wolfe's algorithm once stopped at a gap that was small against the vertices, not against what was missed."""
    rng = np.random.default_rng(0)
    for n in (3, 4, 5, 6):
        for _ in range(10):
            values = tp.values_from(rng.normal(size=1 << n) * 10.0 ** rng.uniform(-16, 0, 1 << n))
            admissible = AdmissibleSet(values)
            for name in ("exclusion_mse", "inclusion_aup"):
                answer = tp.allocate(values, name).attributions
                assert (
                    np.max(abs(given_by_shares(values, admissible.shares(answer)) - answer)) <= 2e-9 * admissible.scale
                )


def test_projections_are_proven_at_any_distance_and_size():
    """One in nine was not, where eight vertices spanned everything: the affine point was off in the twelfth digit.

    Optimality by its own inequality: no vertex lies further toward the reference than the projection does.
    """
    rng = np.random.default_rng(3)
    for _ in range(60):
        n, scale = int(rng.integers(6, 9)), 10.0 ** rng.integers(-6, 7)
        values = rng.normal(size=1 << n) * scale
        reference = rng.normal(size=n) * scale * 10.0 ** rng.integers(-2, 4)
        projection = tp.project(values, reference)
        assert projection.nearest_certified
        away = reference - projection.attributions
        furthest = AdmissibleSet(values).maximize(away)
        assert away @ (furthest - projection.attributions) <= 1e-9 * scale * max(np.max(abs(away)), scale)


@pytest.mark.parametrize("far", [1e3, 1e8, 1e12])
def test_far_references_lose_no_digits(far):
    """Members once came out of differences to the reference, and 1e8 scales away eight digits were gone."""
    rng = np.random.default_rng(3)
    for n in (2, 3, 4, 6):
        values = rng.normal(size=1 << n)
        admissible = AdmissibleSet(values)
        direction = rng.integers(-1, 2, size=n) * admissible.scale * far
        for reference in (direction + rng.normal(size=n), direction, rng.normal(size=n) * far):
            result = tp.project(values, reference)
            assert admissible.violation(result.attributions) <= 1e-12 * admissible.scale
            assert result.nearest_certified
            # At a nearest point no vertex lies further toward the reference, in units of length.
            toward = reference - result.attributions
            ahead = toward @ (admissible.maximize(toward) - result.attributions) / np.linalg.norm(toward)
            assert ahead <= 1e-11 * admissible.scale
            given = given_by_shares(values, result.shares())
            assert np.max(abs(given - result.attributions)) <= 1e-8 * admissible.scale
