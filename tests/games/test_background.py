"""Representatives of a background: whom they stand for, and how much answers still move."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import taylorpoda as tp

generator = np.random.default_rng(0)
ROWS = generator.standard_normal((120, 3))


def model(x):
    return x[:, 0] * x[:, 1] + x[:, 2]


def blobs(sizes=(10, 20, 30)):
    """Clusters far apart, each around a corner."""
    corners = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])
    label = np.repeat(np.arange(3), sizes)
    return corners[label] + np.random.default_rng(1).uniform(-1, 1, (len(label), 2)), label


def test_medoids_are_the_rows_in_the_middle_of_clusters_and_weigh_as_much():
    rows, label = blobs()
    chosen = tp.background(rows, 3, random_state=0)
    assert np.array_equal(chosen.rows, rows[chosen.positions])
    assert chosen.weights.tolist() == pytest.approx([10 / 60, 20 / 60, 30 / 60])
    for cluster, position in enumerate(chosen.positions):
        members = np.flatnonzero(label == cluster)
        away = np.square((rows[members] - rows[members].mean(axis=0)) / rows.std(axis=0)).sum(axis=1)
        assert position == members[np.argmin(away)]


def test_weights_of_the_data_weigh_the_clusters():
    rows, label = blobs()
    masses = np.array([3.0, 1.0, 2.0])[label]
    chosen = tp.background(rows, 3, weights=masses, random_state=0)
    assert chosen.weights.tolist() == pytest.approx([30 / 110, 20 / 110, 60 / 110])
    without = tp.background(rows, 3, weights=np.where(label == 1, 0.0, 1.0), random_state=0)
    assert not np.isin(without.positions, np.flatnonzero(label == 1)).any()


@pytest.mark.parametrize("method", ["medoids", "sample"])
def test_weights_are_carried_into_every_mean(method, brute_values):
    chosen = tp.background(ROWS, 7, method, weights=generator.random(120), random_state=0)
    explanation = tp.Explainer(model, chosen, policy="shapley")(ROWS[:2])
    for row in range(2):
        values = brute_values(model, ROWS[row], chosen.rows, chosen.weights)
        assert np.abs(tp.values_from(explanation.dividends(row)) - values).max() < 1e-12


@given(
    k=st.integers(1, 30),
    seed=st.integers(0, 10**6),
    weights=st.lists(st.floats(0, 1), min_size=5, max_size=40).filter(lambda w: sum(w) > 0.1),
)
def test_a_sample_holds_every_row_as_often_as_it_weighs_give_or_take_one(k, seed, weights):
    masses = np.array(weights) / np.sum(weights)
    rows = np.arange(len(masses), dtype=float)[:, None]
    chosen = tp.background(rows, k, "sample", weights=weights, random_state=seed)
    if k >= (masses > 0).sum():
        assert np.abs(chosen.weights - masses[chosen.positions]).max() < 1e-12
        return
    times = np.zeros(len(masses))
    times[chosen.positions] = chosen.weights * k
    assert np.abs(times - np.round(times)).max() < 1e-9
    assert (np.abs(times - k * masses) < 1 + 1e-9).all()


def test_a_sample_is_unbiased():
    masses = np.array([5.0, 3.0, 1.0, 0.5, 0.5, 4.0])
    found = np.zeros(6)
    for seed in range(2000):
        chosen = tp.background(np.eye(6), 3, "sample", weights=masses, random_state=seed)
        found[chosen.positions] += chosen.weights / 2000
    assert np.abs(found - masses / masses.sum()).max() < 0.02


@pytest.mark.parametrize("method", ["medoids", "sample"])
def test_a_seed_repeats_and_the_global_state_stays(method):
    np.random.seed(3)  # noqa: NPY002 - the global state is what is checked
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, again = (tp.background(ROWS, 10, method, random_state=5) for _ in range(2))
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert np.array_equal(first.positions, again.positions)
    assert not np.array_equal(first.positions, tp.background(ROWS, 10, method, random_state=6).positions)
    assert repr(first) == f"Background(10 of 120 rows, method={method!r}, seed=5)"


def test_rows_keep_their_container_and_types():
    frame = pd.DataFrame(
        {
            "a": np.where(ROWS[:, 0] > 1, np.nan, ROWS[:, 0]),
            "c": pd.Categorical(generator.choice(list("xyz"), 120)),
            "t": pd.date_range("2024", periods=120, tz="UTC"),
        }
    )
    chosen = tp.background(frame, 9, random_state=0)
    assert chosen.rows.equals(frame.iloc[chosen.positions])
    assert (chosen.rows.dtypes == frame.dtypes).all()
    assert len(chosen) == 9


def test_equal_rows_make_one_and_few_rows_stay_all():
    twice = np.repeat(np.eye(3), [2, 3, 5], axis=0)
    chosen = tp.background(twice, 5, random_state=0)
    assert sorted(chosen.weights.tolist()) == pytest.approx([0.2, 0.3, 0.5])
    everything = tp.background(ROWS, 500, random_state=0)
    assert np.array_equal(everything.positions, np.arange(120))


@given(k=st.integers(1, 60), levels=st.sampled_from([2, 5, 12, None]), seed=st.integers(0, 1000))
def test_there_are_as_many_medoids_as_asked_for_while_rows_differ(k, levels, seed):
    """Coarse cells repeat rows; identical rows make one medoid, and their weights add up whatever k is."""
    drawn = np.random.default_rng(seed)
    rows = drawn.standard_normal((50, 2)) if levels is None else drawn.integers(0, levels, (50, 2)).astype(float)
    distinct, times = np.unique(rows, axis=0, return_counts=True)
    chosen = tp.background(rows, k, random_state=seed)
    assert abs(chosen.weights.sum() - 1) < 1e-12
    assert (chosen.weights > 0).all()
    if k < 50:
        assert len(chosen) == min(k, len(distinct))
    if len(distinct) <= k < 50:
        place = [int(np.flatnonzero((distinct == row).all(axis=1))[0]) for row in chosen.rows]
        assert np.abs(chosen.weights - times[place] / 50).max() < 1e-12


@pytest.mark.parametrize(("size", "k", "seed"), [(300, 60, 17), (1000, 500, 11), (1000, 800, 0)])
def test_centers_that_share_their_nearest_row_cost_no_medoid(size, k, seed):
    rows = np.random.default_rng(seed).standard_normal((size, 2))
    assert len(tp.background(rows, k, random_state=seed)) == k


def test_convergence_of_an_additive_model_is_that_of_means():
    """For slopes . x, attributions are slopes * (x - mean), so they move exactly as the background's means do."""
    slopes = np.array([1.0, -2.0, 0.5])
    chosen = tp.background(ROWS, 16, random_state=0)
    report = chosen.convergence(lambda x: x @ slopes, ROWS[:4], sizes=[4, 16, 120])
    assert report.sizes.tolist() == [4, 16, 120]
    backgrounds = [chosen.resized(4), chosen, chosen.resized(120)]
    means = np.array([each.weights @ each.rows for each in backgrounds])
    assert np.abs(report.base_values[:, 0] - means @ slopes).max() < 1e-12
    assert np.abs(report.base_error - np.abs((means - means[2]) @ slopes)).max() < 1e-12
    moved = np.sqrt(np.square((means - means[2]) * slopes).mean(axis=1))
    assert np.abs(report.attribution_error - moved).max() < 1e-12
    scale = np.sqrt(np.square((ROWS[:4] - means[2]) * slopes).mean())
    assert np.abs(report.relative_error - moved / scale).max() < 1e-12
    assert "against 120 background rows" in repr(report)


