"""`output=` by class, by name, by index: classes win over indices."""

from __future__ import annotations

import numpy as np
import pytest

import taylorpoda as tp
from taylorpoda.games.models.selection import check_names, find_output


@pytest.mark.parametrize(
    ("output", "known", "position"),
    [
        ("b", ("a", "b"), 1),
        (1, (1, 2, 3), 0),
        (0, (1, 2, 3), 0),
        (1, (1.0, 2.0), 0),
        (np.int64(2), (1, 2), 1),
        ("2", (1, 2), 1),
        (True, (False, True), 1),
        ("True", (False, True), 1),
        (-1, ("a", "b", "c"), 2),
        (np.str_("a"), ("b", "a"), 1),
        (10, ("10", "20"), 0),
    ],
)
def test_what_is_meant(output, known, position):
    assert find_output(output, known) == position


def test_names_come_beside_classes():
    assert find_output("yes", (0, 1), ("no", "yes")) == 1
    assert find_output(0, (0, 1), ("no", "yes")) == 0
    assert find_output(1, None, ("no", "yes")) == 1


@pytest.mark.parametrize("output", ["c", 2, -3, None, 1.5, True, object()])
def test_what_is_not_known_is_refused(output):
    with pytest.raises(ValueError, match=r"output=.*is not known.*Allowed"):
        find_output(output, ("a", "b"))


def test_names_are_checked():
    assert check_names(np.array([1, 2])) == ("1", "2")
    for bad in ("ab", b"ab", 3, None, {"a", "b"}, {0: "a", 1: "b"}):
        with pytest.raises(TypeError, match="output_names has type"):
            check_names(bad)
    for bad in ([], ["a", "a"]):
        with pytest.raises(ValueError, match="all different"):
            check_names(bad)


def test_a_function_with_several_outputs_takes_names():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    explainer = tp.Explainer(lambda part: part[:, :2] * 2, rows, output_names=["left", "right"], policy="shapley")
    everything = explainer(rows[:2])
    assert everything.output_names == ("left", "right")
    one = tp.Explainer(
        lambda part: part[:, :2] * 2, rows, output_names=["left", "right"], output="right", policy="shapley"
    )(rows[:2])
    assert np.max(np.abs(one.values - everything.values[..., 1])) < 1e-15
    with pytest.raises(ValueError, match="gave 2 outputs but has 3 output_names"):
        tp.Explainer(lambda part: part[:, :2], rows, output_names=list("abc"), policy="shapley")(rows[:1])


def test_the_second_of_two_classes_of_a_decision_function():
    """Asking a binary margin for its second class once raised an IndexError."""
    from sklearn.linear_model import LogisticRegression

    rows = np.random.default_rng(0).normal(size=(40, 3))
    model = LogisticRegression().fit(rows, np.where(rows[:, 0] > 0, "up", "down"))
    margin = tp.Explainer(model.decision_function, rows, policy="shapley", output="up")(rows[:3])
    assert np.array_equal(margin.predictions, model.decision_function(rows[:3]))
    assert margin.output_names == ("up",)
    with pytest.raises(ValueError, match="speaks for 'up'"):
        tp.Explainer(model.decision_function, rows, policy="shapley", output="down")(rows[:3])


def frames(part, names):
    import pandas as pd

    columns = {name: np.asarray(part)[:, k] for k, name in enumerate(names)}
    yield pd.DataFrame(columns)
    for library, kind in (("polars", "DataFrame"), ("pyarrow", "table")):
        yield getattr(pytest.importorskip(library), kind)(columns)


@pytest.mark.parametrize("kind", range(3), ids=["pandas", "polars", "pyarrow"])
def test_a_function_that_answers_with_a_frame_names_its_outputs(kind):
    rows = np.random.default_rng(0).normal(size=(20, 3))

    def model(part):
        return list(frames(part, ["left", "right"]))[kind]

    everything = tp.Explainer(model, rows, policy="shapley")(rows[:2])
    assert everything.output_names == ("left", "right")
    for output in ("right", 1, -1):
        one = tp.Explainer(model, rows, output=output, policy="shapley")(rows[:2])
        assert np.max(np.abs(one.values - everything.values[..., 1])) < 1e-15
        assert one.output_names == ("right",)
    with pytest.raises(ValueError, match="Did you mean 'right'"):
        tp.Explainer(model, rows, output="rigth", policy="shapley")(rows[:2])
    other = tp.Explainer(model, rows, output_names=["l", "r"], policy="shapley")(rows[:2])
    assert other.output_names == ("l", "r")


def test_numbered_classes_say_how_they_get_names():
    with pytest.raises(ValueError, match=r"Allowed: '0', '1'. Numbered outputs get names by output_names="):
        find_output("setosa", (0, 1))


def test_of_many_names_the_first_are_listed_and_the_nearest_is_found():
    with pytest.raises(ValueError, match=r"Did you mean 'class 777'.*\(2,000 in all\)") as raised:
        find_output("clas 777", [f"class {k}" for k in range(1000)])
    assert len(str(raised.value)) < 1500
