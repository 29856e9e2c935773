from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from taylorpoda import methods
from taylorpoda.dividends import harsanyi
from taylorpoda.methods.weighted_shap import candidate_weights
from taylorpoda.utilities import score

BETAS = [(32, 1), (16, 1), (8, 1), (4, 1), (2, 1), (1, 1), (1, 2), (1, 4), (1, 8), (1, 16), (1, 32)]
UTILITIES = [
    "inclusion_aup",
    "exclusion_aup",
    "inclusion_mse",
    "exclusion_mse",
    "inclusion_auc",
    "exclusion_auc",
]


@st.composite
def games(draw, largest=5, lead=False):
    n = draw(st.integers(1, largest))
    shape = ((draw(st.integers(1, 3)),) if lead else ()) + (1 << n,)
    return draw(hnp.arrays(np.float64, shape, elements=st.floats(-100, 100, width=32)))


def beta_function(a, b):
    return math.exp(math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))


def semivalue_by_definition(values, alpha, beta):
    """Sum over S without i of B(|S| + beta, n - 1 - |S| + alpha) / B(alpha, beta) times the gain."""
    n = values.size.bit_length() - 1
    result = np.zeros(n)
    for player in range(n):
        others = [other for other in range(n) if other != player]
        for size in range(n):
            weight = beta_function(size + beta, n - 1 - size + alpha) / beta_function(alpha, beta)
            for coalition in itertools.combinations(others, size):
                without = sum(1 << member for member in coalition)
                result[player] += weight * (values[without | 1 << player] - values[without])
    return result


def ends_by_definition(values):
    n = values.size.bit_length() - 1
    first = np.array([values[1 << player] - values[0] for player in range(n)])
    last = np.array([values[-1] - values[values.size - 1 - (1 << player)] for player in range(n)])
    return first, last


def candidates_by_definition(values):
    first, last = ends_by_definition(values)
    return np.stack([first, *(semivalue_by_definition(values, *beta) for beta in BETAS), last])


@given(games())
@settings(max_examples=40, deadline=None)
def test_the_13_candidates_by_definition(values):
    found = methods.weighted_shap_candidates(values)
    expected = candidates_by_definition(values)
    assert found.shape == (13, values.size.bit_length() - 1)
    scale = max(1.0, np.abs(values).max())
    assert np.max(np.abs(found - expected)) < 1e-9 * scale


def test_there_are_13_names_in_order():
    assert len(methods.WEIGHTED_SHAP_CANDIDATES) == 13
    assert methods.WEIGHTED_SHAP_CANDIDATES[1] == "Beta(32,1)"
    assert methods.WEIGHTED_SHAP_CANDIDATES[11] == "Beta(1,32)"


@pytest.mark.parametrize("n", [1, 2, 5, 9, 16])
def test_size_weights_sum_to_one_and_favor_the_right_sizes(n):
    for weights in candidate_weights(n):
        assert abs(weights.sum() - 1.0) < 1e-15 * n
        assert np.all(weights >= 0)
    small, large = methods.beta_size_weights(n, 32, 1), methods.beta_size_weights(n, 1, 32)
    assert np.max(np.abs(small - large[::-1])) < 1e-16
    if n > 1:
        assert small[0] > small[-1]
    assert np.max(np.abs(methods.beta_size_weights(n, 1, 1) - 1 / n)) < 1e-16


@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize("n", [1, 3, 5])
def test_weighted_shap_is_the_best_candidate_by_brute_force(utility, n):
    draw = np.random.default_rng(n)
    values = draw.random((7, 1 << n))
    target = draw.integers(0, 2, 7)
    found = methods.weighted_shap(values, utility, target)
    higher = utility in ("exclusion_aup", "exclusion_mse", "inclusion_auc")
    for row in range(7):
        options = candidates_by_definition(values[row])
        scores = [_score_by_definition(option, values[row], utility, target[row]) for option in options]
        best = max(scores) if higher else min(scores)
        assert abs(_score_by_definition(found[row], values[row], utility, target[row]) - best) < 1e-9
        assert np.min(np.max(np.abs(options - found[row]), axis=1)) < 1e-9


