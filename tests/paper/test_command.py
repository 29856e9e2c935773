"""How `reproduce` refuses, is interrupted, and fits a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

from taylorpoda.cli import main
from taylorpoda.paper import command
from taylorpoda.paper.command import app
from taylorpoda.paper.outputs import made_directory
from taylorpoda.paper.parallel import run_all


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Invokes `tables`; what it would compute is `ran`, which notes that it was asked to."""
    monkeypatch.setenv("TAYLORPODA_CACHE", str(tmp_path / "cache"))
    seen = []

    def ran(*_, **__):
        seen.append("ran")
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "reproduce", ran)

    def invoke(*arguments):
        return CliRunner().invoke(app, ["tables", "--fast", *arguments])

    invoke.seen = seen
    return invoke


@pytest.mark.parametrize("out", ["file", "file/below", "", "dangling", "x" * 300, "taken"])
def test_a_bad_out_is_noticed_before_the_run(run, tmp_path, monkeypatch, out):
    """The report was written, or not, once the hours were over; `--out file` left a traceback."""
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("dangling").symlink_to("nowhere/at/all")
    Path("taken").mkdir()
    Path("taken/figures").touch()
    before = sorted(tmp_path.rglob("*"))
    result = run("--out", out)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: out={out!r} ")
    assert "allowed: a directory" in result.stderr
    assert not run.seen
    assert sorted(tmp_path.rglob("*")) == before


def test_a_directory_nobody_may_write_to_is_no_out(run, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    result = run("--out", str(tmp_path / "closed"))
    assert result.exit_code == 2
    assert "Permission denied" in result.stderr
    assert not (tmp_path / "closed").exists()


def test_what_was_made_for_the_report_is_gone_after_an_error(tmp_path):
    def fail(out):
        with made_directory(str(out)) as directory:
            assert (directory / "figures").is_dir()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail(tmp_path / "a" / "b")
    assert not list(tmp_path.iterdir())
    (tmp_path / "a").mkdir()
    with pytest.raises(RuntimeError):
        fail(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]
    (tmp_path / "a" / "mine").touch()
    with pytest.raises(RuntimeError):
        fail(tmp_path / "a")
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "mine"]


def test_a_report_that_cannot_be_written_is_said_in_one_line(run, tmp_path, monkeypatch):
    """The last thing that can go wrong: something stands where a file should."""

    def full(*_):
        msg = "no space left"
        raise OSError(msg)

    monkeypatch.setattr(command, "reproduce", lambda *_, **__: None)
    monkeypatch.setattr(command, "write", full)
    result = run("--out", str(tmp_path / "o"))
    assert result.exit_code == 2
    assert result.stderr == "error: no space left\n"


def test_a_cache_that_cannot_be_used_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TAYLORPODA_CACHE", str(tmp_path / "file"))
    result = CliRunner().invoke(app, ["tables", "--fast", "--out", str(tmp_path / "o")])
    assert result.exit_code == 2
    assert f"error: TAYLORPODA_CACHE='{tmp_path / 'file'}' cannot be used" in result.stderr
    assert not (tmp_path / "o").exists()


def test_after_ctrl_c_it_says_what_is_kept_and_where(run, tmp_path):
    """It said that nothing was written."""
    result = run("--out", str(tmp_path / "o"))
    assert result.exit_code == 130
    kept = f"finished stages are kept in {tmp_path / 'cache' / 'paper'}"
    assert result.stderr == f"interrupted; {kept}, and the same command goes on from there\n"
    assert not (tmp_path / "o").exists()


def test_the_same_under_the_name_of_the_package(run, tmp_path, capsys):
    assert main(["reproduce", "tables", "--fast", "--out", str(tmp_path / "o")]) == 130
    assert run.seen
    error = capsys.readouterr().err
    assert "finished stages are kept" in error
    assert "nothing was written" not in error


def test_processes_interrupted_while_they_start_are_silent(tmp_path):
    """Ctrl-C reaches the whole group: a worker that was still importing printed where it was."""
    (tmp_path / "slowly.py").write_text(
        "import multiprocessing, time\n\n"
        "if multiprocessing.parent_process() is not None:\n    time.sleep(3)\n\n"
        "def work(task, tell):\n    time.sleep(60)\n"
    )
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(
            """
            import signal, sys, threading, time
            from slowly import work
            from taylorpoda.paper.parallel import run_all

            def listen(number, stage, state):
                if number == 1 and state == "begun":
                    threading.Timer(1.5, lambda: print("both import", flush=True)).start()

            if __name__ == "__main__":
                try:
                    run_all(work, [1, 2], jobs=2, listen=listen)
                except KeyboardInterrupt:
                    sys.exit(130 if signal.getsignal(signal.SIGINT) is signal.default_int_handler else 1)
            """
        )
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    assert parent.stdout.readline() == "both import\n"
    os.killpg(parent.pid, signal.SIGINT)
    _, error = parent.communicate(timeout=30)
    assert error == ""
    assert parent.returncode == 130


def _nothing(task, tell):
    pass


def test_the_handler_of_ctrl_c_is_put_back():
    def mine(*_):
        pass

    before = signal.signal(signal.SIGINT, mine)
    try:
        run_all(_nothing, [1, 2], jobs=2, listen=lambda *_: None)
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("columns", [58, 60, 72, 80, 200])
def test_the_postulates_fit_the_terminal(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    result = CliRunner().invoke(app, ["postulates", "--players", "3"])
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= columns
    said = result.output.split()
    assert " ".join(said).count("(paper: no)") == 1
    for method, verdicts in (("OCC-1", "yes yes no no"), ("TaylorPODA", "yes yes yes yes"), ("LIME", "- - - -")):
        line = next(line for line in result.output.splitlines() if line.startswith(f"{method} "))
        assert line.split()[1:] == verdicts.split()
    assert "sum to one for every candidate" in " ".join(said)
    if columns < 70:
        line = next(k for k, line in enumerate(result.output.splitlines()) if line.startswith("WeightedSHAP "))
        first, second = result.output.splitlines()[line : line + 2]
        assert first.split() == ["WeightedSHAP", "yes", "yes", "no", "partial"]
        assert second.split() == ["(paper:", "no)"]
        assert second.index("(paper") == first.index("yes")
