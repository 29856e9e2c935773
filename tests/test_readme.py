"""The pages a newcomer reads first: their code runs as printed, their links lead somewhere, their targets exist."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def printed():
    """What the blocks of Python leave behind, run one after the other."""
    import matplotlib as mpl

    mpl.use("Agg")
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(block, names)  # noqa: S102 - the page's own code
    return names


def test_six_lines_of_python_explain_a_prediction(printed):
    assert sum(bool(line) for line in blocks("python")[0].splitlines()) == 6
    explanation = printed["explanation"]
    assert explanation.values.shape == (3, 10)
    assert explanation.certified.all()
    assert np.abs(explanation.discrepancy).max() <= 1e-9 * np.abs(explanation.predictions).max()


def test_reallocating_gives_the_numbers_of_shap(printed):
    import shap

    model, table, explanation = printed["model"], printed["X"], printed["explanation"]
    masker = shap.maskers.Independent(table[:100], max_samples=100)
    theirs = shap.explainers.Exact(model.predict, masker)(table[400:403]).values
    assert np.abs(explanation.reallocate("shapley").values - theirs).max() < 1e-9 * np.ptp(theirs)


def sessions(page):
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent != ROOT and sessions(page)], ids=lambda page: page.name
)
def test_python_on_the_pages_of_the_documentation_runs_as_printed(page, tmp_path, monkeypatch):
    """Blocks with prompts must answer as printed; the others run one after the other."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    for block in sessions(page):
        if ">>> " in block:
            test = doctest.DocTestParser().get_doctest(block, {}, page.name, str(page), 0)
            assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
        else:
            exec(block, names)  # noqa: S102 - the page's own code


def commands():
    return [line for block in blocks("") for line in block.splitlines() if line.startswith("taylorpoda ")]


@pytest.mark.parametrize("line", commands())
def test_lines_of_the_command_line_run_as_printed(line, tmp_path, monkeypatch, capsys):
    xgboost = pytest.importorskip("xgboost")
    from taylorpoda.cli import main

    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 3)).round(2), columns=["age", "dose", "weight"])
    label = (table["age"] * table["dose"] > 0).astype(int)
    xgboost.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1).fit(table, label).save_model(tmp_path / "model.json")
    table.assign(label=label).to_csv(tmp_path / "data.csv", index=False)
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(line)[1:]) == 0
    assert "XGBClassifier" in capsys.readouterr().out


def test_there_are_lines_of_the_command_line():
    assert commands()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_to_files_and_headings(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, heading = target.partition("#")
        found = (page.parent / path) if path else page
        assert found.exists(), f"{page.name} links to {target}"
        if heading:
            titles = re.findall(r"^#+ (.*)$", found.read_text(encoding="utf-8"), flags=re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
            assert heading in slugs, f"{page.name} links to {target}"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_targets_of_make_exist(page):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z]+)", text, flags=re.MULTILINE):
        assert re.search(rf"^{target}:.*## ", makefile, flags=re.MULTILINE), f"{page} names make {target}"


def test_extras_that_are_named_exist():
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for listed in re.findall(r"pip install '\.\[([a-z,]+)\]'", README):
        assert set(listed.split(",")) <= set(extras)
