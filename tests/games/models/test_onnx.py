"""ONNX: sessions, graphs in memory and paths; numbers and text; class names read off the graph."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp
from taylorpoda.games.models.onnx_inputs import feed
from taylorpoda.games.models.onnx_outputs import choose_outputs

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("skl2onnx")


@pytest.fixture(scope="module")
def classifier(iris, species):
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=500).fit(iris[0].to_numpy(), species)


def convert(model, iris, zipmap):
    from skl2onnx import to_onnx

    return to_onnx(model, iris[0].to_numpy()[:1].astype(np.float32), options={id(model): {"zipmap": zipmap}})


@pytest.mark.parametrize("zipmap", [True, False, "columns"])
def test_a_classifier_gives_its_probabilities_by_class(zipmap, classifier, iris, species, tmp_path):
    graph = convert(classifier, iris, zipmap)
    path = tmp_path / "model.onnx"
    path.write_bytes(graph.SerializeToString())
    X = iris[0].to_numpy()
    session = onnxruntime.InferenceSession(str(path))
    values = []
    for model in (graph, session, str(path), path):
        explainer = tp.Explainer(model, X[::13], policy="shapley")
        explanation = explainer(X[[1, 60, 120]])
        assert explanation.output_names == ("setosa", "versicolor", "virginica")
        assert np.max(np.abs(explanation.predictions - classifier.predict_proba(X[[1, 60, 120]]))) < 1e-5
        assert np.max(np.abs(explanation.discrepancy)) < 1e-12
        again = pickle.loads(pickle.dumps(explainer))(X[[1, 60, 120]])
        assert np.array_equal(again.values, explanation.values)
        values.append(explanation.values)
    assert all(np.array_equal(values[0], one) for one in values[1:])
    one = tp.Explainer(path, X[::13], policy="shapley", output="setosa")(X[[1, 60, 120]])
    assert np.array_equal(one.values, values[0][:, :, 0])


@pytest.mark.parametrize("names", [["setosa", "versicolor", "virginica"], [7, 8, 9]], ids=["text", "numbers"])
def test_classes_are_read_off_graphs_without_a_classifier_node(names, iris):
    """Graphs of doubles have none: the label output picks from a constant table of the classes."""
    from skl2onnx import to_onnx
    from sklearn.linear_model import LogisticRegression

    X = iris[0].to_numpy().astype(np.float64)
    model = LogisticRegression(max_iter=500).fit(X, np.array(names)[np.arange(150) // 50])
    graph = to_onnx(model, X[:1], options={id(model): {"zipmap": False}})
    assert all("classlabels" not in attribute.name for node in graph.graph.node for attribute in node.attribute)
    every = tp.Explainer(graph, X[::13], policy="shapley")(X[[1, 60, 120]])
    assert every.output_names == tuple(map(str, names))
    assert np.max(np.abs(every.predictions - model.predict_proba(X[[1, 60, 120]]))) < 1e-12
    one = tp.Explainer(graph, X[::13], policy="shapley", output=names[2])(X[[1, 60, 120]])
    assert np.array_equal(one.values, every.values[:, :, 2])


def test_class_names_come_with_the_first_answer_where_the_graph_is_out_of_reach(classifier, iris, monkeypatch):
    """Without the onnx package only the answers of a ZipMap name the classes, and `output=` waits for them."""
    from taylorpoda.games.models import onnx_models

    graph = convert(classifier, iris, zipmap=True)
    monkeypatch.setattr(onnx_models, "labels_in", lambda *_: None)
    X = iris[0].to_numpy()
    explanation = tp.Explainer(graph, X[::13], policy="shapley", output="virginica")(X[:2])
    assert explanation.output_names == ("virginica",)
    assert explanation.values.shape == (2, 4)


def test_columns_of_text_and_numbers_reach_the_inputs_of_their_name():
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"size": rng.normal(size=60), "color": rng.choice(["red", "blue"], 60), "age": rng.normal(size=60)}
    )
    y = X["size"] + (X["color"] == "red")
    pipeline = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["color"]), remainder="passthrough"), LinearRegression()
    ).fit(X, y)
    inputs = [
        ("age", FloatTensorType([None, 1])),
        ("color", StringTensorType([None, 1])),
        ("size", FloatTensorType([None, 1])),
    ]
    graph = convert_sklearn(pipeline, initial_types=inputs)
    explanation = tp.Explainer(graph, X[:20], policy="optimal")(X[30:33])
    assert np.max(np.abs(explanation.predictions - pipeline.predict(X[30:33]))) < 1e-5
    assert np.max(np.abs(explanation.values[:, 2])) < 1e-6, "age is not used"
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({name: X[name].to_list() for name in X})
    assert np.array_equal(tp.Explainer(graph, table[:20], policy="optimal")(table[30:33]).values, explanation.values)
    X.loc[31, "color"] = None
    with pytest.raises(ValueError, match="strings have no missing value"):
        tp.Explainer(graph, X[:20], policy="shapley")(X[30:33])


def test_raw_is_refused(classifier, iris):
    with pytest.raises(ValueError, match="an ONNX graph does not give"):
        tp.Explainer(convert(classifier, iris, zipmap=False), iris[0].to_numpy(), output="raw")


def declared(name, kind, shape):
    return SimpleNamespace(name=name, type=kind, shape=shape)


def test_a_graph_of_fixed_size_gets_its_rows_in_portions(monkeypatch):
    from taylorpoda.games.models.onnx_models import OnnxPrediction

    class Session:
        def __init__(self):
            self.sizes = []

        def get_inputs(self):
            return [declared("x", "tensor(float)", [4, 2])]

        def run(self, names, tensors):
            self.sizes.append(len(tensors["x"]))
            return [tensors["x"].sum(axis=1)]

    predict, session = object.__new__(OnnxPrediction), Session()
    predict._session, predict.outputs, predict._classes = (
        session,
        choose_outputs([declared("y", "tensor(float)", [4])]),
        None,
    )
    rows = np.arange(18.0).reshape(9, 2)
    assert np.array_equal(predict(rows), rows.sum(axis=1).astype(np.float32))
    assert session.sizes == [4, 4, 4]


@pytest.mark.parametrize(
    ("outputs", "names", "mapped"),
    [
        ([("y", "tensor(double)", [None, 1])], ("y",), False),
        ([("label", "tensor(int64)", [None]), ("p", "seq(map(int64,tensor(float)))", [])], ("p",), True),
        (
            [("label", "tensor(string)", [None]), ("probabilities", "tensor(float)", [None, 2])],
            ("probabilities",),
            False,
        ),
        ([("label", "tensor(int64)", [None]), ("scores", "tensor(float)", [None, 2])], ("scores",), False),
        ([("a", "tensor(float)", [None, 2]), ("out_prob", "tensor(float)", [None, 2])], ("out_prob",), False),
    ],
)
def test_which_output_is_explained(outputs, names, mapped):
    chosen = choose_outputs([declared(*one) for one in outputs])
    assert (chosen.names, chosen.mapped) == (names, mapped)


def test_several_outputs_without_probabilities_are_refused():
    with pytest.raises(ValueError, match=r"several outputs \(a: tensor\(float\), b: tensor\(float\)\)"):
        choose_outputs([declared("a", "tensor(float)", [None, 2]), declared("b", "tensor(float)", [None, 2])])


@pytest.mark.parametrize(
    ("inputs", "rows", "message"),
    [
        ([("x", "tensor(float)", [None, 3])], np.zeros((2, 4)), "have 4 columns, but the ONNX graph reads 3"),
        ([("x", "tensor(int64)", [None, 1])], np.array([[1.5]]), "where 1.5 does not fit"),
        ([("x", "tensor(int64)", [None, 1])], np.array([[np.nan]]), "where nan does not fit"),
        ([("x", "tensor(uint8)", [None, 1])], np.array([[300]]), "where 300 does not fit"),
        ([("x", "tensor(int8)", [None, 1])], np.array([[-200]]), "where -200 does not fit"),
        ([("x", "tensor(float)", [None, 1])], np.array([[1e300]]), "where 1e\\+300 does not fit"),
        ([("x", "tensor(float)", [None, 2]), ("y", "tensor(float)", [None, 1])], np.zeros((1, 1)), "graph reads 3"),
        ([("x", "tensor(float)", [None, None]), ("y", "tensor(float)", [None, 1])], np.zeros((1, 1)), "graph reads"),
        ([("x", "tensor(float)", [None, 1])], np.array([["a"]]), "has dtype <U1"),
        ([("x", "tensor(float)", [None, 1])], np.array([["a"]], dtype=object), "holds other cells"),
        ([("x", "tensor(complex64)", [None, 1])], np.zeros((1, 1)), "is a tensor\\(complex64\\); allowed"),
    ],
)
def test_rows_that_do_not_fit_are_refused(inputs, rows, message):
    with pytest.raises(ValueError, match=message):
        feed([declared(*one) for one in inputs], rows)


def test_whole_floats_reach_integer_inputs_and_missing_numbers_become_nan():
    frame = pd.DataFrame({"n": [1.0, 2.0], "m": pd.array([1, None], dtype="Int64")})
    tensors = feed([declared("n", "tensor(int64)", [None, 1]), declared("m", "tensor(float)", [None, 1])], frame)
    assert tensors["n"].dtype == np.int64
    assert np.isnan(tensors["m"][1, 0])