def _score_by_definition(attributions, values, utility, y):
    n = len(attributions)
    order = sorted(range(n), key=lambda player: (-abs(attributions[player]), player))
    total, mask, full = 0.0, 0, values.size - 1
    for player in order:
        mask |= 1 << player
        value = values[mask] if utility.startswith("inclusion") else values[full ^ mask]
        kind = utility.split("_")[1]
        gap = abs(values[full] - value)
        total += {"aup": gap, "mse": gap**2, "auc": float((value > 0.5) == y)}[kind]
    return total


def test_agrees_with_shapiq_where_it_has_the_same():
    """shapiq's exact computer has Shapley and Banzhaf: size weights of 1/n, and binomial ones."""
    from shapiq.game_theory.exact import ExactComputer

    draw = np.random.default_rng(3)
    n = 5
    values = draw.normal(size=1 << n)

    def game(coalitions):
        return np.array([values[int(sum(1 << j for j in np.flatnonzero(row)))] for row in np.asarray(coalitions)])

    computer = ExactComputer(game, n_players=n)

    def shapiq_values(index):
        result = computer(index, order=1)
        return np.array([result[(player,)] for player in range(n)])

    assert np.max(np.abs(methods.shapley(values) - shapiq_values("SV"))) < 1e-10
    banzhaf_weights = np.array([math.comb(n - 1, size) for size in range(n)]) / 2 ** (n - 1)
    banzhaf = methods.semivalues(values, [banzhaf_weights])[0]
    assert np.max(np.abs(banzhaf - shapiq_values("BV"))) < 1e-10
    assert np.max(np.abs(methods.weighted_shap_candidates(values)[6] - shapiq_values("SV"))) < 1e-10


@given(games(lead=True))
@settings(max_examples=40, deadline=None)
def test_linear_methods_from_the_dividends(values):
    dividends = harsanyi(values)
    n = values.shape[-1].bit_length() - 1
    scale = max(1.0, np.abs(values).max()) * 2**n
    for player in range(n):
        holding = [subset for subset in range(1 << n) if subset >> player & 1]
        even = sum(dividends[..., subset] / subset.bit_count() for subset in holding)
        whole = sum(dividends[..., subset] for subset in holding)
        assert np.max(np.abs(methods.shapley(values)[..., player] - even)) < 1e-10 * scale
        assert np.max(np.abs(methods.occlusion(values)[..., player] - whole)) < 1e-10 * scale


def test_occlusion_of_patches():
    draw = np.random.default_rng(0)
    values = draw.normal(size=(2, 3, 16))
    found = methods.occlusion(values, patches=[(0, 1), (2,), (1, 2, 3)])
    assert found.shape == (2, 3, 3)
    expected = np.stack([values[..., 15] - values[..., 15 - 3], values[..., 15] - values[..., 15 - 4]], axis=-1)
    assert np.array_equal(found[..., :2], expected)
    assert np.array_equal(found[..., 2], values[..., 15] - values[..., 1])
    spread = methods.occlusion(values, patches=[(0, 1), (1, 2)], per_player=True)
    assert np.array_equal(spread[..., 0], values[..., 15] - values[..., 12])
    middle = (2 * values[..., 15] - values[..., 12] - values[..., 9]) / 2
    assert np.max(np.abs(spread[..., 1] - middle)) < 1e-14
    assert np.array_equal(spread[..., 3], np.zeros((2, 3)))
    singles = methods.occlusion(values, patches=[(player,) for player in range(4)])
    assert np.array_equal(singles, methods.occlusion(values))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"patches": [(0, 4)]}, r"patches\[0\] holds player 4; allowed: 0 to 3"),
        ({"patches": [(0,), ()]}, r"patches\[1\] is empty"),
        ({"patches": [(-1,)]}, r"patches\[0\] holds player -1"),
        ({"per_player": True}, "needs patches="),
    ],
)
def test_bad_patches_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        methods.occlusion(np.zeros(16), **options)


def test_prediction_difference_in_three_forms():
    draw = np.random.default_rng(0)
    values = draw.uniform(0.05, 0.95, size=(4, 8))
    full, without = values[..., 7:], values[..., [6, 5, 3]]
    odds = lambda p: np.log2(p / (1 - p))  # noqa: E731 - a formula
    assert np.array_equal(methods.prediction_difference(values), methods.occlusion(values))
    log_odds = methods.prediction_difference(values, form="log_odds")
    assert np.max(np.abs(log_odds - (odds(full) - odds(without)))) < 1e-12
    information = methods.prediction_difference(values, form="information")
    assert np.max(np.abs(information - (np.log2(full) - np.log2(without)))) < 1e-12


