"""torch modules: evaluated as they are, left as they were."""

from __future__ import annotations

import pickle
import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp

torch = pytest.importorskip("torch")


@pytest.fixture
def module():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
    )


def flags(module):
    return [part.training for part in module.modules()]


def test_dropout_is_off_while_it_is_explained_and_back_on_afterwards(module, iris):
    X, _ = iris
    module.train()
    module[2].eval()  # a frozen batch norm inside a module in training
    before = flags(module)
    explanation = tp.Explainer(module, X[::10].to_numpy(), policy="shapley")(X[:3].to_numpy())
    assert flags(module) == before
    module.eval()
    with torch.no_grad():
        expected = module(torch.tensor(X[:3].to_numpy(), dtype=torch.float32)).numpy()
    assert np.max(np.abs(explanation.predictions - expected)) < 1e-6
    assert np.max(np.abs(explanation.discrepancy)) < 1e-12
    assert explanation.values.shape == (3, 4, 2)


def test_a_module_that_raises_is_given_back_as_it_was(iris):
    class Broken(torch.nn.Module):
        def forward(self, rows):
            raise RuntimeError

    broken = Broken().train()
    with pytest.raises(ValueError, match="the model Broken raised RuntimeError"):
        tp.Explainer(broken, iris[0][:3].to_numpy(), policy="shapley")(iris[0][:1].to_numpy())
    assert broken.training


def test_gradients_are_never_recorded(module, iris):
    seen = []

    class Spy(torch.nn.Module):
        def forward(self, rows):
            seen.append(torch.is_grad_enabled())
            return rows.sum(dim=1)

    tp.Explainer(Spy(), iris[0][:3].to_numpy(), policy="shapley")(iris[0][:1].to_numpy())
    assert seen
    assert not any(seen)
    assert torch.is_grad_enabled()


def test_threads_share_evaluation_mode_and_the_last_one_leaves_it(module, iris):
    from taylorpoda.games.models.torch_models import evaluation_mode

    module.train()
    inside, leave = threading.Event(), threading.Event()

    def other():
        with evaluation_mode(module):
            inside.set()
            leave.wait(5)

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(5)
    with evaluation_mode(module):
        assert not any(flags(module))
    assert not any(flags(module)), "the other thread still computes"
    leave.set()
    thread.join()
    assert all(flags(module))


def test_threads_give_the_same_answers(module, iris):
    X = iris[0].to_numpy()
    module.eval()
    one = tp.Explainer(module, X[::10], policy="shapley")(X[:8])
    many = tp.Explainer(module, X[::10], policy="shapley", n_jobs=3)(X[:8])
    assert np.max(np.abs(one.values - many.values)) < 1e-6


def test_frames_tensors_and_arrays_are_all_read(module, iris):
    X, _ = iris
    module.eval()
    expected = tp.Explainer(module, X[::10].to_numpy(), policy="shapley")(X[:2].to_numpy()).values
    for kind in (lambda part: part, lambda part: torch.tensor(part.to_numpy()), lambda part: part.astype("float32")):
        values = tp.Explainer(module, kind(X[::10]), policy="shapley")(kind(X[:2])).values
        assert np.max(np.abs(values - expected)) < 1e-5


def test_integers_stay_integers_for_an_embedding():
    embedding = torch.nn.Sequential(torch.nn.Embedding(5, 3), torch.nn.Flatten(), torch.nn.Linear(6, 1))
    rows = np.random.default_rng(0).integers(0, 5, size=(8, 2))
    explanation = tp.Explainer(embedding, rows, policy="shapley")(rows[:2])
    assert explanation.values.shape == (2, 2)


def test_a_column_of_text_is_refused_with_the_reason(module):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"], "c": [1.0, 2.0], "d": [1.0, 2.0]})
    with pytest.raises(ValueError, match="a torch module reads numbers"):
        tp.Explainer(module, frame, policy="shapley")(frame[:1])


def test_what_is_no_tensor_is_refused(iris):
    class Pair(torch.nn.Module):
        def forward(self, rows):
            return rows[:, 0], rows[:, 1]

    with pytest.raises(ValueError, match=r"the module returned a tuple of 2; a tensor .* wrap the module"):
        tp.Explainer(Pair(), iris[0][:3].to_numpy(), policy="shapley")(iris[0][:1].to_numpy())


@pytest.mark.parametrize(
    "pack",
    [lambda y: (y,), lambda y: [y], lambda y: {"logits": y, "states": y[:, :1]}, lambda y: SimpleNamespace(logits=y)],
    ids=["tuple", "list", "dict", "object"],
)
def test_one_tensor_in_a_wrapping_is_that_tensor(pack, module, iris):
    class Wrapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = module

        def forward(self, rows):
            return pack(self.inner(rows))

    X = iris[0].to_numpy()
    module.eval()
    plain = tp.Explainer(module, X[::10], policy="shapley")(X[:2])
    assert np.array_equal(tp.Explainer(Wrapped(), X[::10], policy="shapley")(X[:2]).values, plain.values)


def test_an_explainer_of_a_module_pickles(module, iris):
    X = iris[0].to_numpy()
    module.eval()
    explainer = tp.Explainer(module, X[::10], policy="shapley")
    again = pickle.loads(pickle.dumps(explainer))
    assert np.array_equal(again(X[:2]).values, explainer(X[:2]).values)
