"""How the trees engine behaves at the door: containers, single rows, no rows, names, files, counts, memory."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from lightgbm import LGBMRegressor
from sklearn.ensemble import RandomForestRegressor
from xgboost import DMatrix, XGBRegressor

import taylorpoda as tp

SHAPLEY = dict(policy="shapley", random_state=0)
NAMES = list("abcde")


def explainer_of(case, **options):
    return tp.Explainer(case.model, case.take(np.arange(100, 120)), **{**SHAPLEY, **case.options, **options})


def test_one_row_and_no_rows(case):
    explainer = explainer_of(case)
    several = explainer(case.take(np.arange(3)))
    one = explainer(case.take(np.arange(1)))
    assert np.array_equal(one.values, several.values[:1])
    if isinstance(case.table, np.ndarray):
        assert np.array_equal(explainer(case.table[0]).values, one.values)
    none = explainer(case.take(np.arange(0)))
    assert none.engine == "trees"
    assert none.values.shape == (0, *several.values.shape[1:])
    assert (none.score.shape, none.interactions(2).shape[0]) == ((0, *several.score.shape[1:]), 0)
    assert "Explanation" in repr(none)


def test_no_rows_and_no_background(fitted_case):
    case = fitted_case("lightgbm")
    explainer = tp.Explainer(case.model, None, **SHAPLEY)
    with pytest.raises(ValueError, match="pass at least one row"):
        explainer(case.table[:0])
    explainer(case.table[:1])
    assert explainer(case.table[:0]).values.shape == (0, 5)


@pytest.fixture(scope="module")
def named():
    """A model fitted on named columns, rows, and its explanation."""
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.normal(size=(150, 5)), columns=NAMES)
    model = LGBMRegressor(n_estimators=8, verbose=-1).fit(table, table["a"] * table["b"] + table["c"])
    return model, table, tp.Explainer(model, table[:30], **SHAPLEY)(table[:6])


def test_columns_are_matched_by_name(named):
    model, table, expected = named
    shuffled = tp.Explainer(model, table[:30], **SHAPLEY)(table[:6][list("edcba")])
    assert shuffled.feature_names == tuple(NAMES)
    assert np.array_equal(shuffled.values, expected.values)
    alone = tp.Explainer(model, None, **SHAPLEY)
    assert alone(table[:6]).feature_names == tuple(NAMES)
    assert np.array_equal(alone(table[:6][list("edcba")]).values, alone(table[:6]).values)
    assert np.array_equal(alone(table.to_numpy()[:6]).values, alone(table[:6]).values)
    with pytest.raises(ValueError, match=r"missing \['e'\]"):
        alone(table[:6][list("abcd")])
    with pytest.raises(ValueError, match="X has 4 columns; the model takes 5"):
        alone(table.to_numpy()[:6, :4])


def test_a_background_in_the_wrong_order_is_no_wrong_number(named):
    """This library reads by position without a word: the names it was fitted with say which column is which."""
    model, table, expected = named
    swapped = table[list("edcba")]
    for engine in ("exact", "trees"):
        found = tp.Explainer(model, swapped[:30], engine=engine, **SHAPLEY)(swapped[:6])
        assert found.feature_names == expected.feature_names
        assert np.max(abs(found.values - expected.values)) <= 1e-12
        assert np.array_equal(found.predictions, expected.predictions)


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "float32", "list", "fortran"])
def test_containers(kind, named):
    _, table, _ = named
    y = table["a"] * table["b"] + table["c"]
    model = XGBRegressor(n_estimators=8).fit(table.to_numpy(), y)
    convert = {
        "polars": pl.from_pandas,
        "pyarrow": lambda rows: pa.Table.from_pandas(rows, preserve_index=False),
        "float32": lambda rows: rows.to_numpy().astype(np.float32),
        "list": lambda rows: rows.to_numpy().tolist(),
        "fortran": lambda rows: np.asfortranarray(rows.to_numpy()),
    }[kind]
    expected = tp.Explainer(model, table.to_numpy()[:30], **SHAPLEY)(table.to_numpy()[:4])
    found = tp.Explainer(model, convert(table[:30]), **SHAPLEY)(convert(table[:4]))
    assert (found.engine, expected.engine) == ("trees", "trees"), found.provenance["engine_reason"]
    assert np.max(abs(found.values - expected.values)) <= 1e-6
    assert np.array_equal(
        tp.Explainer(model, None, **SHAPLEY)(convert(table[:4])).values,
        tp.Explainer(model, None, **SHAPLEY)(table.to_numpy()[:4]).values,
    )


def test_sparse_rows_go_to_another_engine(named):
    _, table, _ = named
    model = RandomForestRegressor(5, random_state=0).fit(table.to_numpy(), table["a"])
    explanation = tp.Explainer(model, scipy.sparse.csr_matrix(table.to_numpy()[:9]), **SHAPLEY)(table.to_numpy()[:2])
    assert explanation.engine == "exact"
    assert "sparse rows" in explanation.provenance["engine_reason"]


@pytest.mark.parametrize("name", ["xgboost", "xgboost categories", "lightgbm categories", "catboost categories",
                                  "forest classes", "xgboost log-odds"])  # fmt: skip
@pytest.mark.parametrize("background", [True, False])
def test_files_hold_the_game(name, background, fitted_case, tmp_path):
    case = fitted_case(name)
    explainer = explainer_of(case) if background else tp.Explainer(case.model, None, **SHAPLEY, **case.options)
    whole = explainer(case.take(np.arange(4)))
    whole.save(tmp_path / "saved")
    for copy in (tp.load(tmp_path / "saved"), pickle.loads(pickle.dumps(whole))):
        assert copy.engine == "trees"
        assert copy.provenance == whole.provenance
        for part in ("values", "base_values", "predictions", "lower", "upper", "score", "rounding"):
            assert np.array_equal(getattr(copy, part), getattr(whole, part)), part
        assert np.array_equal(copy.interactions(2), whole.interactions(2))
        again, own = (one.reallocate(policy="dirichlet") for one in (copy, whole))
        assert np.array_equal(again.values, own.values)
        found, expected = copy.games.dividends(2, 0), whole.games.dividends(2, 0)
        assert found.coalitions.numbers() == expected.coalitions.numbers()
        assert np.array_equal(found.values, expected.values)


def damaged(arrays, rng):
    """One array with one number that does not belong there."""
    names = [name for name in arrays if arrays[name].size]
    name = names[rng.integers(len(names))]
    array = arrays[name].copy()
    place = np.unravel_index(rng.integers(array.size), array.shape) if array.ndim else ()
    if array.dtype.kind == "f":
        array[place] = rng.choice([np.nan, np.inf, -np.inf, 1e300, -3.0, 1e9])
    elif array.dtype.kind == "b":
        array[place] = ~array[place]
    else:
        info = np.iinfo(array.dtype)
        array[place] = rng.choice([info.max, info.min, 7, info.max // 2, 200])
    return {**arrays, name: array}


@pytest.mark.parametrize("name", ["lightgbm categories", "xgboost classes"])
def test_damaged_files_are_refused_or_harmless(name, fitted_case):
    """Compiled code reads where the arrays point: whatever a file says, it must point inside."""
    case = fitted_case(name)
    games = explainer_of(case)(case.take(np.arange(4))).games
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(200):
        try:
            read = type(games).from_arrays(damaged(games.to_arrays(), rng))
            with np.errstate(all="ignore"):
                assert read.full.shape == (4, *games.full.shape[1:])
                assert read.base.shape == read.full.shape
                assert read.shapley.shape == games.shapley.shape
                assert read.dividends(3, 0).n_players == 5
        except ValueError:
            refused += 1
    assert refused > 40


def test_no_model_call_after_the_first(monkeypatch, fitted_case):
    case = fitted_case("lightgbm")
    asked = []
    own = type(case.model).predict

    def counted(self, rows, **options):
        asked.append(len(rows))
        return own(self, rows, **options)

    monkeypatch.setattr(type(case.model), "predict", counted)  # on the class: an instance that was changed is refused
    explainer = tp.Explainer(case.model, case.table[100:120], **SHAPLEY)
    explanation = explainer(case.table[:7])
    assert (explanation.engine, asked) == ("trees", [20, 7])
    assert explanation.provenance["model_rows_evaluated"] == 27
    assert explainer(case.table[:3]).provenance["model_rows_evaluated"] == 3
    assert explainer.cost(1000) == 1000
    del asked[:]
    explanation.reallocate(policy="dirichlet", utility="exclusion_aup").scores("inclusion_mse")
    explanation.interactions(3)
    explanation.shares(2)
    assert asked == []


def test_log_odds_count_the_margins_they_are_checked_with(fitted_case):
    case = fitted_case("lightgbm log-odds")
    explanation = tp.Explainer(case.model, case.table[100:120], link="logit", **SHAPLEY)(case.table[:7])
    assert explanation.provenance["model_rows_evaluated"] == 2 * 27


def test_shares_give_the_attributions(fitted_case):
    case = fitted_case("xgboost")
    explanation = explainer_of(case, policy="dirichlet")(case.table[:5])
    for row in range(5):
        dividends = explanation.dividends(row)
        total = dividends.singletons()
        for index, share in explanation.shares(row).items():
            members = [player for player in range(5) if index >> player & 1]
            assert abs(share.sum() - 1) <= 1e-12
            total = total + share * dividends[members]
        assert np.max(abs(total - explanation.values[row])) <= 1e-12
        again = explanation[row].reallocate(policy="shares", shares=dict(explanation.shares(row)))
        assert np.max(abs(again.values - explanation.values[row])) <= 1e-12


def test_interactions_that_do_not_fit_the_memory_say_what_to_do():
    table = np.random.default_rng(0).normal(size=(200, 60))
    model = XGBRegressor(n_estimators=20, max_depth=3).fit(table, table[:, 0] * table[:, 1])
    explanation = tp.Explainer(model, table[:50], max_memory="1MiB", **SHAPLEY)(table[:100])
    with pytest.raises(ValueError, match=r"take at most 36 rows at a time, explanation\[:36\]"):
        explanation.interactions(2)
    assert explanation[:36].interactions(2).shape == (36, 60, 60)
    with pytest.raises(ValueError, match="choose a smaller order"):
        explanation[0].interactions(3)


def test_rows_whose_attributions_do_not_fit_are_refused_before_they_are_computed():
    table = np.random.default_rng(0).normal(size=(3000, 60))
    model = XGBRegressor(n_estimators=5, max_depth=3).fit(table, table[:, 0] * table[:, 1])
    explainer = tp.Explainer(model, table[:50], max_memory="2MiB", **SHAPLEY)
    with pytest.raises(ValueError, match=r"explain at most \d,\d+ rows at a time") as refusal:
        explainer(table)
    most = int(re.search(r"at most ([\d,]+) rows", str(refusal.value))[1].replace(",", ""))
    assert explainer(table[:most]).values.shape == (most, 60)


def test_little_memory_changes_no_number(fitted_case):
    case = fitted_case("xgboost classes")
    ample, scarce = (explainer_of(case, max_memory=size)(case.table[:6]) for size in ("1GiB", "1KiB"))
    scale = np.max(abs(ample.predictions))
    assert np.max(abs(scarce.values - ample.values)) <= 1e-12 * scale
    assert np.max(abs(scarce.lower - ample.lower)) <= 1e-12 * scale


def test_threads_change_no_bit(fitted_case):
    case = fitted_case("lightgbm")
    one, four = (tp.Explainer(case.model, case.table[100:], n_jobs=jobs, **SHAPLEY)(case.table) for jobs in (None, 4))
    assert np.array_equal(one.values, four.values)


def test_native_boosters(fitted_case):
    case = fitted_case("xgboost")
    booster = case.model.get_booster()
    explanation = tp.Explainer(booster, case.table[100:120], **SHAPLEY)(case.table[:4])
    assert explanation.engine == "trees"
    assert np.array_equal(explanation.values, explainer_of(case)(case.table[:4]).values)
    own = booster.predict(DMatrix(case.table[:4])).astype(np.float64)
    assert np.array_equal(explanation.predictions + explanation.rounding, own)


def test_to_shapiq_lists_small_sets(fitted_case):
    case = fitted_case("lightgbm")
    explanation = explainer_of(case)(case.table[:2])
    exported = explanation.to_shapiq(1, order=2)
    assert (exported.index, exported.max_order) == ("Moebius", 2)
    dividends = explanation.dividends(1)
    assert exported[(0, 1)] == dividends[0, 1]
    assert max(len(members) for members in exported.interaction_lookup) == 2