def test_convergence_with_all_orders_is_that_of_shapley_values():
    """Two players have two orders, so two orders give their Shapley values exactly."""
    rows = ROWS[:, :2]
    chosen = tp.background(rows, 10, random_state=0)

    def product(x):
        return x[:, 0] * x[:, 1]

    report = chosen.convergence(product, rows[:3], sizes=[10, 120], orders=2)
    values = [tp.Explainer(product, background, policy="shapley")(rows[:3]).values for background in (chosen, rows)]
    assert abs(report.attribution_error[0] - np.sqrt(np.square(values[0] - values[1]).mean())) < 1e-12
    assert report.model_rows > 0


def test_enough_is_the_size_from_which_on_all_are_good():
    chosen = tp.background(ROWS, 30, random_state=0)
    report = chosen.convergence(model, ROWS[:5])
    assert report.enough(tolerance=np.inf) == report.sizes[0]
    assert report.enough(tolerance=0.0) is None
    for tolerance in (0.02, 0.1, 0.3):
        found = report.enough(tolerance)
        good = report.relative_error <= tolerance
        expected = [size for k, size in enumerate(report.sizes[:-1]) if good[k:].all()]
        assert found == (expected[0] if expected else None)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tp.background(ROWS, 0), ValueError, "k=0 is not allowed"),
        (lambda: tp.background(ROWS, 2.5), TypeError, "k=2.5 has type float"),
        (lambda: tp.background(ROWS, 3, "kmeans"), ValueError, "method='kmeans'"),
        (lambda: tp.background(ROWS, 3, weights=np.zeros(120)), ValueError, "weights"),
        (lambda: tp.background(ROWS, 3, weights=np.ones(3)), ValueError, "weights"),
        (lambda: tp.background(ROWS, 3).convergence(model, ROWS[:0]), ValueError, "X has no rows"),
        (lambda: tp.background(ROWS, 3).convergence(model, ROWS[:2], sizes=[0]), ValueError, "sizes=0"),
        (lambda: tp.background(ROWS, 3).convergence(model, ROWS[:2], sizes=[]), ValueError, "sizes=.* is empty"),
        (lambda: tp.background(ROWS, 3).convergence(model, ROWS[:2], orders=0), ValueError, "orders=0"),
    ],
)
def test_what_is_not_allowed_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
