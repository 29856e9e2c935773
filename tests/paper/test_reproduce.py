from __future__ import annotations

import csv
import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from taylorpoda.paper import Pair, Settings, Store, pipeline, reproduce
from taylorpoda.paper.command import app
from taylorpoda.paper.figures import ceiling_shares, discrepancy_violins, drawn
from taylorpoda.paper.outputs import json_text, write
from taylorpoda.paper.settings import METHODS, PRINTED_METHODS, UTILITIES
from taylorpoda.paper.texts import markdown

DATA = os.environ.get("TAYLORPODA_DATA", "")
pytestmark = pytest.mark.skipif(not Path(DATA, "concrete.csv").is_file(), reason="TAYLORPODA_DATA has no files here")

SMALL = Settings(data=("titanic", "concrete"), models=("mlp_relu", "xgboost"), rows=6, hidden=(8,), bootstrap=20)


def cheap_table(predict, background, rows, *, surrogate, task, seed):
    """A marginal game over a few rows: enough for everything but the surrogate itself."""
    n_players = rows.shape[1]
    present = (np.arange(1 << n_players)[:, None] >> np.arange(n_players)) & 1 == 1
    donors = background[seed % 7 : seed % 7 + 6]
    table = np.stack([predict(np.where(present, row, donor)) for row in rows for donor in donors])
    table = table.reshape(len(rows), len(donors), -1).mean(axis=1)
    table[:, -1] = predict(rows)
    return table


