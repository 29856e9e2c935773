"""The front door: what a user types in the first minute works, or says exactly what to change."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import shap
from shapiq import ExactComputer
from shapiq.game_theory.moebius_converter import MoebiusConverter
from shapiq_games.synthetic import SOUM
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVC, LinearSVC
from xgboost import XGBClassifier, XGBRegressor

import taylorpoda as tp

POLICIES = ("shapley", "dirichlet", "optimal")


@pytest.fixture(scope="module")
def diabetes():
    rows, target = load_diabetes(return_X_y=True, as_frame=True)
    return rows.iloc[:, :6], target


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def mlp(diabetes):
    rows, target = diabetes
    return MLPRegressor(hidden_layer_sizes=(16, 16), max_iter=200, random_state=0).fit(
        rows.to_numpy() * 10, target / 100
    )


@pytest.fixture(scope="module")
def boosted(iris):
    return XGBClassifier(n_estimators=8, max_depth=3).fit(*iris)


def test_shapley_equals_the_exact_explainer_of_shap_on_the_whole_background(diabetes, mlp):
    rows = diabetes[0].to_numpy() * 10
    background, some = rows[:101], rows[200:206]
    ours = tp.Explainer(mlp, background, policy="shapley")(some)
    theirs = shap.explainers.Exact(mlp.predict, shap.maskers.Independent(background, max_samples=1000))(some)
    assert np.abs(ours.values - theirs.values).max() < 1e-10
    assert np.abs(ours.base_values - theirs.base_values).max() < 1e-10


def test_shapley_and_occlusion_equal_those_of_shapiq(diabetes, mlp):
    rows = diabetes[0].to_numpy() * 10
    explanation = tp.Explainer(mlp, rows[:20], policy="shapley")(rows[200])
    table = explanation.games.values[0, 0]

    def game(coalitions):
        return table[np.asarray(coalitions, dtype=bool) @ (1 << np.arange(6))]

    computer = ExactComputer(n_players=6, game=game)
    theirs = computer("SV", 1).get_n_order_values(1)
    assert np.abs(explanation.values[0] - theirs).max() < 1e-10
    external = computer("EGV", 1).get_n_order_values(1)
    assert np.abs(tp.methods.occlusion(table) - external).max() < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_shapley_equals_the_ground_truth_of_sums_of_unanimity_games(seed):
    game = SOUM(9, 40, random_state=seed)
    truth = MoebiusConverter(game.moebius_coefficients)("SV", 1).get_n_order_values(1)
    table = tp.tabulate(game, 9)
    assert np.abs(tp.methods.shapley(table) - truth).max() < 1e-10
    assert np.abs(tp.allocate(table, policy="shapley").attributions - truth).max() < 1e-10


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_adds_up_on_every_kind_of_model(diabetes, policy, mlp):
    rows, target = diabetes
    forest = RandomForestClassifier(10, random_state=0).fit(rows, target > 150)
    for model, data in (
        (mlp, rows.to_numpy() * 10),
        (forest, rows),
        (XGBRegressor(n_estimators=9).fit(rows, target), rows),
    ):
        explanation = tp.Explainer(model, data[:25], policy=policy, random_state=1)(data[30:34])
        scale = np.abs(explanation.predictions).max()
        total = explanation.base_values + explanation.values.sum(axis=1)
        assert np.abs(total - explanation.predictions).max() <= 1e-9 * scale
        assert np.abs(explanation.discrepancy).max() <= 1e-9 * scale


@pytest.mark.parametrize("policy", POLICIES)
def test_a_row_gets_the_same_answer_alone_in_a_batch_and_in_reverse(iris, boosted, policy):
    rows, y = iris[0][::12], iris[1][::12]
    explainer = tp.Explainer(boosted, iris[0][:40], policy=policy, random_state=5)
    batch = explainer(rows, y)
    backwards = explainer(rows[::-1], y[::-1])
    assert np.array_equal(batch.values, backwards.values[::-1])
    for position in (0, 7):
        alone = explainer(rows.iloc[[position]], y.iloc[[position]])
        assert np.array_equal(alone.values[0], batch.values[position])


def test_predictions_are_the_models_own_output(iris, boosted, diabetes, mlp):
    explanation = tp.Explainer(boosted, iris[0][:30], policy="shapley")(iris[0][40:60])
    assert np.array_equal(explanation.predictions, boosted.predict_proba(iris[0][40:60]).astype(float))
    assert explanation.values.shape == (20, 4, 3)
    rows = diabetes[0].to_numpy() * 10
    assert np.array_equal(
        tp.Explainer(mlp, rows[:5], policy="shapley")(rows[9:12]).predictions, mlp.predict(rows[9:12])
    )


def test_one_class_is_the_slice_of_all(iris, boosted):
    rows, y = iris[0][::9], iris[1][::9]
    whole = tp.Explainer(boosted, iris[0][:30], policy="shapley", utility="inclusion_auc")(rows, y)
    for k in range(3):
        one = tp.Explainer(boosted, iris[0][:30], policy="shapley", utility="inclusion_auc", output=k)(rows, y)
        assert np.array_equal(one.values, whole[..., k].values)
        assert np.array_equal(one.values, whole.values[..., k])
        assert np.array_equal(one.score, whole.score[:, k])
        assert one.output_names == (str(k),)


def test_a_class_is_picked_by_name(iris):
    names = np.array(["setosa", "versicolor", "virginica"])
    model = RandomForestClassifier(10, random_state=0).fit(iris[0], names[iris[1]])
    whole = tp.Explainer(model, iris[0][:30], policy="shapley")(iris[0][::30])
    one = tp.Explainer(model, iris[0][:30], policy="shapley", output="setosa")(iris[0][::30])
    assert whole.output_names == ("setosa", "versicolor", "virginica")
    assert np.array_equal(one.values, whole[..., "setosa"].values)
    with pytest.raises(ValueError, match=r"output='setose' is not known. Did you mean 'setosa'"):
        tp.Explainer(model, iris[0][:30], output="setose")


def test_auc_labels_by_argmax_of_the_classes(iris, boosted):
    rows, y = iris[0][::9], iris[1][::9]
    explanation = tp.Explainer(boosted, iris[0][:30], policy="shapley")(rows, y)
    tables = explanation.games.values
    for row in range(len(rows)):
        for k in range(3):
            order = np.argsort(-np.abs(explanation.values[row, :, k]), kind="stable")
            hits, mask = 0, 0
            for feature in order:
                mask |= 1 << int(feature)
                hits += int(np.argmax(tables[row, :, mask]) == y.iloc[row])
            assert explanation.scores("inclusion_auc")[row, k] == hits


def test_logit_link_explains_the_mean_of_the_log_odds(iris):
    y = (iris[1] == 1).astype(int)
    model = LogisticRegression().fit(iris[0], y)
    explanation = tp.Explainer(model, iris[0], output=1, link="logit", policy="shapley")(iris[0][:3])
    expected = (iris[0][:3] - iris[0].mean()).to_numpy() * model.coef_[0]
    assert np.abs(explanation.values - expected).max() < 1e-9
    sure = tp.Explainer(lambda z: (z[:, 0] > 0).astype(float), np.ones((2, 1)), link="logit")
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        sure([[1.0]])


def test_raw_is_the_margin(iris):
    y = (iris[1] == 1).astype(int)
    model = XGBClassifier(n_estimators=5).fit(iris[0], y)
    explanation = tp.Explainer(model, iris[0][:20], output="raw", policy="shapley", engine="exact")(iris[0][:3], y[:3])
    assert explanation.values.shape == (3, 4)
    assert np.array_equal(explanation.predictions, model.predict(iris[0][:3], output_margin=True).astype(float))
    assert explanation.scores("exclusion_auc").shape == (3,)
    with pytest.raises(ValueError, match='output="raw" is the margin of a boosted ensemble'):
        tp.Explainer(LinearRegression().fit(iris[0], y), iris[0], output="raw")


def test_zero_rows_give_an_empty_explanation(iris, boosted):
    explanation = tp.Explainer(boosted, iris[0][:30], policy="dirichlet")(iris[0][:0])
    assert explanation.values.shape == (0, 4, 3)
    assert explanation.to_frame().shape == (0, 12)
    assert "0 rows" in repr(explanation)
    single = tp.Explainer(lambda z: z[:, 0], np.ones((2, 3)), policy="shapley")(np.empty((0, 3)))
    assert single.values.shape == (0, 3)
    assert single.score.shape == (0,)


def test_one_row_may_be_one_dimensional(iris, boosted):
    frame = tp.Explainer(boosted, iris[0][:30], policy="shapley")
    assert np.array_equal(frame(iris[0].iloc[3]).values, frame(iris[0].iloc[[3]]).values)
    array = tp.Explainer(lambda z: z[:, 0] * z[:, 1], np.ones((2, 2)), policy="shapley")
    assert np.array_equal(array([3.0, 4.0]).values, array([[3.0, 4.0]]).values)


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_models_may_answer_with_one_axis_or_two(shape):
    background = np.random.default_rng(0).normal(size=(7, 3))
    explanation = tp.Explainer(lambda z: (z[:, 0] * z[:, 1]).reshape(shape), background, policy="shapley")(background)
    assert explanation.values.shape == (7, 3)


@pytest.mark.parametrize(
    "wrap", [pd.Series, list, lambda out: pd.DataFrame({"out": out}), lambda out: out.astype("f4")]
)
def test_models_may_answer_with_a_series_a_list_or_a_frame(wrap):
    background = np.random.default_rng(0).normal(size=(7, 2))
    explanation = tp.Explainer(lambda z: wrap(z[:, 0] * z[:, 1]), background, policy="shapley")(background[:2])
    assert explanation.values.dtype == np.float64


def test_tensors_are_read():
    torch = pytest.importorskip("torch")
    background = np.random.default_rng(0).normal(size=(7, 2))
    explanation = tp.Explainer(lambda z: torch.as_tensor(z).sum(dim=1), background, policy="shapley")(background[:2])
    assert np.abs(explanation.values - (background[:2] - background.mean(axis=0))).max() < 1e-12


def test_the_seed_is_recorded_and_reproduces(iris, boosted):
    explainer = tp.Explainer(boosted, iris[0][:20], policy="dirichlet", output=0)
    first = explainer(iris[0][:9])
    second = tp.Explainer(boosted, iris[0][:20], policy="dirichlet", output=0, random_state=first.provenance["seed"])(
        iris[0][:9]
    )
    assert np.array_equal(first.values, second.values)
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - what must stay untouched
    explainer(iris[0][:2])
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002 - what must stay untouched


def test_peak_memory_stays_under_max_memory():
    import tracemalloc

    rng = np.random.default_rng(0)
    background, rows = rng.normal(size=(100, 12)), rng.normal(size=(2, 12))
    bound = 24 * 2**20
    explainer = tp.Explainer(lambda z: z[:, 0] * z[:, 1], background, policy="shapley", max_memory=bound)
    tracemalloc.start()
    explainer(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= bound


@pytest.mark.parametrize("policy", ["shapley", "dirichlet"])
@pytest.mark.parametrize("n", [3, 6, 9])
def test_as_many_rows_as_the_error_says_stay_under_max_memory(n, policy):
    """Sixteen candidates of each of many rows took seven times the bound."""
    import tracemalloc

    rows = np.random.default_rng(0).normal(size=(40_000, n))
    bound = 8 * 2**20
    explainer = tp.Explainer(lambda z: z[:, 0] * z[:, 1], rows[:10], policy=policy, max_memory=bound, engine="exact")
    with pytest.raises(
        ValueError, match=r"more than a quarter of max_memory=8.0 MiB; explain at most \d+ rows"
    ) as refusal:
        explainer(rows)
    most = int(str(refusal.value).split("at most ")[1].split(" rows")[0])
    assert most * (8 << n) > bound / 16  # the bound is used, too
    tracemalloc.start()
    explanation = explainer(rows[:most])
    assert explanation.values.shape == (most, n)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= bound


def plain(rows):
    return np.asarray(rows)[:, 0].astype(float)


BACKGROUND = np.arange(12.0).reshape(4, 3)
FRAME = pd.DataFrame(BACKGROUND, columns=["a", "b", "c"])
BAD_CALLS = {
    "too many players": (
        lambda: tp.Explainer(plain, np.arange(3000.0).reshape(100, 30)),
        ValueError,
        r"107,374,182,400 model rows and a table of 8\.0 GiB",
    ),
    "too many players, exactly": (
        lambda: tp.Explainer(plain, np.ones((1, 45)), engine="exact"),
        ValueError,
        "group features",
    ),
    "NaN from the model": (
        lambda: tp.Explainer(lambda z: np.where(z[:, 0] == 0, np.nan, 1.0), BACKGROUND, policy="shapley")(
            [[1.0, 2.0, 3.0]]
        ),
        ValueError,
        r"gave nan for background row 0 \(coalition \{\}\)",
    ),
    "infinity on a hybrid row": (
        lambda: tp.Explainer(
            lambda z: np.where((z[:, 0] == 1) & (z[:, 1] == 4), np.inf, 1.0), BACKGROUND, policy="shapley"
        )([[1.0, 2.0, 3.5]]),
        ValueError,
        r"gave inf for explained row 0 with coalition \{x0",
    ),
    "a wrong shape": (
        lambda: tp.Explainer(lambda z: np.ones(3), BACKGROUND)(BACKGROUND),
        ValueError,
        r"gave shape \(3,\) for 4 rows",
    ),
    "a cube": (
        lambda: tp.Explainer(lambda z: np.ones((len(z), 1, 1)), BACKGROUND)(BACKGROUND),
        ValueError,
        r"gave shape \(4, 1, 1\)",
    ),
    "strings": (
        lambda: tp.Explainer(lambda z: np.array(["yes"] * len(z)), BACKGROUND)(BACKGROUND),
        TypeError,
        "real numbers are needed",
    ),
    "objects": (
        lambda: tp.Explainer(lambda z: np.array([None] * len(z)), BACKGROUND)(BACKGROUND),
        TypeError,
        "objects such as None",
    ),
    "complex numbers": (
        lambda: tp.Explainer(lambda z: 1j * np.ones(len(z)), BACKGROUND)(BACKGROUND),
        TypeError,
        "complex128",
    ),
    "the model raises": (
        lambda: tp.Explainer(lambda z: z["nope"], FRAME)(FRAME),
        ValueError,
        r"raised KeyError on explained row 0 \(coalition of all players\): ",
    ),
    "a random model": (
        lambda: tp.Explainer(lambda z: np.random.default_rng().normal(size=len(z)), BACKGROUND)(BACKGROUND),
        ValueError,
        "answers differently on the same rows",
    ),
    "a missing column": (lambda: tp.Explainer(plain, FRAME)(FRAME[["a", "b"]]), ValueError, r"missing \['c'\]"),
    "an extra column": (
        lambda: tp.Explainer(plain, FRAME)(FRAME.assign(d=1)),
        ValueError,
        r"not in the background \['d'\]",
    ),
    "other columns": (
        lambda: tp.Explainer(plain, BACKGROUND)(np.ones((2, 4))),
        ValueError,
        r"X has shape \(2, 4\); the background has 3 columns",
    ),
    "a number": (lambda: tp.Explainer(plain, BACKGROUND)(3.0), ValueError, r"X has shape \(\)"),
    "no labels for AUC": (
        lambda: tp.Explainer(plain, BACKGROUND, utility="inclusion_auc")(BACKGROUND),
        ValueError,
        r"pass y",
    ),
    "labels of another length": (
        lambda: tp.Explainer(plain, BACKGROUND, utility="inclusion_auc")(BACKGROUND, [1, 0]),
        ValueError,
        r"y has shape \(2,\)",
    ),
    "an unknown utility": (
        lambda: tp.Explainer(plain, BACKGROUND, utility="inclusion_aupp"),
        ValueError,
        "Did you mean 'inclusion_aup'",
    ),
    "an unknown policy": (
        lambda: tp.Explainer(plain, BACKGROUND, policy="optimum"),
        ValueError,
        "Did you mean 'optimal'",
    ),
    "an unknown masking": (
        lambda: tp.Explainer(plain, BACKGROUND, masking="marginale"),
        ValueError,
        "Did you mean 'marginal'",
    ),
    "an unknown engine": (lambda: tp.Explainer(plain, BACKGROUND, engine="exakt"), ValueError, "Did you mean 'exact'"),
    "an unknown link": (
        lambda: tp.Explainer(plain, BACKGROUND, link="probit"),
        ValueError,
        "link='probit' is not known",
    ),
    "an unknown option": (
        lambda: tp.Explainer(plain, BACKGROUND, candidate=3),
        ValueError,
        "Did you mean 'candidates'",
    ),
    "an unknown output": (
        lambda: tp.Explainer(lambda z: np.ones((len(z), 2)), BACKGROUND, output=7)(BACKGROUND),
        ValueError,
        "output=7 is not known",
    ),
    "no background": (lambda: tp.Explainer(plain, None), TypeError, "background is None"),
    "an empty background": (lambda: tp.Explainer(plain, BACKGROUND[:0]), ValueError, "background has no rows"),
    "a background without columns": (lambda: tp.Explainer(plain, np.ones((3, 0))), ValueError, "at least one column"),
    "repeated column names": (
        lambda: tp.Explainer(plain, pd.DataFrame(BACKGROUND, columns=["a", "a", "b"])),
        ValueError,
        "several columns named",
    ),
    "a class for a model": (lambda: tp.Explainer(XGBClassifier, BACKGROUND), TypeError, "Pass an instance"),
    "a number for a model": (lambda: tp.Explainer(3, BACKGROUND), TypeError, "model has type int"),
    "a classifier without probabilities": (
        lambda: tp.Explainer(LinearSVC().fit(BACKGROUND, [0, 1, 0, 1]), BACKGROUND),
        TypeError,
        "pass model.decision_function",
    ),
    "a negative seed": (
        lambda: tp.Explainer(plain, BACKGROUND, random_state=-1),
        ValueError,
        "random_state=-1 is negative",
    ),
    "a seed of text": (
        lambda: tp.Explainer(plain, BACKGROUND, random_state="one"),
        TypeError,
        "random_state='one' has type str",
    ),
    "no threads": (lambda: tp.Explainer(plain, BACKGROUND, n_jobs=0), ValueError, "n_jobs=0"),
    "a memory of words": (lambda: tp.Explainer(plain, BACKGROUND, max_memory="lots"), ValueError, "max_memory='lots'"),
    "a group of unknown columns": (
        lambda: tp.Explainer(plain, FRAME, groups={"g": ["a", "z"]}),
        ValueError,
        "names the column 'z'",
    ),
    "a column in two groups": (
        lambda: tp.Explainer(plain, FRAME, groups={"g": ["a"], "h": ["a"]}),
        ValueError,
        "belongs to both",
    ),
    "too few group labels": (
        lambda: tp.Explainer(plain, FRAME, groups=["g", "h"]),
        ValueError,
        "2 labels for 3 columns",
    ),
    "a cell that does not fit": (
        lambda: tp.Explainer(plain, np.arange(6).reshape(2, 3))([[0.5, 1, 2]]),
        ValueError,
        "not every cell fits",
    ),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_bad_input_is_refused_with_what_to_change(case):
    call, error, message = BAD_CALLS[case]
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "option",
    [
        {"candidates": 0},
        {"alpha": -1.0},
        {"draws": "sharde"},
        {"margin": "wide"},
        {"node_limit": -1},
        {"time_limit": "long"},
        {"policy": "shares"},
        {"policy": "shapley", "shares": {3: [0.5, 0.5, 0.0]}},
    ],
)
def test_the_constructor_refuses_options_no_policy_could_use(option):
    with pytest.raises((ValueError, TypeError), match=list(option)[-1]):
        tp.Explainer(plain, BACKGROUND, **option)


def test_an_error_of_the_model_names_the_row_and_coalition_that_caused_it():
    """It named the first row of the batch."""

    def model(rows):
        if ((rows[:, 0] == 77) & (rows[:, 1] != 78) & (rows[:, 2] == 79)).any():
            msg = "no such branch"
            raise OSError(msg)
        return rows[:, 0]

    for background in (BACKGROUND, FRAME.to_numpy(dtype=object)):
        with pytest.raises(ValueError, match=r"OSError on explained row 1 with coalition \{x0, x2\}: no") as caught:
            tp.Explainer(model, background)(np.array([[1.0, 2.0, 3.5], [77.0, 78.0, 79.0]]))
        assert isinstance(caught.value.__cause__, OSError)


def test_an_error_that_comes_once_names_where_its_batch_began():
    calls = iter(range(9))

    def model(rows):
        if next(calls) == 3:
            msg = "line is busy"
            raise OSError(msg)
        return rows[:, 0]

    with pytest.raises(ValueError, match=r"the first of its \d+ rows is explained row 0 "):
        tp.Explainer(model, BACKGROUND + 0.5)(BACKGROUND[:1])


def test_an_interrupted_call_leaves_nothing_behind():
    """What it had asked of the model was counted as the next explanation's."""
    expected = tp.Explainer(plain, BACKGROUND, random_state=0)(BACKGROUND[:2])
    calls = iter(range(99))

    def model(rows):
        if next(calls) == 3:
            raise KeyboardInterrupt
        return plain(rows)

    for n_jobs in (None, 2):
        calls = iter(range(99))
        explainer = tp.Explainer(model, BACKGROUND, random_state=0, n_jobs=n_jobs)
        with pytest.raises(KeyboardInterrupt):
            explainer(BACKGROUND[:2])
        explanation = explainer(BACKGROUND[:2])
        assert np.array_equal(explanation.values, expected.values)
        assert explanation.provenance["model_rows_evaluated"] <= expected.provenance["model_rows_evaluated"]


def test_an_error_of_the_model_is_chained(iris):
    def model(rows):
        msg = "no such table"
        raise OSError(msg)

    with pytest.raises(ValueError, match="no such table") as caught:
        tp.Explainer(model, iris[0][:5])(iris[0][:2])
    assert isinstance(caught.value.__cause__, OSError)


def test_a_classifier_with_probabilities_of_its_own_accord_works(iris):
    model = SVC(probability=True, random_state=0).fit(iris[0], iris[1] == 1) if hasattr(SVC(), "probability") else None
    if model is not None and hasattr(model, "predict_proba"):
        explanation = tp.Explainer(model, iris[0][:10], output=True, policy="shapley")(iris[0][:2])
        assert explanation.values.shape == (2, 4)
