from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import taylorpoda as tp
from taylorpoda.allocation import AdmissibleSet

NAMES = ("inclusion_aup", "exclusion_aup", "inclusion_mse", "exclusion_mse", "inclusion_auc", "exclusion_auc")
SIGN = {name: 1.0 if name in {"exclusion_aup", "exclusion_mse", "inclusion_auc"} else -1.0 for name in NAMES}


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_equals_exhaustive_search_with_attainability_by_a_program_over_the_shares(n, exhaustive):
    games = 14 if n == 5 else 28
    for game in range(games):
        kind = exhaustive.KINDS[game % len(exhaustive.KINDS)]
        assert exhaustive.disagreements((n, game), n, kind) == [], kind


@pytest.mark.parametrize("name", NAMES)
def test_model_games_are_certified_and_nothing_admissible_is_better(name, model_games):
    rng = np.random.default_rng(0)
    for label, values, target in model_games:
        scale = np.max(abs(values - values[:, :1]), axis=1)
        allocation = tp.allocate(values, name, target=target)
        sign, n = SIGN[name], allocation.attributions.shape[1]
        assert np.all(allocation.certified), label
        assert np.array_equal(allocation.score, tp.score(allocation.attributions, values, name, target))
        assert np.array_equal(allocation.bound, allocation.score)
        assert np.array_equal(allocation.gap, np.zeros(len(values)))
        assert np.all(sign * (allocation.score - allocation.shapley_score) >= 0)
        assert np.all(sign * (allocation.ceiling - allocation.score) >= 0)
        dirichlet = tp.allocate(values, name, "dirichlet", target, random_state=0)
        # Costs within 1e-12 of the largest count as equal, and among equals the nearest to Shapley is returned.
        assert np.all(sign * (allocation.score - dirichlet.score) >= -1e-12)
        assert np.all(abs(np.sum(allocation.attributions, axis=1) - values[:, -1] + values[:, 0]) <= 1e-9 * scale)
        for row in range(0, len(values), 5):
            admissible = AdmissibleSet(values[row])
            assert admissible.contains(allocation.attributions[row])
            vertices = admissible.vertex(np.array([rng.permutation(n) for _ in range(100)]))
            mixtures = rng.dirichlet(np.full(100, 0.05), size=2000) @ vertices
            table = np.broadcast_to(values[row], (2000, 1 << n))
            scores = tp.score(mixtures, table, name, np.full(2000, target[row]))
            assert np.max(sign * scores) <= sign * allocation.score[row] + 1e-9


def test_shares_of_the_answer_are_valid_and_give_it(model_games):
    _, values, _ = model_games[0]
    allocation = tp.allocate(values, "exclusion_aup")
    n = allocation.attributions.shape[1]
    for row in range(len(values)):
        shares = allocation.shares(row)
        dividends = tp.harsanyi(values[row])
        rebuilt = dividends[1 << np.arange(n)]
        for subset, share in shares.items():
            assert np.all((share >= 0) & (share <= 1))
            assert abs(np.sum(share) - 1) <= 1e-9
            assert all(share[player] == 0 for player in range(n) if not subset >> player & 1)
            rebuilt = rebuilt + share * dividends[subset]
        assert np.max(abs(rebuilt - allocation.attributions[row])) <= 1e-8
        again = tp.allocate(values[row], "exclusion_aup", "shares", shares=shares)
        assert np.max(abs(again.attributions - allocation.attributions[row])) <= 1e-8


def relabeled(values, order):
    """The same game with player order[j] called j."""
    subsets = np.arange(values.shape[-1])
    source = np.zeros_like(subsets)
    for new, old in enumerate(order):
        source |= (subsets >> new & 1) << old
    return values[..., source]


@pytest.mark.parametrize("name", ["inclusion_aup", "exclusion_mse"])
def test_relabeling_the_features_relabels_the_answer(name, model_games):
    for _, values, _ in model_games[:4]:
        order = np.random.default_rng(1).permutation(values.shape[1].bit_length() - 1)
        plain, moved = tp.allocate(values, name), tp.allocate(relabeled(values, order), name)
        assert np.max(abs(plain.score - moved.score)) <= 1e-9
        both = plain.nearest_certified & moved.nearest_certified
        assert np.mean(both) > 0.5
        assert np.max(abs(plain.attributions[:, order] - moved.attributions)[both]) <= 1e-6


