"""A saved explanation of trees is read with the core dependencies alone: numba is for dividends that are new."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest

import taylorpoda as tp

SCRIPT = """
    import sys

    for absent in ("numba", "llvmlite", "xgboost", "lightgbm", "catboost", "sklearn"):
        sys.modules[absent] = None
    import matplotlib

    matplotlib.use("Agg")
    import numpy as np
    import taylorpoda as tp

    path, again, parts = sys.argv[1:]
    expected = np.load(parts)
    loaded = tp.load(path)
    for part in expected.files:
        assert np.array_equal(np.asarray(getattr(loaded, part)), expected[part]), part
    assert len(loaded.to_frame()) == len(loaded) == 4
    repr(loaded), loaded._repr_html_()
    output = {} if loaded.values.ndim == 2 else {"output": 1}
    for kind in ("waterfall", "bar", "beeswarm", "intervals", "scores"):
        getattr(loaded.plot, kind)(**output)
    even = loaded.reallocate(policy="shapley")
    assert np.max(np.abs(even.base_values + even.values.sum(axis=1) - even.predictions)) < 1e-9
    part = loaded[1:3]
    assert np.array_equal(part.reallocate(policy="shapley").values, even.values[1:3])
    loaded.save(again)
    assert open(again, "rb").read() == open(path, "rb").read()
    for question in (lambda: loaded.dividends(0, *output.values()), lambda: loaded.interactions(2),
                     lambda: loaded.reallocate(policy="dirichlet"), lambda: loaded.scores("exclusion_mse")):
        try:
            question()
        except ImportError as error:
            assert str(error).endswith("needs numba: pip install 'taylorpoda[trees]'"), error
        else:
            raise AssertionError("new dividends without numba")
    print("read")
"""
PARTS = ("values", "base_values", "predictions", "lower", "upper", "score", "shapley_score", "bound", "ceiling",
         "certified", "nearest_certified", "discrepancy", "rounding")  # fmt: skip


def explained(case, *, background=True, rows=4, **options):
    beside = case.take(np.arange(100, 120)) if background else None
    return tp.Explainer(case.model, beside, random_state=0, **case.options, **options)(case.take(np.arange(rows)))


@pytest.mark.parametrize(("name", "background"), [("xgboost", True), ("xgboost classes", True), ("lightgbm", False)])
def test_files_are_read_without_numba(name, background, fitted_case, tmp_path):
    whole = explained(fitted_case(name), background=background)
    assert whole.engine == "trees"
    whole.save(tmp_path / "saved")
    np.savez(tmp_path / "parts.npz", **{part: getattr(whole, part) for part in PARTS})
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT)]
    paths = [str(tmp_path / name) for name in ("saved", "again", "parts.npz")]
    done = subprocess.run([*command, *paths], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr


def test_what_is_stored_must_add_up(fitted_case):
    games = explained(fitted_case("lightgbm")).games
    arrays = games.to_arrays()
    for name in ("full", "base", "shapley"):
        stored = arrays[f"answers/{name}"]
        for wrong in (stored + 1.0, stored[:-1], stored.astype(np.float32), stored * np.nan):
            with pytest.raises(ValueError, match="the trees of the games hold"):
                type(games).from_arrays({**arrays, f"answers/{name}": wrong})


def test_files_without_answers_are_computed_anew(fitted_case):
    games = explained(fitted_case("xgboost classes")).games
    bare = {name: array for name, array in games.to_arrays().items() if not name.startswith("answers/")}
    read = type(games).from_arrays(bare)
    for part in ("full", "base", "shapley"):
        assert np.array_equal(getattr(read, part), getattr(games, part))


def test_trees_that_contradict_their_answers_are_found_out(fitted_case):
    """What is stored beside the trees is believed until a dividend is asked for, which tells on them."""
    games = explained(fitted_case("lightgbm")).games
    arrays = games.to_arrays()
    read = type(games).from_arrays({**arrays, "leaf_values": arrays["leaf_values"] * 2})
    assert np.array_equal(read.full, games.full)
    with pytest.raises(ValueError, match="row 2 another prediction than the one stored"):
        read.dividends(2, 0)
    assert replace(games).dividends(2, 0).n_players == games.n_players
