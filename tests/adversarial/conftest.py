"""The world that every bad input meets: a small model, its table and files, and a command line."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp
from taylorpoda.cli import main


def model(rows):
    """Three columns, one number a row; reads arrays and frames."""
    table = np.asarray(rows, dtype=float)
    return table[:, 0] * table[:, 1] + table[:, 2]


class World:
    """What the cases use.

    Attributes:
        X: Shape (8, 3).
        frame: The same with names a, b, c.
        mixed: A frame of numbers, categories and texts with gaps.
        values: The table of a game of three players.
        folder: Files of a model and its data; the command line runs here.
    """

    def __init__(self, folder):
        self.folder = folder
        self.X = np.random.default_rng(0).normal(size=(8, 3)).round(2)
        self.frame = pd.DataFrame(self.X, columns=["a", "b", "c"])
        self.mixed = pd.DataFrame(
            {
                "n": np.arange(8),
                "c": pd.Categorical(["red", "blue"] * 4),
                "t": ["x", None, "y", "x", "y", "x", "y", "x"],
            }
        )
        self.values = np.array([0.0, 1, 2, 5, -1, 3, 0, 4])

    def explainer(self, used=model, background=None, **options):
        return tp.Explainer(used, self.X if background is None else background, **{"random_state": 0, **options})

    def explain(self, X, y=None, **options):
        return self.explainer(**options)(X, y)

    def explanation(self, **options):
        return self.explainer(**{"policy": "shapley", **options})(self.X[:2])

    def classes(self, rows):
        """Three outputs that sum to 1."""
        raw = np.exp(np.asarray(rows, dtype=float))
        return raw / raw.sum(axis=1, keepdims=True)

    def write(self, name, content):
        """A file in the folder, by name."""
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def cli(self, *arguments):
        """Run a command; a failing one raises SystemExit with its code and all it wrote to standard error."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([str(one) for one in arguments])
        assert not out.getvalue(), "a command that fails prints no result"
        if code:
            message = f"{code}: {err.getvalue().removesuffix(chr(10))}"
            raise SystemExit(message)

    def bad_explain(self, *arguments):
        """`explain` on the model and data that are fine."""
        self.cli("explain", "model.json", "data.csv", *arguments)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """model.json (XGBoost, three classes by number), data.csv (a, b, c, a label and an id)."""
    xgboost = pytest.importorskip("xgboost")
    path = Path(tmp_path_factory.mktemp("adversarial"))
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.normal(size=(30, 3)).round(2), columns=["a", "b", "c"])
    label = np.arange(30) % 3
    xgboost.XGBClassifier(n_estimators=2, max_depth=2, n_jobs=1).fit(frame, label).save_model(path / "model.json")
    frame.assign(label=label, id=range(30)).to_csv(path / "data.csv", index=False)
    return path


@pytest.fixture(scope="session")
def world(folder):
    return World(folder)