def test_a_row_depends_on_nothing_but_itself(model_games):
    for _, values, target in model_games[:2]:
        for name in NAMES:
            together = tp.allocate(values, name, target=target).attributions
            backwards = tp.allocate(values[::-1], name, target=target[::-1]).attributions
            assert np.array_equal(backwards[::-1], together)
            assert np.array_equal(tp.allocate(values[3], name, target=target[3]).attributions, together[3])


def test_offset_and_scale_change_nothing(model_games):
    _, values, target = model_games[1]
    for name in NAMES:
        plain = tp.allocate(values, name, target=target)
        for offset, scale in ((1e6, 1.0), (0.0, 1e-6), (0.0, 1e6), (-3.0, 1e3)):
            threshold = 0.5 * scale + offset
            other = tp.allocate(values * scale + offset, name, target=target, threshold=threshold)
            power = 0 if name.endswith("auc") else 2 if name.endswith("mse") else 1
            assert np.all(other.certified)
            assert np.max(abs(other.score / scale**power - plain.score)) <= 1e-8 * max(1.0, abs(offset))


@pytest.mark.parametrize("limit", [{"node_limit": 0}, {"node_limit": 2}, {"time_limit": 0.0}])
@pytest.mark.parametrize("name", ["exclusion_aup", "exclusion_auc"])
def test_under_a_limit_the_bound_holds_and_shapley_is_never_lost(limit, name, model_games):
    sign = SIGN[name]
    for _, values, target in model_games:
        full = tp.allocate(values, name, target=target)
        cut = tp.allocate(values, name, target=target, **limit)
        assert np.all(sign * (cut.bound - full.score) >= -1e-10)
        assert np.all(sign * (cut.score - cut.shapley_score) >= 0)
        assert np.all(cut.certified == (cut.gap == 0))
        if limit == {"node_limit": 0}:
            assert np.all(cut.certified == (full.score == full.shapley_score))


def test_nearest_certified_means_that_no_attainable_ranking_of_the_same_score_is_nearer():
    """Nearness by brute force: every ranking of the best score, every sign, all rows of the polytope at once."""
    from itertools import permutations, product

    import daqp

    rng = np.random.default_rng(2)
    for game in range(12):
        n = 3
        values = rng.integers(-2, 3, size=8).astype(float) if game % 2 else rng.normal(size=8)
        allocation = tp.allocate(values, "inclusion_aup")
        assert allocation.certified
        assert allocation.nearest_certified
        admissible = AdmissibleSet(values)
        shapley, scale = tp.methods.shapley(values), max(admissible.scale, 1e-300)
        member = (np.arange(1, 8)[:, None] >> np.arange(n) & 1).astype(float)
        nearest = np.inf
        if abs(allocation.score - allocation.shapley_score) <= 1e-12:
            nearest = 0.0
        for order, signs in product(permutations(range(n)), product((1.0, -1.0), repeat=n)):
            stand_in = np.array([n - order.index(player) for player in range(n)], float)
            if abs(tp.score(stand_in, values, "inclusion_aup") - allocation.score) > 1e-9 * scale:
                continue
            rows = np.zeros((n, n))
            for rank in range(n):
                rows[rank, order[rank]] = signs[rank]
                if rank + 1 < n:
                    rows[rank, order[rank + 1]] = -signs[rank + 1]
            above = np.concatenate([np.full(n, 1e30), admissible.boundary[1:]])
            least = np.append(np.full(n - 1, 1e-6 * scale), 0.0)
            below = np.concatenate([least, np.full(6, -1e30), admissible.boundary[-1:]])
            sense = np.array([0] * (n + 6) + [5], dtype=np.int32)
            found, _, flag, _ = daqp.solve(
                np.eye(n), -shapley, np.vstack([rows, member]), above, below, sense, primal_tol=1e-10
            )
            if flag == 1:
                nearest = min(nearest, float(np.sum((found - shapley) ** 2)))
        mine = np.sum((allocation.attributions - shapley) ** 2)
        assert abs(mine - nearest) <= 1e-5 * scale**2


