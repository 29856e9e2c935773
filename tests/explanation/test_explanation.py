"""The result: a frozen value that adds up, slices, and allocates anew without a model call."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import shap
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import taylorpoda as tp

UTILITIES = ("inclusion_aup", "exclusion_aup", "inclusion_mse", "exclusion_mse", "inclusion_auc", "exclusion_auc")


class CountingModel:
    """A classifier that counts the rows it is asked about."""

    def __init__(self, forest):
        self.forest, self.classes_, self.rows = forest, forest.classes_, 0

    def predict(self, rows):
        return self.forest.predict(rows)

    def predict_proba(self, rows):
        self.rows += len(rows)
        return self.forest.predict_proba(rows)


@pytest.fixture(scope="module")
def data():
    rows, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    return rows.set_index(pd.Index([f"plant {k}" for k in range(len(rows))])), pd.Series(names[y], index=rows.index)


@pytest.fixture(scope="module")
def model(data):
    return CountingModel(RandomForestClassifier(7, max_depth=4, random_state=0).fit(*data))


@pytest.fixture(scope="module")
def explanation(data, model):
    explainer = tp.Explainer(model, data[0][::6], policy="dirichlet", random_state=3)
    return explainer(data[0][::15], data[1][::15])


def test_it_is_frozen(explanation):
    with pytest.raises(FrozenInstanceError):
        explanation.policy = "shapley"
    with pytest.raises(TypeError):
        explanation.provenance["engine"] = "guess"


@pytest.mark.parametrize(
    "name",
    ["values", "base_values", "predictions", "lower", "upper", "score", "shapley_score", "discrepancy", "rounding"],
)
def test_its_numbers_cannot_be_written_to(explanation, name):
    """Predictions were a window into the stored game: writing to them changed every later answer."""
    with pytest.raises(ValueError, match="read-only"):
        getattr(explanation, name)[0] = 1.0


def test_it_keeps_the_rows_it_explained(data, model):
    rows = data[0].iloc[:3].copy()
    explanation = tp.Explainer(model, data[0][::30], policy="shapley")(rows)
    rows.iloc[0, 0] = -1.0
    assert explanation.data.equals(data[0].iloc[:3])
    array = np.ones((2, 3))
    explanation = tp.Explainer(lambda z: z[:, 0], np.zeros((1, 3)), policy="shapley")(array)
    array[:] = 5.0
    assert np.array_equal(explanation.data, np.ones((2, 3)))


def test_empty_and_boolean_subscripts(explanation):
    """An empty list was refused, and a list of booleans was read as the outputs 1 and 0."""
    assert explanation[[]].values.shape == (0, 4, 3)
    assert explanation[..., [True, False, True]].output_names == ("setosa", "virginica")
    assert explanation[..., np.array([False, True, False])].output_names == ("versicolor",)
    nothing = explanation[..., []]
    assert nothing.values.shape == (10, 4, 0)
    assert "No outputs" in nothing._repr_html_()
    with pytest.raises(IndexError, match="2 booleans"):
        explanation[..., [True, False]]


def test_reallocation_records_the_seed_it_used(explanation):
    """Fresh entropy was recorded as None, and a generator as itself."""
    for state in (None, np.random.default_rng(0)):
        again = explanation.reallocate(random_state=state)
        seed = again.provenance["seed"]
        assert isinstance(seed, int)
        assert np.array_equal(explanation.reallocate(random_state=seed).values, again.values)


def test_it_says_where_it_came_from(data, model):
    before = model.rows
    explanation = tp.Explainer(model, data[0][::6], policy="shapley", random_state=3)(data[0][::15])
    where = explanation.provenance
    assert where["engine"] == explanation.engine == "exact"
    assert where["masking"] == "marginal"
    assert where["seed"] == 3
    assert where["model_rows_evaluated"] == model.rows - before
    assert set(where["versions"]) >= {"taylorpoda", "python", "numpy"}
    assert where["background_rows"] == 25
    assert where["policy"] == "shapley"


def test_repr_is_readable_and_says_what_was_proven(explanation):
    text = repr(explanation)
    assert "10 rows x 4 features x 3 outputs" in text
    assert "policy='dirichlet'" in text
    assert "adds up" in text
    assert all(len(line) < 200 for line in text.splitlines())
    assert "<table" in explanation._repr_html_()


def test_slices_by_row_and_output(explanation):
    assert explanation[2].values.shape == (1, 4, 3)
    assert explanation[2:5].values.shape == (3, 4, 3)
    assert explanation[-1].predictions.tolist() == explanation.predictions[-1:].tolist()
    assert explanation[..., "versicolor"].values.shape == (10, 4)
    assert explanation[:, 1].output_names == ("versicolor",)
    assert explanation[1:3, ["setosa", "virginica"]].values.shape == (2, 4, 2)
    assert np.array_equal(explanation[[3, 1], 2].values, explanation.values[[3, 1], :, 2])
    assert np.array_equal(explanation[4, 2].score, explanation.score[[4], 2])
    assert np.array_equal(explanation[2:5][1].lower, explanation.lower[[3]])
    assert explanation[2:5].data.index.tolist() == explanation.data.index[2:5].tolist()
    ours, theirs = explanation[4, 2].shares(0), explanation.shares(4, 2)
    assert list(ours) == list(theirs)
    assert all(np.array_equal(ours[s], theirs[s]) for s in ours)


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (10, IndexError, "row 10 is out of range"),
        ((0, "rose"), ValueError, "output='rose' is not known"),
        ((0, 5), ValueError, "output=5 is not known"),
        (("setosa",), IndexError, r"\[rows\] or \[rows, output\]"),
        (1.5, TypeError, "rows are selected by"),
    ],
)
def test_bad_slices_say_why(explanation, key, error, message):
    with pytest.raises(error, match=message):
        explanation[key]


def test_the_frame_keeps_the_row_index(explanation):
    frame = explanation.to_frame()
    assert frame.index.tolist() == explanation.data.index.tolist()
    assert frame.columns.names == ["output", "feature"]
    assert np.array_equal(frame["versicolor"].to_numpy(), explanation.values[..., 1])
    assert np.array_equal(explanation.to_frame("versicolor").to_numpy(), explanation.values[..., 1])
    assert explanation[..., 0].to_frame().columns.tolist() == list(explanation.feature_names)


def test_to_shap_is_a_real_shap_explanation(explanation):
    theirs = explanation.to_shap()
    assert isinstance(theirs, shap.Explanation)
    assert np.array_equal(theirs.values, explanation.values)
    assert theirs.feature_names == list(explanation.feature_names)
    shap.plots.waterfall(theirs[0, :, 1], show=False)
    plt.close("all")


@pytest.mark.parametrize("plot", ["waterfall", "bar", "beeswarm", "heatmap", "force", "scatter"])
def test_plots_of_shap_take_one_named_output_and_groups(explanation, data, model, plot):
    """A list of one name was taken for an axis, the cells of a group for rows of different lengths."""
    one = explanation[:, 1].to_shap()
    columns = list(explanation.feature_names)
    grouped = tp.Explainer(model, data[0][:5], output=1, groups={"both": columns[:2]}, policy="shapley")(data[0][:9])
    assert one.output_names == explanation.output_names[1]
    for theirs in (one, grouped.to_shap()):
        if plot == "scatter":
            shap.plots.scatter(theirs[:, columns[2]], show=False)
        elif plot == "force":
            shap.plots.force(theirs[0], matplotlib=True, show=False)
        else:
            getattr(shap.plots, plot)(theirs[0] if plot == "waterfall" else theirs, show=False)
        plt.close("all")


def test_reallocate_and_scores_never_call_the_model(data, explanation, model):
    before = model.rows
    for utility in UTILITIES:
        assert explanation.scores(utility).shape == (10, 3)
        again = explanation.reallocate(utility=utility)
        assert np.abs(again.discrepancy).max() < 1e-12
        better = again.score >= again.shapley_score - 1e-12
        if not again.utility.higher_is_better:
            better = again.score <= again.shapley_score + 1e-12
        assert better.all()
    assert explanation.reallocate("shapley").reallocate("dirichlet").values.shape == (10, 4, 3)
    assert np.array_equal(explanation.reallocate("shapley").reallocate("dirichlet").values, explanation.values)
    explanation.interactions(3)
    explanation.dividends(0, "setosa")
    assert model.rows == before


def test_labels_may_come_late_but_must_come(data, model):
    explanation = tp.Explainer(model, data[0][::6], policy="shapley")(data[0][::15])
    with pytest.raises(ValueError, match="pass y"):
        explanation.reallocate(utility="inclusion_auc")
    with pytest.raises(ValueError, match="target"):
        explanation.scores("inclusion_auc")
    assert explanation.scores("inclusion_auc", y=data[1][::15]).shape == (10, 3)
    with pytest.raises(ValueError, match="y holds 'tulip', which is none of the model's classes"):
        explanation.scores("inclusion_auc", y=["tulip"] * 10)


def test_interactions_are_dividends(explanation, brute_dividends):
    pairs, triples = explanation.interactions(2), explanation.interactions(3)
    assert pairs.shape == (10, 4, 4, 3)
    for row, output in ((0, 0), (7, 2)):
        dividends = brute_dividends(explanation.games.values[row, output])
        for i in range(4):
            for j in range(4):
                assert abs(pairs[row, i, j, output] - dividends[(1 << i) | (1 << j)]) < 1e-12
                for k in range(4):
                    assert abs(triples[row, i, j, k, output] - dividends[(1 << i) | (1 << j) | (1 << k)]) < 1e-12
    with pytest.raises(ValueError, match="order=5 is out of range; allowed: 1 to 4"):
        explanation.interactions(5)


def test_dividends_of_one_row_and_output(explanation, brute_dividends):
    got = explanation.dividends(3, "virginica")
    assert np.abs(got - brute_dividends(explanation.games.values[3, 2])).max() < 1e-12
    with pytest.raises(ValueError, match="3 outputs are explained"):
        explanation.dividends(3)


def test_shares_rebuild_the_attributions(explanation):
    for output in range(3):
        dividends, shares = explanation.dividends(4, output), explanation.shares(4, output)
        rebuilt = np.array([dividends[1 << j] for j in range(4)])
        for coalition, share in shares.items():
            assert abs(share.sum() - 1) < 1e-12
            assert (share >= 0).all()
            rebuilt += share * dividends[coalition]
        assert np.abs(rebuilt - explanation.values[4, :, output]).max() < 1e-12


def test_attributions_lie_in_their_intervals(explanation):
    assert (explanation.values >= explanation.lower - 1e-12).all()
    assert (explanation.values <= explanation.upper + 1e-12).all()


def test_a_user_s_own_shares(data, model):
    shapley = tp.Explainer(model, data[0][::6], policy="shapley", output="setosa")(data[0][:3])
    own = np.zeros((16, 4))
    for mask in range(1, 16):
        own[mask, mask.bit_length() - 1] = 1.0
    explanation = shapley.reallocate("shares", shares=own)
    dividends = shapley.dividends(1)
    expected = [sum(dividends[mask] for mask in range(1, 16) if mask.bit_length() - 1 == j) for j in range(4)]
    assert np.abs(explanation.values[1] - expected).max() < 1e-12


def test_an_unknown_attribute_is_an_attribute_error(explanation):
    with pytest.raises(AttributeError, match="no attribute 'valuess'"):
        _ = explanation.valuess
    assert not hasattr(explanation, "__array_interface__")


def test_attributions_that_do_not_add_up_are_refused(explanation):
    from dataclasses import replace

    from taylorpoda.explanation import DiscrepancyError

    wrong = replace(explanation.allocation, attributions=np.asarray(explanation.allocation.attributions) + 1e-6)
    with pytest.raises(DiscrepancyError, match="left over"):
        replace(explanation, allocation=wrong)
