"""DataFrames of three libraries: the same answers, the types untouched, the columns found by name."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
LIBRARIES = ["pandas", "polars", "pyarrow"]


def head(table, stop):
    return table[:stop]


def reversed_columns(table):
    names = list(getattr(table, "column_names", None) or table.columns)[::-1]
    return table[names] if isinstance(table, pd.DataFrame) else table.select(names)


@pytest.fixture(scope="module")
def expected(mixed, model):
    return tp.Explainer(model("pandas"), mixed["pandas"][:12], policy="shapley")(mixed["pandas"][20:24])


@pytest.mark.parametrize("theirs", LIBRARIES)
@pytest.mark.parametrize("ours", LIBRARIES)
def test_any_frame_is_read_into_the_kind_of_the_background(ours, theirs, mixed, model, expected):
    explainer = tp.Explainer(model(ours), head(mixed[ours], 12), policy="shapley")
    explanation = explainer(reversed_columns(mixed[theirs][20:24]))
    assert np.array_equal(explanation.values, expected.values)
    assert explanation.feature_names == tuple("ifsbdcn")
    assert type(explanation.data) is type(mixed[ours])
    assert type(explanation.to_frame()) is type(mixed[theirs])
    assert explanation.provenance["model_rows_evaluated"] == expected.provenance["model_rows_evaluated"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_list_and_a_row_of_a_frame_are_read(library, mixed, model, expected):
    explainer = tp.Explainer(model(library), head(mixed[library], 12), policy="shapley")
    row = mixed["pandas"].iloc[20]
    assert np.array_equal(explainer(row).values[0], expected.values[0])
    assert np.array_equal(explainer(row.astype(object).tolist()).values[0], expected.values[0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_rows_give_an_empty_explanation(library, mixed, model):
    explanation = tp.Explainer(model(library), head(mixed[library], 3), policy="shapley")(mixed[library][:0])
    assert explanation.values.shape == (0, 7)
    assert explanation.to_frame().shape == (0, 7)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_columns_missing_or_extra_are_named(library, mixed, model):
    explainer = tp.Explainer(model(library), head(mixed[library], 3), policy="shapley")
    with pytest.raises(ValueError, match=r"missing \['s'\]"):
        explainer(mixed[library].drop(["s"]) if library == "polars" else mixed[library].drop_columns(["s"]))


MISFITS = [("i", 1.5), ("i", "1"), ("s", 3), ("d", 5), ("c", "w"), ("b", 2), ("n", 0.5)]


@pytest.mark.parametrize(
    ("library", "column", "cell"),
    # An Arrow dictionary is no closed list of categories.
    [(library, *misfit) for library in LIBRARIES for misfit in MISFITS if (library, misfit[0]) != ("pyarrow", "c")],
)
def test_a_cell_that_does_not_fit_its_column_is_refused(library, column, cell, mixed, model):
    explainer = tp.Explainer(model(library), head(mixed[library], 3), policy="shapley")
    row = mixed["pandas"].iloc[20].astype(object)
    row[column] = cell
    with pytest.raises(ValueError, match=f"column '{column}' of X"):
        explainer(row)


def test_whole_floats_fit_integers_and_integers_fit_floats(mixed, model, expected):
    for library in LIBRARIES:
        explainer = tp.Explainer(model(library), head(mixed[library], 12), policy="shapley")
        rows = mixed["pandas"][20:24].astype({"i": float})
        assert np.array_equal(explainer(rows).values, expected.values)


def test_nulls_and_nans_of_polars_are_not_the_same():
    """A background of a null and a NaN has two different rows, and both are asked for."""
    table = pl.DataFrame({"a": [None, float("nan"), 1.0], "b": [1, 2, 3]})
    seen = []

    def predict(rows):
        seen.append(rows["a"].to_list())
        return (
            rows["b"].to_numpy() + rows["a"].is_null().to_numpy() * 10 + rows["a"].is_nan().fill_null(False).to_numpy()
        )

    explanation = tp.Explainer(predict, table[:2], policy="shapley")(table[2:])
    assert explanation.base_values[0] == (11 + 3) / 2
    assert any(None in cells for cells in seen)


def test_nanoseconds_tell_rows_apart():
    stamps = np.array(["2020-01-01T00:00:00.000000001", "2020-01-01T00:00:00.000000002"], dtype="datetime64[ns]")
    for table in (pl.DataFrame({"t": stamps}), pa.table({"t": stamps}), pd.DataFrame({"t": stamps})):
        calls = []

        def predict(rows, calls=calls):
            column = rows["t"]
            cells = (
                column.cast("int64") if hasattr(column, "cast") and not hasattr(column, "gather") else column.to_numpy()
            )
            values = np.asarray(cells.to_numpy() if hasattr(cells, "to_numpy") else cells).astype("int64") % 10
            calls.append(values)
            return values.astype(float)

        explanation = tp.Explainer(predict, table[:1], policy="shapley")(table[1:2])
        assert explanation.values.tolist() == [[1.0]]


def test_a_lazy_frame_is_refused_with_the_way_out():
    frame = pl.DataFrame({"a": [1.0, 2.0]})
    with pytest.raises(TypeError, match=r"background is a polars LazyFrame; call \.collect\(\) first"):
        tp.Explainer(lambda rows: rows["a"].to_numpy(), frame.lazy())
    with pytest.raises(TypeError, match=r"X is a lazy frame; call \.collect\(\) first"):
        tp.Explainer(lambda rows: rows["a"].to_numpy(), frame, policy="shapley")(frame.lazy())


def test_the_kind_a_model_cannot_read_is_named(mixed):
    from sklearn.linear_model import LinearRegression

    model = LinearRegression().fit(np.arange(6.0).reshape(3, 2), [1.0, 2.0, 3.0])

    def stubborn(rows):
        if not isinstance(rows, np.ndarray):
            msg = "array please"
            raise TypeError(msg)
        return model.predict(rows)

    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    with pytest.raises(ValueError, match=r"array please.*it was given a polars DataFrame, the kind of the background"):
        tp.Explainer(stubborn, frame, policy="shapley")(frame)
    explanation = tp.Explainer(stubborn, frame.to_numpy(), policy="shapley")(frame)
    assert isinstance(explanation.to_frame(), pl.DataFrame)


def test_an_array_background_reads_frames_by_the_names_the_model_knows():
    from sklearn.linear_model import LinearRegression

    X = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [0.0, 1.0, 5.0]})
    model = LinearRegression().fit(X, [1.0, 2.0, 3.0])
    explainer = tp.Explainer(lambda rows: model.coef_ @ rows.T, X.to_numpy(), policy="shapley")
    by_position = explainer(X)
    named = tp.Explainer(model, X.to_numpy(), policy="shapley")
    assert np.max(np.abs(named(X[["b", "a"]]).values - by_position.values)) < 1e-12
    with pytest.raises(ValueError, match=r"missing \['b'\]"):
        named(X.rename(columns={"b": "c"}))


def test_a_record_batch_becomes_a_table():
    batch = pa.record_batch({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    explanation = tp.Explainer(lambda rows: rows["a"].to_numpy(), batch, policy="shapley")(batch)
    assert isinstance(explanation.to_frame(), pa.Table)


def test_several_outputs_have_columns_of_their_own():
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    explanation = tp.Explainer(lambda rows: rows.to_numpy(), frame, policy="shapley")(frame)
    assert explanation.to_frame().columns == ["0: a", "0: b", "1: a", "1: b"]
    assert explanation.to_frame(output=1).columns == ["a", "b"]
    assert np.array_equal(explanation[:, 1].to_frame().to_numpy(), explanation.values[..., 1])


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_is_pickled_comes_back(library, mixed):
    table = mixed[library]
    explanation = tp.Explainer(_count, table[:5], policy="shapley")(table[5:8])
    again = pickle.loads(pickle.dumps(explanation))
    assert np.array_equal(again.values, explanation.values)
    for one, other in ((again.data, explanation.data),):
        if library == "pyarrow":  # whose equality tells a NaN from itself
            assert one.schema == other.schema
            assert str(one.to_pydict()) == str(other.to_pydict())
        else:
            assert one.equals(other)


def _count(rows):
    return np.asarray(rows["i"].to_numpy(), dtype=float)


@pytest.mark.parametrize("names", [["a", "b", "c"], ["first one", "b", "c"]])
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_background_in_another_order_is_read_by_the_names_the_model_was_fitted_with(kind, names):
    """LightGBM reads frames by position: a background in another order was explained as if its columns were renamed."""
    lightgbm = pytest.importorskip("lightgbm")
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=names)
    model = lightgbm.LGBMRegressor(verbose=-1, n_estimators=5).fit(frame, frame[names[0]] * frame["b"] + 3 * frame["c"])
    make = {"pandas": lambda table: table, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}[kind]
    mixed = frame[["c", *names[:2]]]
    found = tp.Explainer(model, make(mixed[:20]), policy="shapley")(make(mixed[:4]))
    expected = tp.Explainer(model, frame[:20], policy="shapley")(frame[:4])
    assert found.feature_names == expected.feature_names == tuple(names)
    assert np.array_equal(found.values, expected.values)
    assert np.array_equal(found.predictions, expected.predictions)