@given(hnp.arrays(np.float64, (2, 16), elements=st.sampled_from([-1.0, 0.0, 0.5, 1.0, 3.0])))
def test_games_full_of_ties_are_solved(values):
    for name in ("inclusion_aup", "exclusion_auc"):
        allocation = tp.allocate(values, name, target=1)
        assert np.all(allocation.certified)
        assert np.array_equal(allocation.bound, allocation.score)
        assert np.all(SIGN[name] * (allocation.score - allocation.shapley_score) >= 0)


@pytest.mark.parametrize(
    "values", [np.zeros(8), np.full(8, 7.0), np.arange(2.0), np.zeros(1), np.array([5.0, -1e6]), np.eye(8)[7] * 1e-300]
)
def test_degenerate_games(values):
    for name in NAMES:
        allocation = tp.allocate(values, name, target=1)
        assert allocation.certified
        assert allocation.nearest_certified
        assert allocation.bound == allocation.score
        assert abs(np.sum(allocation.attributions) - (values[-1] - values[0])) <= 1e-9 * max(abs(values[0]), 1.0)
        assert len(allocation.shares()) == (1 if values[-1] == 1e-300 else 0)


@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (0,), (2, 0), (1, 1, 2)])
def test_leading_axes(lead):
    values = np.random.default_rng(3).normal(size=(*lead, 8))
    allocation = tp.allocate(values, "exclusion_mse")
    assert allocation.attributions.shape == allocation.lower.shape == allocation.upper.shape == (*lead, 3)
    for part in ("score", "shapley_score", "bound", "ceiling", "gap", "certified", "nearest_certified", "base_value"):
        assert np.shape(getattr(allocation, part)) == lead
    assert np.all(allocation.certified)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_tensors_come_back_as_tensors(dtype):
    values = torch.tensor(np.random.default_rng(4).normal(size=(3, 16)), dtype=dtype)
    allocation = tp.allocate(values, "inclusion_aup")
    for part in ("attributions", "score", "bound", "ceiling", "certified", "lower", "upper", "gap"):
        assert isinstance(getattr(allocation, part), torch.Tensor), part
    assert allocation.attributions.dtype == dtype
    assert bool(torch.all(allocation.certified))
    assert torch.equal(allocation.bound, allocation.score)
    if dtype == torch.float64:
        assert np.array_equal(allocation.attributions.numpy(), tp.allocate(values.numpy()).attributions)


def test_a_stage_of_ones_own_is_optimized_with_proof():
    rng = np.random.default_rng(5)
    values, table = rng.normal(size=(4, 16)), rng.normal(size=(4, 16))
    mine = tp.Utility("mine", stage=lambda context: table, higher_is_better=True)
    allocation = tp.allocate(values, mine)
    assert np.all(allocation.certified)
    assert allocation.utility == "mine"
    rows = rng.dirichlet(np.full(24, 0.1), size=3000)
    for row in range(4):
        from itertools import permutations

        vertices = AdmissibleSet(values[row]).vertex(np.array(list(permutations(range(4)))))
        fixed = tp.Utility("mine", stage=lambda context, row=row: np.broadcast_to(table[row], context.values.shape))
        scores = tp.score(rows @ vertices, np.broadcast_to(values[row], (3000, 16)), fixed)
        assert np.max(scores) <= allocation.score[row] + 1e-12


def test_larger_games():
    """n = 12 and 14, where rows are worked off one by one: certified, inside, and above the paper's policy."""
    rng = np.random.default_rng(6)
    for n in (12, 14):
        sizes = np.array([subset.bit_count() for subset in range(1 << n)])
        values = tp.values_from(rng.normal(size=(2, 1 << n)) * 0.35**sizes * (rng.random((2, 1 << n)) < 0.3))
        for name in ("inclusion_mse", "exclusion_aup"):
            allocation = tp.allocate(values, name)
            assert np.all(allocation.certified)
            assert all(AdmissibleSet(row).contains(a) for row, a in zip(values, allocation.attributions, strict=True))
            dirichlet = tp.allocate(values, name, "dirichlet", random_state=0)
            assert np.all(SIGN[name] * (allocation.score - dirichlet.score) >= 0)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"margin": -1.0}, ValueError, "margin=-1.0"),
        ({"margin": "a"}, TypeError, "margin"),
        ({"node_limit": -1}, ValueError, "node_limit"),
        ({"node_limit": 1.5}, TypeError, "node_limit"),
        ({"time_limit": float("nan")}, ValueError, "time_limit"),
        ({"policy": "optimum"}, ValueError, "'optimal'"),
        ({"utility": "inclusion_auc"}, ValueError, "target="),
    ],
)
def test_bad_options_are_named(options, error, words):
    with pytest.raises(error, match=words):
        tp.allocate(np.arange(8.0), **options)