@pytest.fixture
def cheap(monkeypatch, tmp_path):
    monkeypatch.setattr(pipeline, "value_table", cheap_table)
    monkeypatch.setattr(pipeline, "lime", lambda predict, background, rows, random_state: rows - background.mean(0))
    monkeypatch.setenv("TAYLORPODA_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_the_same_bytes_from_separate_caches(cheap):
    first = json_text(reproduce(SMALL, store=Store(cheap / "a")))
    second = json_text(reproduce(SMALL, store=Store(cheap / "b")))
    again = json_text(reproduce(SMALL, store=Store(cheap / "a")))
    assert first == second == again
    other = json_text(reproduce(Settings(**{**vars(SMALL), "seed": 1}), store=Store(cheap / "a")))
    assert other != first


@pytest.mark.parametrize("after", [1, 4, 9, 14])
def test_interrupted_anywhere_and_resumed_gives_the_same_bytes(cheap, after):
    whole = json_text(reproduce(SMALL, store=Store(cheap / "whole")))
    events = []

    def interrupt(*event):
        events.append(event)
        if sum(state == "finished" for *_, state in events) == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(SMALL, store=Store(cheap / "cut"), listen=interrupt)
    done = sum(state == "finished" for *_, state in events)
    resumed = []
    assert json_text(reproduce(SMALL, store=Store(cheap / "cut"), listen=lambda *event: resumed.append(event))) == whole
    total = 2 + 4 * 4  # two data stages; four pairs of model, LIME, table, methods
    assert sum(state == "finished" for *_, state in resumed) == total - done


def test_json_has_the_fields(cheap):
    found = json.loads(json_text(reproduce(SMALL)))
    assert len(found["cells"]) == 2 * 2 * 4 * len(METHODS)
    for cell in found["cells"]:
        assert {"data", "model", "method", "utility", "mean", "low", "high"} <= set(cell)
        assert (cell["paper_mean"] is None) == (cell["method"] not in PRINTED_METHODS)
        assert cell["low"] <= cell["high"]
    by_method = found["certified_fraction"]["titanic"]["xgboost"]
    assert by_method["TaylorPODA-optimal"] == 1.0
    assert found["max_discrepancy"]["concrete"]["mlp_relu"]["TaylorPODA-optimal"] < 1e-12
    assert found["max_discrepancy"]["concrete"]["mlp_relu"]["SHAP"] < 1e-12
    assert found["max_discrepancy"]["concrete"]["xgboost"]["OCC-1"] > 1e-3
    assert found["seed"] == SMALL.seed
    assert {"taylorpoda", "numpy", "python"} <= set(found["versions"])
    assert "cache" not in json.dumps(found)


def test_the_content_of_the_data_is_in_the_report(cheap, tmp_path, monkeypatch):
    """A run on other data than the published warned once and left no trace."""
    from taylorpoda.datasets import load

    published = reproduce(SMALL)
    assert json.loads(json_text(published))["data"] == {
        name: {"checksum": load(name).checksum, "verified": True} for name in ("titanic", "concrete")
    }
    assert "ublished data" not in markdown(published)
    (tmp_path / "mine").mkdir()
    other = Path(DATA, "titanic.csv").read_text().replace("7.25", "7.75", 1)
    (tmp_path / "mine" / "titanic.csv").write_text(other)
    (tmp_path / "mine" / "concrete.csv").write_bytes(Path(DATA, "concrete.csv").read_bytes())
    monkeypatch.setenv("TAYLORPODA_DATA", str(tmp_path / "mine"))
    with pytest.warns(UserWarning, match="not its content"):
        found = reproduce(SMALL)
    fields = json.loads(json_text(found))["data"]
    checksum = found.data["titanic"].checksum
    assert fields["titanic"] == {"checksum": checksum, "verified": False}
    assert fields["concrete"]["verified"]
    write(found, tmp_path / "out")
    said = f"Not the published data: titanic (checksum {checksum[:12]}...);"
    for name in ("index.html", "tables.md"):
        assert said in (tmp_path / "out" / name).read_text()


def test_data_that_change_during_the_run_are_refused(cheap, monkeypatch):
    real, seen = pipeline.load, []

    def changing(name):
        seen.append(name)
        loaded = real(name)
        return dataclasses.replace(loaded, checksum="0" * 64) if len(seen) > 2 else loaded

    monkeypatch.setattr(pipeline, "load", changing)
    with pytest.raises(ValueError, match="changed during the run"):
        reproduce(SMALL, store=Store(cheap / "changing"))


def test_certified_is_the_share_over_all_trainings():
    """The first training alone was counted."""
    utilities = UTILITIES["regression"]
    trainings = [{f"certified/{one}": np.full(6, training != 1) for one in utilities} for training in range(4)]
    pair = Pair("concrete", "xgboost", "regression", tuple(trainings), np.zeros(9))
    assert abs(pair.certified_fraction - 0.75) < 1e-12


def test_retraining_shows_its_spread(cheap):
    once = reproduce(SMALL)
    thrice = reproduce(Settings(**{**vars(SMALL), "retrain": 3}))
    for one, other in zip(once.cells, thrice.cells, strict=True):
        assert (one.mean, one.low, one.high) == (other.mean, other.low, other.high)
        assert len(other.retrained) == 3
        assert other.retrained[0] == one.mean
    assert any(len(set(cell.retrained)) == 3 for cell in thrice.cells if cell.method == "OCC-1")
    assert all(len(set(cell.retrained)) == 1 for cell in thrice.cells if cell.ceiling == 0.0)


def test_labels_of_the_model_are_an_option(cheap):
    by_y, by_model = reproduce(SMALL), reproduce(Settings(**{**vars(SMALL), "label": "model"}))
    changed = {
        one.utility for one, other in zip(by_y.cells, by_model.cells, strict=True) if one.ceiling != other.ceiling
    }
    assert changed <= {"inclusion_auc", "exclusion_auc"}
    regression = [cell for cell in by_y.cells if cell.data == "concrete"]
    assert regression == [cell for cell in by_model.cells if cell.data == "concrete"]


def test_networks_of_the_code_are_an_option(cheap):
    chosen = {"data": ("abalone",), "models": ("mlp_tanh", "mlp_relu"), "rows": 6, "bootstrap": 20}
    code = reproduce(Settings(**chosen, networks="code"))
    tanh, relu = code.pairs
    score = "score/inclusion_aup/SHAP"
    assert np.array_equal(tanh.explained[0][score], relu.explained[0][score])
    assert "called ReLU are not" in markdown(code)
    assert json.loads(json_text(code))["settings"]["networks"] == "code"


def test_everything_is_written(cheap):
    found = reproduce(Settings(**{**vars(SMALL), "retrain": 2}))
    written = write(found, cheap / "out")
    write(reproduce(SMALL), cheap / "once")
    names = {str(path.relative_to(cheap / "out")) for path in written}
    assert names == {
        "index.html", "tables.md", "tables.tex", "tables.csv", "results.json",
        "figures/ceiling.png", "figures/ceiling.svg", "figures/discrepancy.png", "figures/discrepancy.svg",
    }  # fmt: skip
    page = (cheap / "out" / "index.html").read_text()
    assert page.count("<tr") == page.count("</tr>")
    assert not re.search(r"(src|href)='(?!data:)", page)
    assert "paper: no" in page
    assert page.count("<table") == page.count("<div class='wide'><table") == page.count("</table></div>")
    assert "attributions for Inclusion AUP" in page
    tables = (cheap / "out" / "tables.md").read_text()
    assert tables.count("| TaylorPODA-optimal |") >= 4
    assert "2 trainings of the surrogate" in tables
    assert "2 trainings of the surrogate" in page
    assert "trainings of the surrogate" not in (cheap / "once" / "index.html").read_text()
    with (cheap / "out" / "tables.csv").open() as stream:
        lines = list(csv.DictReader(stream))
    assert len(lines) == len(found.cells)
    assert float(lines[0]["mean"]) == found.cells[0].mean
    latex = (cheap / "out" / "tables.tex").read_text()
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 2
    assert "&" in latex
    assert "↑" not in latex
    assert json.loads((cheap / "out" / "results.json").read_text())["cells"]


def test_pictures_are_the_same_bytes_and_show_every_method(cheap):
    import matplotlib as mpl

    found = reproduce(SMALL)
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "none"}):
        styled = drawn(lambda: ceiling_shares(found))
        assert mpl.rcParams["font.size"] == 30
    assert styled == drawn(lambda: ceiling_shares(found))
    assert drawn(lambda: discrepancy_violins(found)) == drawn(lambda: discrepancy_violins(found))
    figure = discrepancy_violins(found)
    assert "attributions for Inclusion AUP" in figure.get_suptitle()
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == [
        "Classification, MLP (ReLU)", "Classification, XGBoost", "Regression, MLP (ReLU)", "Regression, XGBoost",
    ]  # fmt: skip
    labels = [tick.get_text() for tick in figure.axes[2].get_xticklabels()]
    assert labels == ["SHAP", *METHODS]


