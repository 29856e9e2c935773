"""Exit codes, one-line errors, help pages whose examples run as printed, colors only where they are wanted."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

import taylorpoda as tp
from taylorpoda.cli.console import Screen, plain

PAGES = [[], ["explain"], ["compare"], ["demo"], ["reproduce"], ["reproduce", "tables"], ["reproduce", "postulates"]]
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def page(command, words):
    done = command(*words, "--help")
    assert done.code == 0
    return ANSI.sub("", done.out)


@pytest.mark.parametrize("words", PAGES, ids=lambda words: " ".join(words) or "taylorpoda")
def test_every_page_has_an_example(words, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = page(command, words)
    assert "Usage: taylorpoda" in text
    assert re.search(r"Examples?:", text)
    assert "[bold]" not in text


def examples(text):
    """The command lines below "Example:", as a reader would copy them."""
    foot = re.split(r"Examples?:", text, maxsplit=1)[1]
    return [line.strip(" $│") for line in re.findall(r"taylorpoda [^\n│]*", foot)]


@pytest.mark.parametrize("words", PAGES, ids=lambda words: " ".join(words) or "taylorpoda")
def test_every_example_of_a_page_runs_as_printed(words, command, monkeypatch, tmp_path, request):
    """All of them, the demo with fewer rows."""
    from taylorpoda.cli import demo_command

    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERMINAL_WIDTH", "200")
    monkeypatch.setattr(demo_command, "_ROWS", 4)
    monkeypatch.setattr(demo_command, "_BACKGROUND", 5)
    lines = examples(page(command, words))
    assert lines
    for line in lines:
        if "reproduce tables" in line:
            request.getfixturevalue("data_dir")
            monkeypatch.setenv("TAYLORPODA_CACHE", str(tmp_path))
        done = command(*shlex.split(line)[1:])
        assert done.code == 0, done.err


@pytest.mark.parametrize("words", [["explain"], ["compare"], []], ids=lambda words: " ".join(words) or "taylorpoda")
def test_examples_are_printed_whole_on_a_narrow_terminal(words, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    text = page(command, words)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERMINAL_WIDTH", "200")
    assert examples(text) == examples(page(command, words))


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["explain"], 2, "error: Missing argument 'MODEL'"),
        (["explian", "a", "b"], 2, "error: No such command 'explian'. Did you mean 'explain'"),
        (["explain", "model.json", "data.csv", "--colour"], 2, "error: No such option"),
        (["explain", "model.json", "data.csv", "--seed", "x"], 2, "error: Invalid value for '--seed'"),
        (["explain", "model.json", "missing.csv"], 2, "error: DATA='missing.csv' does not exist"),
        (["explain", "model.json", "data.csv", "--rows", "99"], 2, "error: --rows='99' names row 99, but there are 60"),
        (["explain", "model.json", "data.csv", "--out", "x.docx"], 2, "error: --out='x.docx' has no known ending"),
        (["explain", "model.json", "data.csv", "--policy", "optimum"], 2, "Did you mean 'optimal'"),
        (["explain", "model.json", "data.csv", "--utility", "inclusion_auc"], 2, "compares with the labels"),
        (["compare", "model.json", "data.csv", "--utility", "nonsense"], 2, "utility='nonsense' is not known"),
        (["compare", "model.json", "data.csv", "--out", "x.html"], 2, "ending; allowed: a .csv, .json file"),
        (["reproduce", "tables", "--data", "nonsense"], 2, "data='nonsense' is not known"),
    ],
)
def test_errors_are_one_line_and_two(words, code, message, command):
    done = command(*words)
    assert done.code == code
    assert message in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""


def test_a_model_that_fails_is_code_one(command, folder):
    import pandas as pd
    from sklearn.linear_model import LinearRegression

    joblib = pytest.importorskip("joblib")
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 0.0, 2.0]})
    joblib.dump(LinearRegression().fit(table, table["a"]), folder / "line.joblib")
    table.assign(b=[1.0, None, 2.0]).to_csv(folder / "gaps.csv", index=False)
    done = command("explain", "line.joblib", "gaps.csv", "--trust")
    assert done.code == 1
    assert done.err.startswith("error: the model LinearRegression.predict raised ValueError")
    assert done.err.count("\n") == 1


def test_a_bug_of_ours_is_code_one_and_a_traceback_on_request(command, monkeypatch):
    from taylorpoda.cli import explain_command

    monkeypatch.setattr(explain_command, "read_inputs", lambda *_, **__: 1 / 0)
    done = command("explain", "model.json", "data.csv")
    assert done.code == 1
    assert done.err == "error: ZeroDivisionError: division by zero (set TAYLORPODA_TRACEBACK=1 to see where)\n"
    monkeypatch.setenv("TAYLORPODA_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        command("explain", "model.json", "data.csv")


def test_an_interruption_is_one_line(command, monkeypatch):
    from taylorpoda.cli import explain_command

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(explain_command, "read_inputs", interrupted)
    done = command("explain", "model.json", "data.csv", "--out", "never.csv")
    assert done.code == 130
    assert done.err == "interrupted; nothing was written\n"


def run(folder, *words, **environment):
    return subprocess.run(
        [sys.executable, "-m", "taylorpoda", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_as_a_program(folder):
    """The real thing, once: codes, streams, colors and a reader that stops reading."""
    words = ("explain", "model.json", "data.csv", "--rows", "0:2", "--output", "1")
    colored = run(folder, *words, FORCE_COLOR="1", NO_COLOR="")
    assert colored.returncode == 0, colored.stderr
    plain = run(folder, *words, FORCE_COLOR="1", NO_COLOR="1")
    assert "\x1b[3" in colored.stdout
    assert "\x1b[3" not in plain.stdout
    assert run(folder, "--version").stdout.startswith("taylorpoda ")
    failed = run(folder, "explain", "nothing", "data.csv")
    assert (failed.returncode, failed.stdout) == (2, "")
    reader = f"{sys.executable} -m taylorpoda {' '.join(words)} --json | head -c 10"
    closed = subprocess.run(["/bin/sh", "-c", reader], cwd=folder, capture_output=True, text=True, check=False)
    assert closed.stdout == '{\n  "taylo'
    assert "Traceback" not in closed.stderr
    assert "BrokenPipe" not in closed.stderr


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_comparison_fits_a_terminal_of_any_width(width, folder):
    """At 80 columns the names of the purposes and the digits of their means were once cut off."""
    import io

    from rich.console import Console

    from taylorpoda.cli.comparison import method_table
    from taylorpoda.cli.screens import comparison_screen

    rows = np.random.default_rng(0).normal(size=(20, 3))
    explainer = tp.Explainer(lambda part: part[:, 0] * part[:, 1] > part[:, 2], rows, policy="shapley")
    table = method_table(explainer(rows[:4], [0, 1, 0, 1]))
    console = Console(file=io.StringIO(), width=width)
    for part in comparison_screen(table, width):
        console.print(part)
    shown = console.file.getvalue()
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= width
    assert shown.count("is better") == 6
    assert shown.count("TaylorPODA-optimal") == {60: 3, 80: 2, 120: 1}[width]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_of_another_encoding_gets_plainer_signs(encoding, folder):
    """A minus sign that Latin-1 does not have once ended the command in an error."""
    done = subprocess.run(
        [sys.executable, "-m", "taylorpoda", "explain", "model.json", "data.csv", "--rows", "0"],
        cwd=folder,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert " -0." in done.stdout.decode(encoding)


def test_completion_knows_commands_options_and_names(folder):
    def completed(words, position):
        done = run(folder, _TAYLORPODA_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(position))
        return done.stdout.split()

    assert completed("taylorpoda ex", 1) == ["explain"]
    assert "--utility" in completed("taylorpoda explain --ut", 2)
    assert completed("taylorpoda explain --policy op", 3) == ["optimal"]
    assert completed("taylorpoda compare --utility exclusion_m", 3) == ["exclusion_mse"]


def test_the_program_starts_without_the_libraries_it_may_need_later():
    heavy = "{'pandas', 'sklearn', 'torch', 'xgboost', 'lightgbm', 'numba', 'matplotlib', 'polars', 'pyarrow'}"
    code = f"import sys; from taylorpoda.cli import main; main(['--help']); print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


@pytest.mark.parametrize("told", [{}, {"NO_COLOR": "1"}])
def test_no_color_is_no_escape_sequence_at_all(told, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    Screen(quiet=False, as_json=False).show(plain("said", style="bold red"))
    assert ("\x1b" in capsys.readouterr().out) == (not told)
