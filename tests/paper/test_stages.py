from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from taylorpoda.datasets import Dataset
from taylorpoda.paper.attributions import attribute
from taylorpoda.paper.networks import Network
from taylorpoda.paper.parallel import TaskError, one_thread, run_all
from taylorpoda.paper.pipeline import error_by_size
from taylorpoda.paper.sample import sample
from taylorpoda.paper.settings import METHODS, UTILITIES
from taylorpoda.paper.store import Store, content_key
from taylorpoda.paper.task_models import restore, train
from taylorpoda.utilities import score


def dataset(rows=60, task="regression"):
    draw = np.random.default_rng(0)
    features = draw.normal(size=(rows, 3))
    target = np.exp(features[:, 0]) if task == "regression" else (features[:, 0] > 0).astype(np.int64)
    return Dataset("toy", features, target, ("a", "b", "c"), task, "", "", "", verified=True)


def test_a_finished_stage_is_not_made_again(tmp_path):
    seen = []
    store = Store(tmp_path, lambda stage, state: seen.append((stage, state)))
    first = store.product("data", {"a": 1}, lambda: {"x": np.arange(3.0)})
    second = store.product("data", {"a": 1}, lambda: pytest.fail("made again"))
    assert np.array_equal(first.arrays["x"], second.arrays["x"])
    assert first.key == second.key
    assert seen == [("data", "started"), ("data", "finished"), ("data", "cached")]


