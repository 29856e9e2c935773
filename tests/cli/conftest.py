"""A folder with a model and data, as the examples of the help pages name them, and a way to run commands in it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from taylorpoda.cli import main


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """model.json (XGBoost, two classes), data.csv (five features, an id and a label) and others."""
    xgboost = pytest.importorskip("xgboost")
    path = tmp_path_factory.mktemp("cli")
    rng = np.random.default_rng(0)
    features = pd.DataFrame(rng.normal(size=(60, 4)).round(3), columns=["age", "height", "weight", "dose"])
    features["visits"] = rng.integers(0, 5, 60)
    label = ((features["age"] * features["dose"] + features["visits"] * 0.3) > 0.5).astype(int)
    model = xgboost.XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1).fit(features, label)
    model.save_model(path / "model.json")
    features.assign(id=range(60), label=label).to_csv(path / "data.csv", index=False)
    features[:20].to_csv(path / "background.csv", index=False)
    return path


@pytest.fixture
def command(folder, monkeypatch, capsys):
    """Run one command in the folder: .code, .out, .err."""
    monkeypatch.chdir(folder)

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        written = capsys.readouterr()
        return SimpleNamespace(code=code, out=written.out, err=written.err)

    return run
