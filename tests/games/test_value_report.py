"""How good a value function is: every number of the report against its definition."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor

import taylorpoda as tp
from taylorpoda.games.masking import DirectMasking, HybridMasking, StandIns

generator = np.random.default_rng(0)
BACKGROUND = generator.uniform(-1, 1, (60, 3))
ROWS = generator.uniform(-1, 1, (12, 3))


def model(x):
    return x[:, 0] * x[:, 1] + x[:, 2]


class Remembering(DirectMasking):
    """v(S) = |S| for every row; it remembers the coalitions it was asked about."""

    name = "remembering"

    def fit(self, context):
        self.outputs = context.model.n_outputs if context.model.called else 1
        return self

    def values(self, rows, coalitions):
        self.coalitions = coalitions.copy()
        size = coalitions.sum(axis=1)[None, :, None]
        return np.broadcast_to(size, (rows.n_rows, len(coalitions), self.outputs)).astype(float)


class Fixed(HybridMasking):
    """Absent features take the values of the first background row."""

    name = "fixed"

    def fit(self, context):
        self.donors = context.background.take(np.array([0]))
        return self

    def stand_ins(self, rows, row, columns):
        return StandIns(self.donors, np.array([0]), np.array([1.0]))

    def rows_per_coalition(self):
        return 1


def report(maskings, **options):
    options = {"random_state": 0, "coalitions": 16, **options}
    return tp.value_function_report(options.pop("model", model), BACKGROUND, ROWS, maskings=maskings, **options)


def test_errors_by_size_are_those_of_the_definition():
    found = report([Remembering()])
    expected = [np.square(model(ROWS) - size).mean() for size in range(3)]
    assert found.errors[0, :3].tolist() == pytest.approx(expected)
    assert found.errors[0, 3] == 0  # the full coalition is the model itself
    assert found.error[0] == pytest.approx(np.mean(expected[1:]))
    each = np.mean([np.square(model(ROWS) - size) for size in (1, 2)], axis=0)
    assert found.standard_error[0] == pytest.approx(each.std() / np.sqrt(12))


def test_every_size_counts_equally_often():
    rule = Remembering()
    report([rule], coalitions=30)
    sizes = rule.coalitions.sum(axis=1)
    assert np.bincount(sizes).tolist() == [1, 15, 15]


def test_marginal_errors_are_those_of_brute_force_on_the_same_coalitions(brute_values):
    rule = Remembering()
    found = report([rule, "marginal"])
    tables = np.array([brute_values(model, row, BACKGROUND) for row in ROWS])
    masks = rule.coalitions @ (1 << np.arange(3))
    squares = np.square(tables[:, masks] - model(ROWS)[:, None])
    sizes = rule.coalitions.sum(axis=1)
    for size in range(3):
        assert found.errors[1, size] == pytest.approx(squares[:, sizes == size].mean())
    assert found.names == ("remembering", "marginal")


def test_the_two_ends_are_the_trivial_predictor_and_the_variance():
    found = report(["marginal"])
    assert found.trivial == pytest.approx(np.square(model(ROWS) - model(BACKGROUND).mean()).mean())
    assert found.variance == pytest.approx(model(ROWS).var())
    assert found.errors[0, 0] == pytest.approx(found.trivial)


def test_outputs_are_averaged():
    def both(x):
        return np.stack([model(x), 2 * model(x)], axis=1)

    assert report(["marginal"], model=both).errors == pytest.approx(2.5 * report(["marginal"]).errors)


def test_distances_are_to_the_nearest_background_row():
    """Uniform columns reach nowhere near the logarithmic tails, so features are cells in standard deviations."""
    rule = Remembering()
    found = report([rule, Fixed()])

    def distances(rows):
        apart = (rows[:, None] - BACKGROUND[None]) / BACKGROUND.std(axis=0)
        return np.sqrt(np.square(apart).sum(axis=2).min(axis=1) / 3)

    hybrids = [np.where(known, row, BACKGROUND[0]) for row in ROWS for known in rule.coalitions[1:]]
    assert found.on_manifold == pytest.approx(np.median(distances(ROWS)))
    assert found.off_manifold[1] == pytest.approx(np.median(distances(np.array(hybrids))))
    assert np.isnan(found.off_manifold[0])  # a rule that knows its values feeds the model nothing


def test_errors_are_near_what_the_absent_features_leave_open():
    """Equally correlated normal features and equal slopes: E[(f - E[f | x_S])^2] depends on the size alone."""
    covariance = np.full((4, 4), 0.7) + 0.3 * np.eye(4)
    rows = np.random.default_rng(1).multivariate_normal(np.zeros(4), covariance, 4000)
    rule = tp.masking.Gaussian(draws=8)
    found = tp.value_function_report(
        lambda x: x.sum(axis=1), rows[:2000], rows[2000:], maskings=[rule], coalitions=9, random_state=0
    )
    for size in range(4):
        inside, across = covariance[:size, :size], covariance[:size, size:]
        left = covariance[size:, size:] - across.T @ np.linalg.solve(inside, across)
        assert found.errors[0, size] == pytest.approx(left.sum(), rel=0.08)


def test_what_knows_the_data_errs_less_and_stays_nearer_to_them():
    rows = np.random.default_rng(1).multivariate_normal(np.zeros(3), np.full((3, 3), 0.9) + 0.1 * np.eye(3), 120)
    maskings = ["marginal", "gaussian", "copula", "neighbours"]
    found = tp.value_function_report(lambda x: x[:, 0], rows[:90], rows[90:], maskings=maskings, random_state=0)
    assert found.best != "marginal"
    assert (found.error[1:] < 0.3 * found.error[0]).all()
    assert (found.off_manifold[1:] < found.off_manifold[0]).all()


def test_what_cannot_be_had_is_skipped_with_its_reason():
    frame = pd.DataFrame({"a": BACKGROUND[:, 0], "c": pd.Categorical(["u", "v"] * 30)})

    def predict(rows):
        return rows["a"] * (rows["c"] == "u")

    found = tp.value_function_report(predict, frame.head(50), frame.tail(10), random_state=0)
    assert found.names == ("marginal", "neighbours", "conditional")
    assert set(found.skipped) == {"gaussian", "copula"}
    assert "column 'c' of the background holds the categories u, v" in found.skipped["gaussian"]
    assert "copula: not measured: masking='copula' reads numbers" in repr(found)
    with pytest.raises(ValueError, match="masking='gaussian' reads numbers"):
        tp.value_function_report(predict, frame.head(50), frame.tail(10), maskings=["gaussian"])


def test_a_measured_value_function_tells_provenance():
    found = report(["marginal", "neighbours", Fixed()])
    for place, name in enumerate(found.names):
        explanation = tp.Explainer(model, BACKGROUND, masking=found.masking(name), policy="shapley")(ROWS[:2])
        assert explanation.provenance["masking"] == name
        assert explanation.provenance["heldout_error"] == found.error[place]
        assert explanation.provenance["trivial_error"] == found.trivial
    with pytest.raises(ValueError, match=r"name='copula' was not measured; measured: \['marginal'"):
        found.masking("copula")


def test_a_surrogate_is_the_one_that_was_measured():
    calls = []

    def counting(x):
        calls.append(len(x))
        return model(x)

    found = report(["conditional"], model=counting)
    calls.clear()
    explainer = tp.Explainer(counting, BACKGROUND, masking=found.masking("conditional"), policy="shapley")
    assert sum(calls) <= 1  # it is not trained again
    provenance = explainer(ROWS[:1]).provenance
    assert provenance["heldout_error"] == found.error[0]
    assert provenance["heldout_rows"] == 12
    assert provenance["surrogate_seed"] == found.seed
    assert provenance["steps"] > 0


def test_a_measured_marginal_is_still_answered_by_trees():
    forest = RandomForestRegressor(5, max_depth=3, random_state=0).fit(BACKGROUND, model(BACKGROUND))
    found = tp.value_function_report(forest, BACKGROUND, ROWS, maskings=["marginal"], coalitions=4, random_state=0)
    rule = found.masking("marginal")
    plain, measured = (tp.Explainer(forest, BACKGROUND, masking=each)(ROWS) for each in ("marginal", rule))
    assert measured.engine == "trees"
    assert np.array_equal(plain.values, measured.values)
    assert measured.provenance["heldout_error"] == found.error[0]
    assert "heldout_error" not in plain.provenance
    assert "heldout_error" not in tp.Explainer(forest, BACKGROUND, masking=tp.masking.Marginal())(ROWS).provenance


def test_a_rule_of_ones_own_is_not_told_what_another_explainer_measured():
    rule = Fixed()
    measured = report([rule]).masking("fixed")
    told = tp.Explainer(model, BACKGROUND, masking=measured, policy="shapley")(ROWS[:1]).provenance
    untold = tp.Explainer(model, BACKGROUND, masking=rule, policy="shapley")(ROWS[:1]).provenance
    assert "heldout_error" in told
    assert "heldout_error" not in untold


@settings(max_examples=8)
@given(factor=st.floats(-50, 50).filter(lambda a: abs(a) > 0.01), shift=st.floats(-50, 50), seed=st.integers(0, 99))
def test_the_unit_of_the_output_squares_every_error(factor, shift, seed):
    options = {"coalitions": 4, "random_state": seed}
    plain = report(["marginal", "gaussian", "neighbours"], **options)
    scaled = report(["marginal", "gaussian", "neighbours"], model=lambda x: factor * model(x) + shift, **options)
    close = {"rel": 1e-6, "abs": 1e-9 * shift**2}
    for name in ("errors", "error", "standard_error", "trivial", "variance"):
        assert getattr(scaled, name) == pytest.approx(factor**2 * getattr(plain, name), **close)
    assert scaled.off_manifold == pytest.approx(plain.off_manifold)


def test_labels_seeds_frames_and_times():
    rules = {"near": tp.masking.Neighbours(5), "far": tp.masking.Neighbours(40)}
    first, again = report(rules), report(rules)
    assert first.names == ("near", "far")
    assert np.array_equal(first.errors, again.errors, equal_nan=True)
    assert first.seed == 0
    assert (first.seconds_per_thousand > 0).all()
    frame = first.to_frame()
    assert frame.loc["near", "error"] == first.error[0]
    assert frame.loc["far", "error at size 2"] == first.errors[1, 2]
    assert report(["marginal", tp.masking.Marginal()]).names == ("marginal", "marginal 2")


def test_one_feature_has_the_empty_coalition_only():
    found = tp.value_function_report(lambda x: x[:, 0], BACKGROUND[:, :1], ROWS[:, :1], random_state=0)
    assert found.error == pytest.approx(np.full(5, found.errors[:, 0]))
    assert np.isnan(found.off_manifold).all()
