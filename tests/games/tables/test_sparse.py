"""scipy sparse rows: nothing dense is built, a stored zero stays stored."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import taylorpoda as tp
from taylorpoda.games.tables import read_table

KINDS = [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.coo_array]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.integers(0, 3, (30, 6)) * rng.integers(1, 9, (30, 6)) / 8.0


@pytest.fixture(scope="module")
def weights():
    return np.random.default_rng(1).normal(size=6)


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_rows_give_what_dense_rows_give(kind, rows, weights):
    flavor = "matrix" if "matrix" in kind.__name__ else "array"

    def predict(part):
        assert sparse.issparse(part)
        assert type(part).__name__ == f"csr_{flavor}"
        part.check_format(full_check=True)
        return np.asarray(part @ weights).ravel() ** 2

    explanation = tp.Explainer(predict, kind(rows[:20]), policy="shapley")(kind(rows[20:]))
    dense = tp.Explainer(lambda part: (part @ weights) ** 2, rows[:20], policy="shapley")(rows[20:])
    assert np.max(np.abs(explanation.values - dense.values)) < 1e-12
    assert explanation.provenance["model_rows_evaluated"] == dense.provenance["model_rows_evaluated"]
    from_dense = tp.Explainer(predict, kind(rows[:20]), policy="shapley")(rows[20:])
    assert np.array_equal(from_dense.values, explanation.values)


def test_groups_of_columns(rows, weights):
    groups = [0, 0, 1, 1, 2, 2]
    options = {"policy": "optimal", "groups": groups}
    ours = tp.Explainer(lambda part: np.asarray(part @ weights).ravel() ** 2, sparse.csr_matrix(rows[:20]), **options)
    theirs = tp.Explainer(lambda part: (part @ weights) ** 2, rows[:20], **options)
    assert np.max(np.abs(ours(rows[20:]).values - theirs(rows[20:]).values)) < 1e-12


def test_a_stored_zero_is_not_a_missing_entry():
    """XGBoost reads an entry that is not stored as missing, so a stored zero must reach it stored."""
    one = sparse.csr_matrix(np.array([[1.0, 2.0, 0.0]]))
    one.data[0] = 0.0
    explanation = tp.Explainer(
        lambda part: np.diff(part.indptr).astype(float), sparse.csr_matrix((1, 3)), policy="shapley"
    )(one)
    assert explanation.values.tolist() == [[1.0, 1.0, 0.0]]


def test_xgboost_on_sparse_rows_with_missing_entries():
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    X = sparse.random(200, 5, density=0.5, format="csr", random_state=1)
    y = np.asarray(X.sum(axis=1)).ravel() + rng.normal(size=200) * 0.01
    model = xgboost.XGBRegressor(n_estimators=10, max_depth=3, n_jobs=1).fit(X, y)
    explanation = tp.Explainer(model, X[:20], policy="shapley", engine="exact")(X[20:24])
    assert np.array_equal(explanation.predictions, model.predict(X[20:24]).astype(float))
    dense = X.toarray()
    dense[dense == 0] = np.nan
    same = tp.Explainer(model, dense[:20], policy="shapley", engine="exact")(dense[20:24])
    assert np.max(np.abs(same.values - explanation.values)) < 1e-6


def test_duplicates_are_summed_and_the_users_matrix_is_left_alone():
    matrix = sparse.csr_matrix((np.ones(3), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    explanation = tp.Explainer(lambda part: np.asarray(part.sum(axis=1)).ravel(), matrix, policy="shapley")(matrix)
    assert explanation.data.toarray().tolist() == [[1.0, 2.0]]
    assert matrix.nnz == 3


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (sparse.csr_matrix((2, 4)), r"X has shape \(2, 4\); the background has 3 columns"),
        (np.zeros((2, 2)), r"X has shape \(2, 2\); the background has 3 columns"),
        (np.array([["a", "b", "c"]]), "X has shape .* and dtype <U1"),
        (sparse.csr_matrix(np.full((1, 3), 2.0**53 + 2)), None),
    ],
)
def test_other_rows_are_checked(rows, message):
    background = sparse.csr_matrix(np.eye(3))
    explainer = tp.Explainer(lambda part: np.asarray(part.sum(axis=1)).ravel(), background, policy="shapley")
    if message is None:
        assert explainer(rows).values.shape == (1, 3)
        return
    with pytest.raises(ValueError, match=message):
        explainer(rows)


def test_numbers_that_the_backgrounds_type_cannot_hold_are_refused():
    background = sparse.csr_matrix(np.eye(3, dtype=np.float32))
    explainer = tp.Explainer(lambda part: np.asarray(part.sum(axis=1)).ravel(), background, policy="shapley")
    with pytest.raises(ValueError, match="X has dtype float64 but the background has float32"):
        explainer(sparse.csr_matrix(np.full((1, 3), 0.1)))


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), density=st.floats(0, 1))
def test_mixing_is_choosing_cell_by_cell(seed, density):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((5, 4)) < density, rng.normal(size=(5, 4)), 0.0)
    table = read_table(sparse.csr_matrix(dense), "rows")
    rows, donors = rng.integers(0, 5, 7), rng.integers(0, 5, 7)
    present = rng.random((7, 4)) < 0.5
    assert np.array_equal(table.mix(rows, present, donors).toarray(), np.where(present, dense[rows], dense[donors]))
    codes = table.codes()
    assert np.array_equal(codes[:, None, :] == codes[None, :, :], dense[:, None, :] == dense[None, :, :])
    players = np.array([0, 1, 1, 0])
    grouped = table.player_codes(players)
    for player in (0, 1):
        cells = dense[:, players == player]
        same = (cells[:, None, :] == cells[None, :, :]).all(axis=2)
        assert np.array_equal(grouped[:, None, player] == grouped[None, :, player], same)


def test_wide_text_needs_groups_and_the_error_says_so():
    wide = sparse.random(20, 3000, density=0.01, format="csr", random_state=0)
    weights = np.random.default_rng(0).normal(size=3000)

    def predict(part):
        return np.asarray(part @ weights).ravel()

    with pytest.raises(ValueError, match="groups="):
        tp.Explainer(predict, wide)
    explanation = tp.Explainer(predict, wide, groups=[j % 6 for j in range(3000)], policy="optimal")(wide[:3])
    centered = (wide[:3].toarray() - wide.toarray().mean(axis=0)) * weights
    expected = np.stack([centered[:, player::6].sum(axis=1) for player in range(6)], axis=1)
    assert np.max(np.abs(explanation.values - expected)) < 1e-12