def test_numbers_too_large_to_be_squared_are_refused():
    values = np.random.default_rng(7).uniform(-1, 1, 8) * 1e160
    with pytest.raises(ValueError, match="inclusion_mse"):
        tp.allocate(values, "inclusion_mse")
    assert tp.allocate(values, "inclusion_aup").certified
    with pytest.raises(ValueError, match="overflow"):
        tp.allocate(values * 1e148, "exclusion_aup")


def test_nearness_is_not_claimed_where_a_limit_ended_the_search():
    """A vector met on the way once had the best score by luck, and was called nearest without a search for nearer."""
    rng = np.random.default_rng(8)
    sizes = np.array([subset.bit_count() for subset in range(64)])
    values = tp.values_from(rng.normal(size=(150, 64)) * 0.5**sizes)
    claimed = 0
    for name in ("exclusion_aup", "exclusion_auc"):
        target, threshold = np.ones(150, dtype=int), float(np.median(values))
        full = tp.allocate(values, name, target=target, threshold=threshold, node_limit=3000)
        assert np.all(full.certified)
        assert np.mean(full.nearest_certified) > 0.9
        away = np.sum((full.attributions - tp.methods.shapley(values)) ** 2, axis=1)
        for limit in (1, 2, 3, 5, 8):
            cut = tp.allocate(values, name, target=target, threshold=threshold, node_limit=limit)
            both = cut.nearest_certified & full.nearest_certified
            claimed += int(np.sum(both))
            assert np.all(cut.certified[cut.nearest_certified])
            distance = np.sum((cut.attributions - tp.methods.shapley(values)) ** 2, axis=1)
            assert np.all(distance[both] <= away[both] * (1 + 1e-6) + 1e-18)
    assert claimed > 100


def test_the_smallest_gain_counts():
    """Costs within 1e-10 of the largest were once called equal, and mixtures of vertices beat the answer by that."""
    values = np.random.default_rng(9).normal(size=(20, 16))
    table = np.random.default_rng(10).integers(0, 3, size=(20, 16)) * 1e-11
    table[:, 0] = 1.0
    table[:, -1] = 1.0
    mine = tp.Utility("mine", stage=lambda context: table, higher_is_better=False)
    allocation = tp.allocate(values, mine)
    assert np.all(allocation.certified)
    rng = np.random.default_rng(11)
    for row in range(20):
        vertices = AdmissibleSet(values[row]).vertex(np.array([rng.permutation(4) for _ in range(24)]))
        mixtures = rng.dirichlet(np.full(24, 0.2), size=2000) @ vertices
        fixed = tp.Utility("mine", stage=lambda context, row=row: np.broadcast_to(table[row], context.values.shape))
        scores = tp.score(mixtures, np.broadcast_to(values[row], (2000, 16)), fixed)
        assert np.min(scores) >= allocation.score[row] - 2e-12


@pytest.mark.parametrize("margin", [0.0, 1e-12])
def test_null_and_additive_players_at_no_margin(margin):
    """Players whose interval is rounding wide are fixed whatever the margin: their ties need no play."""
    dividends = np.zeros((3, 16))
    dividends[:, [1, 2, 4]] = 0.3
    dividends[1, 3] = 0.1
    dividends[2, [3, 5]] = [0.1, -0.2]
    values = tp.values_from(dividends)
    for name in NAMES:
        allocation = tp.allocate(values, name, target=1, margin=margin)
        assert np.all(allocation.certified)
        assert np.max(abs(allocation.attributions[:, 3])) <= 1e-15
