"""The surrogate: backends, losses, saving, sharing, and the paper's recipe."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import taylorpoda as tp
from taylorpoda._support.progress import ProgressBar
from taylorpoda.games.masking.conditional import training
from taylorpoda.games.masking.conditional.network import NumpyNetwork, activate, initial_parameters
from taylorpoda.games.masking.conditional.sampling import draw_coalitions
from taylorpoda.games.masking.conditional.torch_network import TorchNetwork
from taylorpoda.games.tables import read_table

generator = np.random.default_rng(0)
ROWS = generator.standard_normal((500, 4)).cumsum(axis=1)


def model(x):
    return x[:, 0] * x[:, 1] + x[:, 3]


def probabilities(x):
    scores = np.exp(x[:, :3])
    return scores / scores.sum(axis=1, keepdims=True)


def all_values(surrogate, rows):
    coalitions = (np.arange(2**4)[:, None] >> np.arange(4)) & 1 == 1
    return surrogate.values(read_table(ROWS, "background").read(rows, "rows"), coalitions)


@pytest.fixture(scope="module")
def surrogate():
    return tp.masking.Conditional(seed=0).train(model, ROWS)


def test_the_same_seed_gives_the_same_surrogate_and_the_global_state_stays(surrogate):
    np.random.seed(3)  # noqa: NPY002 - the global state is what is checked
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - what must stay untouched
    again = tp.masking.Conditional(seed=0).train(model, ROWS)
    other = tp.masking.Conditional(seed=1).train(model, ROWS)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002 - what must stay untouched
    assert np.array_equal(all_values(surrogate, ROWS[:5]), all_values(again, ROWS[:5]))
    assert not np.array_equal(all_values(surrogate, ROWS[:5]), all_values(other, ROWS[:5]))


def test_saved_and_loaded_it_answers_the_same(surrogate, tmp_path):
    path = tmp_path / "surrogate.any"
    surrogate.save(path)
    loaded = tp.masking.load_surrogate(path)
    assert path.exists()
    assert np.array_equal(all_values(surrogate, ROWS[:5]), all_values(loaded, ROWS[:5]))
    assert loaded.describe() == surrogate.describe()
    (tmp_path / "other").write_text("nothing")
    with pytest.raises(ValueError, match=r"holds no surrogate written by Surrogate\.save"):
        tp.masking.load_surrogate(tmp_path / "other")


def mixed_frame(rows):
    drawn = np.random.default_rng(rows)
    return pd.DataFrame(
        {
            "a": np.where(drawn.random(rows) < 0.2, np.nan, drawn.standard_normal(rows)),
            "c": drawn.choice(["u", "v", None], rows),
            "b": drawn.random(rows) < 0.3,
            "k": 3.0,
            "d": drawn.standard_normal(rows),
        }
    )


def mixed_model(frame):
    score = np.nan_to_num(frame["a"]) + (frame["c"] == "u") + frame["b"] * frame["d"]
    share = 1 / (1 + np.exp(-score.to_numpy()))
    return np.stack([share, 0.3 * (1 - share), 0.7 * (1 - share)], axis=1)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_what_is_saved_serves_explainers_of_frames_groups_and_outputs_to_the_bit(backend, tmp_path):
    groups = {"a and b": ["a", "b"], "c": ["c"], "k": ["k"], "d": ["d"]}
    rule = tp.masking.Conditional(seed=3, backend=backend, steps=40)
    trained = rule.train(mixed_model, mixed_frame(200), groups=groups)
    trained.save(str(tmp_path / "a file"))
    assert [path.name for path in tmp_path.iterdir()] == ["a file"]
    loaded = tp.masking.load_surrogate(tmp_path / "a file")
    rows = mixed_frame(5)
    found = [
        tp.Explainer(mixed_model, mixed_frame(50), masking=each, groups=groups, policy="shapley", random_state=0)(rows)
        for each in (trained, loaded)
    ]
    assert found[0].values.shape == (5, 4, 3)
    assert np.array_equal(found[0].values, found[1].values)
    told = [{name: each.provenance[name] for name in trained.describe()} for each in found]
    assert told == [trained.describe()] * 2
    assert trained.describe()["backend"] == backend
    assert trained.describe()["steps"] == 40


def test_damaged_files_are_refused(surrogate, tmp_path):
    surrogate.save(tmp_path / "whole")
    with np.load(tmp_path / "whole") as file:
        arrays = dict(file)
    for missing in arrays:
        np.savez(tmp_path / "part.npz", **{name: array for name, array in arrays.items() if name != missing})
        if missing == "base":  # the recipe's surrogates have none
            assert tp.masking.load_surrogate(tmp_path / "part.npz").base is None
            continue
        with pytest.raises(ValueError, match=r"holds no surrogate|damaged parts"):
            tp.masking.load_surrogate(tmp_path / "part.npz")
    for content in (b"", (tmp_path / "whole").read_bytes()[:5000]):
        (tmp_path / "cut").write_bytes(content)
        with pytest.raises(ValueError, match="holds no surrogate"):
            tp.masking.load_surrogate(tmp_path / "cut")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        tp.masking.load_surrogate(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError, match="make it first"):
        surrogate.save(tmp_path / "no folder" / "file")


def test_without_torch_numpy_learns_and_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr("taylorpoda.games.masking.conditional.rule.find_spec", lambda name: None)
    monkeypatch.setattr("taylorpoda.games.masking.conditional.recipe._EPOCHS", 1)
    for kind in ("ours", "paper"):
        explainer = tp.Explainer(model, ROWS, masking=tp.masking.Conditional(kind, steps=20), policy="shapley")
        assert explainer(ROWS[:1]).provenance["backend"] == "numpy"
    with pytest.raises(ImportError, match=r"needs torch: pip install 'taylorpoda\[torch\]'"):
        tp.masking.Conditional(backend="torch").train(model, ROWS)


def test_training_stops_once_held_out_rows_say_so():
    """Noise that no feature tells anything about: every step makes held-out rows worse."""
    noise = np.random.default_rng(1).standard_normal(500)
    trained = tp.masking.Conditional(seed=0, steps=400).train(lambda x: noise[: len(x)], ROWS)
    assert trained.describe()["steps"] < 400
    assert trained.describe()["heldout_error"] < 1.2 * trained.describe()["trivial_error"]
    few = tp.masking.Conditional(seed=0).train(model, ROWS[:20])
    assert few.describe()["steps"] == 0  # the linear part alone
    assert not few.parameters


def test_training_shows_its_progress(monkeypatch):
    shown = []

    class Watching(ProgressBar):
        def __init__(self, description, total):
            super().__init__(description, total)
            shown.append((description, total, self))

    monkeypatch.setattr(training, "ProgressBar", Watching)
    tp.masking.Conditional(seed=0, steps=25).train(model, ROWS)
    assert [(text, total) for text, total, _ in shown] == [("training the surrogate", 25)]
    assert shown[0][2]._done == 25


def test_it_serves_other_backgrounds_and_models_of_the_same_output(surrogate):
    first = tp.Explainer(model, ROWS[:20], masking=surrogate, policy="shapley")(ROWS[:3])
    second = tp.Explainer(lambda x: model(x) + 1, ROWS[50:60], masking=surrogate, policy="shapley")(ROWS[:3])
    assert np.abs(first.values.sum(axis=1) + 1 - second.values.sum(axis=1)).max() < 1e-9
    assert first.provenance["masking"] == "conditional"
    assert first.provenance["heldout_error"] > 0
    with pytest.raises(ValueError, match="trained on 1 outputs, the model has 3"):
        tp.Explainer(probabilities, ROWS, masking=surrogate)
    with pytest.raises(ValueError, match="train another one for other groups"):
        tp.Explainer(model, ROWS, masking=surrogate, groups={"pair": [0, 1]})
    with pytest.raises(ValueError, match="trained on the columns"):
        tp.Explainer(lambda x: x[:, 0], ROWS[:, :3], masking=surrogate)


def test_empty_and_full_coalitions_are_known(surrogate):
    assert np.abs(all_values(surrogate, ROWS[:5])[:, 0, 0] - model(ROWS).mean()).max() < 1e-12
    explanation = tp.Explainer(model, ROWS, masking=surrogate, policy="shapley")(ROWS[:5])
    assert np.array_equal(explanation.predictions, model(ROWS[:5]))


def test_every_background_row_is_asked_once():
    asked = []

    def counting(x):
        asked.append(len(x))
        return model(x)

    tp.masking.Conditional(seed=0, steps=20).train(counting, ROWS)
    assert asked == [500]


def test_both_backends_learn_the_same():
    trained = [tp.masking.Conditional(seed=0, backend=name).train(model, ROWS) for name in ("numpy", "torch")]
    numpy_values, torch_values = (all_values(each, ROWS[:20]) for each in trained)
    assert np.abs(numpy_values - torch_values).mean() < 0.05 * model(ROWS).std()
    assert [each.describe()["backend"] for each in trained] == ["numpy", "torch"]


@pytest.mark.parametrize("activation", ["silu", "elu"])
def test_one_step_of_the_numpy_network_is_one_step_of_torch(activation):
    start = initial_parameters([5, 8, 8, 2], np.random.default_rng(0), still=False)
    inputs = generator.standard_normal((16, 5)).astype(np.float32)
    gradient = generator.standard_normal((16, 2)).astype(np.float32)
    ours = NumpyNetwork([p.copy() for p in start], activation, (0.9, 0.99))
    theirs = TorchNetwork(start, activation, (0.9, 0.99), "cpu")
    for _ in range(3):
        assert np.abs(ours.forward(inputs) - theirs.forward(inputs)).max() < 1e-5
        ours.learn(gradient, 0.01)
        theirs.learn(gradient, 0.01)
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert np.abs(mine - other).max() < 1e-5


@pytest.mark.parametrize("activation", ["silu", "elu"])
def test_derivatives_are_derivatives(activation):
    values = np.linspace(-4, 4, 41)
    _, slope = activate(activation, values, slope=True)
    step = 1e-6
    numeric = (activate(activation, values + step)[0] - activate(activation, values - step)[0]) / (2 * step)
    assert np.abs(numeric - slope).max() < 1e-6


def test_probabilities_stay_probabilities():
    trained = tp.masking.Conditional(seed=0).train(probabilities, ROWS)
    values = all_values(trained, ROWS[:20])
    assert trained.describe()["loss"] == "softmax"
    assert (values > 0).all()
    assert np.abs(values.sum(axis=2) - 1).max() < 1e-12
    with pytest.raises(ValueError, match="needs outputs from 0 to 1"):
        tp.masking.Conditional(loss="kl").train(model, ROWS)
    one = tp.masking.Conditional(seed=0, loss="kl").train(lambda x: probabilities(x)[:, 0], ROWS)
    assert one.describe()["loss"] == "sigmoid"
    assert abs(float(all_values(one, ROWS[:1])[0, 0, 0]) - probabilities(ROWS)[:, 0].mean()) < 1e-12


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_the_recipe_of_the_paper_trains(backend, monkeypatch):
    monkeypatch.setattr("taylorpoda.games.masking.conditional.recipe._EPOCHS", 15)
    monkeypatch.setattr("taylorpoda.games.masking.conditional.recipe._COALITIONS_PER_ROW", 16)
    trained = tp.masking.Conditional("paper", backend=backend, seed=0).train(model, ROWS)
    full = all_values(trained, ROWS[:100])[:, -1, 0]
    assert trained.describe()["surrogate"] == "paper"
    assert [array.shape for array in trained.parameters[::2]] == [(8, 128), (128, 128), (128, 1)]
    assert np.square(full - model(ROWS[:100])).mean() < 0.5 * model(ROWS).var()


def test_ours_beats_the_recipe_on_held_out_rows(monkeypatch):
    monkeypatch.setattr("taylorpoda.games.masking.conditional.recipe._COALITIONS_PER_ROW", 16)
    fresh = np.random.default_rng(5).standard_normal((300, 4)).cumsum(axis=1)
    coalitions = draw_coalitions(np.random.default_rng(6), 60, 4, 3)
    table = read_table(ROWS, "background").read(fresh, "rows")
    errors = []
    for kind in ("ours", "paper"):
        trained = tp.masking.Conditional(kind, backend="numpy", seed=0).train(model, ROWS)
        errors.append(np.square(trained.values(table, coalitions)[:, :, 0] - model(fresh)[:, None]).mean())
    assert errors[0] < 1.02 * errors[1]


@given(n=st.integers(2, 12), count=st.integers(1, 60), seed=st.integers(0, 1000))
def test_every_size_is_drawn_equally_often(n, count, seed):
    sizes = draw_coalitions(np.random.default_rng(seed), count, n, n - 1).sum(axis=1)
    often = np.bincount(sizes, minlength=n)[1:n]
    assert sizes.min() >= 1
    assert sizes.max() <= n - 1
    assert often.max() - often.min() <= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"surrogate": "our"}, "Did you mean 'ours'"),
        ({"backend": "jax"}, "Allowed: 'auto', 'numpy', 'torch'"),
        ({"loss": "mse"}, "Allowed: 'auto', 'kl', 'squared'"),
        ({"steps": 0}, "steps=0 is not allowed"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        tp.masking.Conditional(**options)


@pytest.mark.parametrize("rule", [tp.masking.Conditional, tp.masking.Gaussian, tp.masking.Copula])
def test_a_bad_seed_is_named(rule):
    with pytest.raises(ValueError, match=r"^seed=-1 is negative"):
        rule(seed=-1)
    with pytest.raises(TypeError, match=r"^seed='a' has type str"):
        rule(seed="a")


def test_wide_tables_are_read_without_the_linear_part():
    rows = generator.standard_normal((120, 150))
    trained = tp.masking.Conditional(seed=0, steps=10).train(lambda x: x[:, 0], rows)
    assert trained.linear.plain
    coalitions = generator.random((7, 150)) < 0.5
    values = trained.values(read_table(rows, "rows"), coalitions)
    assert values.shape == (120, 7, 1)
    assert np.isfinite(values).all()