def test_violins_are_flat_where_the_sum_rule_holds(cheap):
    """SHAP and both TaylorPODA are lines at zero; the others have bodies."""
    found = reproduce(Settings(**{**vars(SMALL), "models": ("xgboost",), "rows": 20}))
    for axes in discrepancy_violins(found).axes:
        flat = [line for line in axes.lines if len(set(line.get_ydata())) == 1 and len(line.get_xdata()) == 2]
        heights = [abs(float(line.get_ydata()[0])) for line in flat if line.get_linewidth() > 2]
        assert len(heights) == 3
        assert max(heights) < 1e-12
        assert len(axes.collections) >= 3


def test_the_command_writes_the_report(cheap):
    result = CliRunner().invoke(
        app, ["tables", "--fast", "--data", "concrete", "--models", "xgboost", "--rows", "4", "--out", str(cheap / "o")]
    )
    assert result.exit_code == 0, result.output
    assert "Intervals that overlap the paper's" in result.output
    assert (cheap / "o" / "index.html").is_file()
    assert json.loads((cheap / "o" / "results.json").read_text())["settings"]["rows"] == 4


def test_the_command_refuses_in_one_line(cheap):
    for arguments, message in (
        (["--data", "cancr"], "Did you mean 'cancer'"),
        (["--surrogate", "papers"], "Did you mean 'paper'"),
        (["--hidden", "a,b"], "hidden='a,b'"),
        (["--networks", "code", "--hidden", "8"], "leave it out"),
        (["--jobs", "0"], "jobs=0"),
        (["--rows", "5000", "--data", "concrete"], "holds out only 206"),
    ):
        result = CliRunner().invoke(app, ["tables", *arguments, "--out", str(cheap / "o")])
        assert result.exit_code == 2
        assert message in result.output
        assert "Traceback" not in result.output
    assert not (cheap / "o").exists()


def test_what_fails_in_a_process_is_said_in_one_line(cheap, monkeypatch):
    """A worker without the lime package, say: no traceback, and the pair and the reason are named."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(cheap / "without"), *filter(None, sys.path)]))
    (cheap / "without" / "lime").mkdir(parents=True)
    (cheap / "without" / "lime" / "__init__.py").write_text("raise ImportError('no lime here')\n")
    chosen = ["--data", "titanic", "--models", "xgboost", "--models", "mlp_relu", "--rows", "3", "--hidden", "8"]
    result = subprocess.run(
        _command(*chosen, "--jobs", "2", "--out", str(cheap / "o")), capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("error: titanic on ")
    assert "pip install 'taylorpoda[lime]'" in last
    assert "Traceback" not in result.stderr


def test_the_table_of_postulates_by_command():
    result = CliRunner().invoke(app, ["postulates", "--players", "3"])
    assert result.exit_code == 0
    line = next(line for line in result.output.splitlines() if line.startswith("WeightedSHAP "))
    assert line.split() == ["WeightedSHAP", "yes", "(paper:", "no)", "yes", "no", "partial"]
    assert "sum to one" in result.output


def _command(*arguments):
    return [sys.executable, "-W", "ignore", "-m", "taylorpoda.paper", "tables", *arguments]


def test_killed_and_resumed_gives_the_same_json_as_never_killed(tmp_path):
    """The real thing: two processes, killed outright once a surrogate has begun, then run again."""
    chosen = ["--data", "concrete", "--models", "xgboost", "--models", "mlp_relu", "--rows", "3", "--hidden", "8"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}

    def run(cache, out, *more):
        arguments = _command(*chosen, "--out", str(tmp_path / out), *more)
        return subprocess.Popen(
            arguments, env={**environment, "TAYLORPODA_CACHE": str(tmp_path / cache)}, stderr=subprocess.PIPE, text=True
        )

    never = run("first", "never", "--jobs", "1")
    killed = run("second", "killed", "--jobs", "2")
    for line in killed.stderr:
        if "surrogate" in line:
            break
    time.sleep(0.3)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert not (tmp_path / "killed" / "results.json").exists()
    resumed = run("second", "killed", "--jobs", "2")
    for process in (never, resumed):
        _, error = process.communicate()
        assert process.returncode == 0, error
    assert (tmp_path / "never/results.json").read_bytes() == (tmp_path / "killed/results.json").read_bytes()
    assert (tmp_path / "never/index.html").read_bytes() == (tmp_path / "killed/index.html").read_bytes()