@pytest.mark.parametrize(
    ("form", "bad"), [("log_odds", 0.0), ("log_odds", 1.0), ("information", 0.0), ("information", 1.5)]
)
def test_prediction_difference_never_clips(form, bad):
    values = np.full(8, 0.5)
    values[6] = bad
    with pytest.raises(ValueError, match=form):
        methods.prediction_difference(values, form=form)
    values[6], values[0] = 0.5, -3.0  # the empty coalition is not read
    assert np.array_equal(methods.prediction_difference(values, form=form), np.zeros(3))


def test_prediction_difference_knows_its_forms():
    with pytest.raises(ValueError, match="Did you mean 'log_odds'"):
        methods.prediction_difference(np.zeros(8), form="log-odds")


def test_taylorpoda_at_own_shares():
    draw = np.random.default_rng(1)
    values = draw.normal(size=8)
    shares = np.zeros((8, 3))
    for subset in range(1, 8):
        held = [player for player in range(3) if subset >> player & 1]
        shares[subset, held] = draw.dirichlet(np.ones(len(held)))
    found = methods.taylorpoda(values, shares=shares)
    dividends = harsanyi(values)
    expected = (shares * dividends[:, None])[1:].sum(axis=0)
    assert np.max(np.abs(found - expected)) < 1e-12
    mapping = {subset: shares[subset] for subset in (3, 5, 6, 7)}
    assert np.array_equal(methods.taylorpoda(values, shares=mapping), found)


def test_a_row_gets_the_same_bits_alone_and_in_a_batch():
    draw = np.random.default_rng(5)
    values = draw.normal(size=(37, 128))
    together = methods.weighted_shap(values, "inclusion_aup")
    alone = np.stack([methods.weighted_shap(row, "inclusion_aup") for row in values])
    assert np.array_equal(together, alone)
    assert np.array_equal(methods.weighted_shap(values[::-1].copy(), "inclusion_aup")[::-1], together)


def test_torch_tensors_stay_torch():
    torch = pytest.importorskip("torch")
    draw = np.random.default_rng(5)
    values = draw.uniform(0.1, 0.9, size=(3, 16))
    tensor = torch.from_numpy(values)
    for method in (
        methods.shapley,
        methods.occlusion,
        methods.weighted_shap_candidates,
        methods.weighted_shap,
        lambda table: methods.occlusion(table, patches=[(0, 1), (2,)], per_player=True),
        lambda table: methods.prediction_difference(table, form="log_odds"),
    ):
        found = method(tensor)
        assert isinstance(found, torch.Tensor)
        assert np.max(np.abs(found.numpy() - method(values))) < 1e-12


def test_integers_and_bad_tables():
    assert methods.weighted_shap([0, 1, 2, 5]).shape == (2,)
    with pytest.raises(ValueError, match="power of two"):
        methods.weighted_shap_candidates(np.zeros(6))
    with pytest.raises(ValueError, match="without players"):
        methods.weighted_shap_candidates(np.zeros(1))
    with pytest.raises(ValueError, match="Did you mean 'inclusion_aup'"):
        methods.weighted_shap(np.zeros(4), "inclusion_apu")
    with pytest.raises(ValueError, match="target"):
        methods.weighted_shap(np.zeros(4), "inclusion_auc")


def test_compare_shows_all_methods_by_all_utilities():
    draw = np.random.default_rng(2)
    values, y = draw.random((6, 32)), draw.integers(0, 2, 6)
    names = ["occlusion", "prediction_difference", "shapley", "weighted_shap", "taylorpoda"]
    lime = draw.normal(size=(6, 5))
    table = methods.compare(values, UTILITIES, y, methods=names, others={"lime": lime}, random_state=0)
    assert table.methods == (*names, "lime")
    assert table.utilities == tuple(UTILITIES)
    for name in table.methods:
        for utility in UTILITIES:
            made = table.attributions[name, utility]
            assert np.array_equal(table.scores[name, utility], score(made, values, utility, y))
            off = made.sum(axis=-1) - (values[:, -1] - values[:, 0])
            assert np.max(np.abs(table.discrepancy[name, utility] - off)) < 1e-14
    assert np.max(np.abs(table.discrepancy["taylorpoda", "inclusion_auc"])) < 1e-12
    with pytest.raises(ValueError, match="others="):
        methods.compare(values, ["inclusion_aup"], methods=["lime"])