def test_the_key_is_everything_the_product_was_made_from():
    keys = {content_key("data", inputs) for inputs in ({"a": 1}, {"a": 2}, {"b": 1}, {"a": 1, "b": 1})}
    assert len(keys) == 4
    assert content_key("data", {"a": 1, "b": 2}) == content_key("data", {"b": 2, "a": 1})
    assert content_key("data", {"a": 1}) != content_key("lime", {"a": 1})


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "text"])
def test_a_damaged_product_is_made_again(tmp_path, damage):
    store = Store(tmp_path)
    store.product("data", {}, lambda: {"x": np.random.default_rng(0).normal(size=1000)})
    (path,) = (tmp_path / "data").iterdir()
    content = bytearray(path.read_bytes())
    if damage == "truncate":
        content = content[:-100]
    elif damage == "flip":
        content[len(content) // 2] ^= 255
    else:
        content = bytearray(b"" if damage == "empty" else b"not an archive")
    path.write_bytes(content)
    made = store.product("data", {}, lambda: {"x": np.ones(2)})
    assert np.array_equal(made.arrays["x"], np.ones(2))


def test_an_interrupted_stage_leaves_nothing(tmp_path):
    store = Store(tmp_path)

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.product("data", {}, interrupted)
    assert not list(tmp_path.rglob("*.npz"))


def test_sample_is_disjoint_scaled_and_seeded():
    made = sample(dataset(), rows=10, seed=3)
    assert made["train"].shape == (48, 3)
    assert made["rows"].shape == (10, 3)
    everything = np.concatenate([made["train"], made["rows"]])
    assert everything.min() >= 0.0
    assert everything.max() <= 1.0
    assert len({row.tobytes() for row in everything}) == 58
    assert 0.0 <= made["train_y"].min() <= made["train_y"].max() <= 1.0
    again, other = sample(dataset(), rows=10, seed=3), sample(dataset(), rows=10, seed=4)
    assert np.array_equal(made["rows"], again["rows"])
    assert not np.array_equal(made["rows"], other["rows"])
    fewer = sample(dataset(), rows=4, seed=3)
    assert np.array_equal(fewer["rows"], made["rows"][:4])
    assert np.array_equal(fewer["train"], made["train"])
    with pytest.raises(ValueError, match="holds out only 12"):
        sample(dataset(), rows=13, seed=3)


def test_box_cox_makes_a_lognormal_target_normal():
    from scipy import stats

    draw = np.random.default_rng(0)
    skewed = Dataset(
        "toy",
        draw.normal(size=(2000, 2)),
        np.exp(draw.normal(size=2000)),
        ("a", "b"),
        "regression",
        "",
        "",
        "",
        verified=True,
    )
    made = sample(skewed, rows=10, seed=0)
    assert abs(stats.skew(made["train_y"])) < 0.1


def test_the_rows_are_those_of_the_research_code():
    """Its calls: scikit-learn's split, then numpy's global choice, both with one seed."""
    from sklearn.model_selection import train_test_split

    toy = dataset(683, "classification")
    made = sample(toy, rows=100, seed=2026)
    numbers = np.arange(683)
    train_rows, test_rows = train_test_split(numbers, test_size=0.2, random_state=2026)
    chosen = test_rows[np.random.RandomState(2026).choice(len(test_rows), size=100, replace=False)]
    span = toy.X.max(axis=0) - toy.X.min(axis=0)
    scaled = (toy.X - toy.X.min(axis=0)) / span
    assert np.array_equal(made["train"], scaled[train_rows])
    assert np.array_equal(made["rows"], scaled[chosen])
    assert np.array_equal(made["y"], toy.y[chosen])


def test_drawing_rows_leaves_the_global_state_alone():
    np.random.seed(5)  # noqa: NPY002 - what a user may have done
    expected = np.random.RandomState(5).random(3)
    sample(dataset(), rows=4, seed=1)
    assert np.array_equal(np.random.random(3), expected)  # noqa: NPY002


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", ["tanh", "relu", "logistic", "identity", "xgboost"])
def test_a_restored_model_predicts_what_the_library_predicts(name, task):
    made = sample(dataset(300, task), rows=20, seed=0)
    network = None if name == "xgboost" else Network(name, (8, 4))
    arrays = train(network, task, made["train"], made["train_y"], seed=1)
    found = restore(network, arrays, task)(made["rows"])
    if network is None:
        import xgboost

        if task == "classification":
            model = xgboost.XGBClassifier(random_state=1, n_jobs=1).fit(made["train"], made["train_y"])
        else:
            model = xgboost.XGBRegressor(n_estimators=100, learning_rate=0.1, max_depth=4, random_state=1, n_jobs=1)
            model.fit(made["train"], made["train_y"])
    else:
        from sklearn.neural_network import MLPClassifier, MLPRegressor

        kind = MLPClassifier if task == "classification" else MLPRegressor
        model = kind(hidden_layer_sizes=(8, 4), activation=name, random_state=1)
        model.fit(made["train"], made["train_y"])
    expected = model.predict_proba(made["rows"])[:, 1] if task == "classification" else model.predict(made["rows"])
    assert found.dtype == np.float64
    assert np.max(np.abs(found - expected)) < 1e-12


@pytest.mark.parametrize(("task", "label"), [("classification", "y"), ("classification", "model"), ("regression", "y")])
def test_attribute_gives_every_method_for_every_utility(task, label):
    draw = np.random.default_rng(0)
    table, lime = draw.random((5, 16)), draw.normal(size=(5, 4))
    y = draw.integers(0, 2, 5) if task == "classification" else draw.random(5)
    made = attribute(table, y, lime, task=task, label=label, candidates=16, seed=1)
    target = None
    if task == "classification":
        target = y if label == "y" else (table[:, -1] > 0.5).astype(int)
    for utility in UTILITIES[task]:
        for method in ("SHAP", *METHODS):
            attributions = made[f"attributions/{utility}/{method}"]
            assert attributions.shape == (5, 4)
            assert np.array_equal(made[f"score/{utility}/{method}"], score(attributions, table, utility, target))
            off = table[:, 0] + attributions.sum(axis=1) - table[:, -1]
            assert np.max(np.abs(made[f"discrepancy/{utility}/{method}"] - off)) < 1e-12
        for method in ("SHAP", "TaylorPODA", "TaylorPODA-optimal"):
            assert np.max(np.abs(made[f"discrepancy/{utility}/{method}"])) < 1e-12
        assert made[f"certified/{utility}"].all()
        sign = 1.0 if utility in ("exclusion_aup", "exclusion_mse", "inclusion_auc") else -1.0
        best, ceiling = sign * made[f"score/{utility}/TaylorPODA-optimal"], sign * made[f"ceiling/{utility}"]
        assert np.all(best <= ceiling + 1e-12)
        assert np.all(best >= sign * made[f"score/{utility}/TaylorPODA"] - 1e-12)


def test_every_utility_draws_anew_and_rows_do_not_depend_on_each_other():
    draw = np.random.default_rng(0)
    table, lime, y = draw.random((6, 16)), draw.normal(size=(6, 4)), draw.random(6)
    options = {"task": "regression", "label": "y", "candidates": 16, "seed": 1}
    together = attribute(table, y, lime, **options)
    alone = attribute(table[3:4], y[3:4], lime[3:4], **options)
    for name, array in alone.items():
        assert np.array_equal(together[name][3:4], array), name
    same = [
        np.array_equal(together[f"attributions/{one}/TaylorPODA"], together["attributions/inclusion_aup/TaylorPODA"])
        for one in UTILITIES["regression"][1:]
    ]
    assert not any(same)


def test_error_by_size_by_hand():
    table = np.array([[0.0, 1.0, 2.0, 5.0]])
    assert np.array_equal(error_by_size(table), [25.0, (16.0 + 9.0) / 2, 0.0])


def _square(task, tell):
    tell("model", "started")
    if task < 0:
        msg = f"cannot take {task}"
        raise ValueError(msg)
    if task == 99:
        os._exit(7)


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_task_is_done_and_heard(jobs):
    heard = []
    run_all(_square, [1, 2, 3, 4], jobs=jobs, listen=lambda *event: heard.append(event))
    for number in range(4):
        assert [event[1:] for event in heard if event[0] == number] == [
            ("", "begun"),
            ("model", "started"),
            ("", "done"),
        ]


def test_an_error_in_a_process_reaches_the_caller():
    with pytest.raises(TaskError, match="cannot take -1") as caught:
        run_all(_square, [1, -1, 2], jobs=2, listen=lambda *_: None)
    assert "_square" in caught.value.__notes__[0]
    with pytest.raises(TaskError, match="exit code 7"):
        run_all(_square, [99, 1], jobs=2, listen=lambda *_: None)
    assert not multiprocessing.active_children()
    with pytest.raises(ValueError, match="jobs=0"):
        run_all(_square, [1], jobs=0, listen=lambda *_: None)


def test_processes_die_with_their_parent(tmp_path):
    """A killed run must not leave workers that go on for minutes and write into the cache."""
    (tmp_path / "sleepy.py").write_text(
        "import time\n\ndef sleep(task, tell):\n    tell('model', 'started')\n    time.sleep(60)\n"
    )
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(
            """
            import multiprocessing, sys
            from sleepy import sleep
            from taylorpoda.paper.parallel import run_all

            def listen(number, stage, state):
                if state == "started":
                    print(*[child.pid for child in multiprocessing.active_children()], flush=True)

            if __name__ == "__main__":
                run_all(sleep, [1, 2], jobs=2, listen=listen)
            """
        )
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment)
    parent.stdout.readline()
    children = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(children) == 2
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    for _ in range(100):
        alive = [pid for pid in children if _alive(pid)]
        if not alive:
            break
        time.sleep(0.1)
    assert not alive


def _alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123 - a file of the system
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_one_thread_puts_things_back():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_a_run_silences_the_bars_of_its_parts(monkeypatch):
    """Two live displays on one terminal garble each other."""
    from taylorpoda._support import progress

    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    opened = []
    monkeypatch.setattr(progress.ProgressBar, "_open", lambda self: opened.append(self._description))
    with progress.silenced(), progress.ProgressBar("inner", 2) as bar:
        bar.advance()
    assert not opened
    with progress.ProgressBar("alone", 2) as bar:
        bar.advance()
    assert opened
