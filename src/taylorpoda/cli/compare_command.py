"""`taylorpoda compare`: every method, judged by every utility."""

from __future__ import annotations

import csv
import json
import math
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from taylorpoda._support.safe_write import replaced
from taylorpoda.cli import parameters as p
from taylorpoda.cli.comparison import MethodTable, method_table
from taylorpoda.cli.console import Screen, plain
from taylorpoda.cli.explain_command import explained
from taylorpoda.cli.label_columns import unread_labels
from taylorpoda.cli.local_weights import local_weights
from taylorpoda.cli.outputs import check_output
from taylorpoda.cli.screens import comparison_screen, counted
from taylorpoda.utilities import REGISTRY, resolve

COMPARE_EXAMPLES = (
    "taylorpoda compare model.json data.csv --target label --rows 0:20",
    "taylorpoda compare model.json data.csv --rows 0:20 --out methods.csv",
)
COMPARE_HELP = (
    "Compare all methods by all purposes, on the same games.\n\n"
    "Shows the mean of each utility over the explained rows (and outputs), and below what no ranking could beat. "
    "Methods whose numbers do not add up to the prediction say by how much. All are made of one set of model calls, "
    "but for LIME, which asks the model 5,000 rows more for each explained one; it needs numbers in every cell and "
    "the package lime."
)
Utilities = Annotated[
    list[str] | None,
    typer.Option(
        "--utility",
        autocompletion=p.among(REGISTRY),
        metavar="NAME",
        help="A purpose to judge by; repeat for several. Default: all that need no labels, or all with --target.",
        rich_help_panel="How",
        show_default=False,
    ),
]
Lime = Annotated[bool, typer.Option("--lime/--no-lime", help="Whether to ask LIME, too.", rich_help_panel="How")]
Out = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Write a file: .csv or .json; repeat for several.",
        rich_help_panel="What comes out",
        show_default=False,
    ),
]


def compare(
    model: p.Model,
    data: p.Data,
    background: p.Background = None,
    background_rows: p.BackgroundRows = None,
    rows: p.Rows = None,
    target: p.Target = None,
    drop: p.Drop = None,
    output: p.Output = None,
    output_names: p.OutputNames = None,
    link: p.Link = None,
    group: p.Group = None,
    trust: p.Trust = False,
    utility: Utilities = None,
    lime: Lime = True,
    masking: p.MaskingName = "marginal",
    engine: p.Engine = "auto",
    budget: p.Budget = None,
    order: p.Order = 2,
    seed: p.Seed = 0,
    time_limit: p.TimeLimit = None,
    jobs: p.Jobs = None,
    max_memory: p.MaxMemory = None,
    force: p.Force = False,
    out: Out = None,
    as_json: p.AsJson = False,
    quiet: p.Quiet = False,
) -> None:
    """Compare all methods by all purposes, on the same games."""
    screen = Screen(quiet=quiet, as_json=as_json)
    for path in out or ():
        check_output(path, _WRITERS)
    judges = [resolve(name) for name in utility or ["inclusion_aup"]]
    first = next((judge for judge in judges if judge.needs_target), judges[0]).name
    options: dict[str, Any] = dict(
        utility=first,
        policy="shapley",
        masking=masking,
        output=p.output_of(output),
        output_names=p.names_of(output_names),
        groups=p.groups_of(group),
        link=link,
        engine=engine,
        budget=budget,
        order=order,
        random_state=seed,
        n_jobs=jobs,
        max_memory=max_memory,
        time_limit=time_limit,
    )
    explanation, inputs, fitted, seconds = explained(
        model,
        data,
        screen,
        trust=trust,
        force=force,
        files=dict(
            background=background, background_rows=background_rows, target=target, drop=drop or [], rows=rows, seed=seed
        ),
        options=options,
    )
    local, lime_seconds = None, 0.0
    if lime:
        started = time.perf_counter()
        local = local_weights(explanation, fitted, inputs, options)
        lime_seconds = time.perf_counter() - started
    table = method_table(explanation, utility, local=local)
    unread = unread_labels(explanation, inputs.labels, target) if utility is None else None
    for reason in (*table.reasons, *([unread] if unread else [])):
        screen.remark(reason)
    heading = (
        f"{counted(len(inputs.positions), 'row')}, {counted(table.model_rows['games'], 'model row')} in {seconds:.1f} s"
    )
    if table.model_rows.get("lime"):
        heading += f", for LIME {table.model_rows['lime']:,} more in {lime_seconds:.1f} s"
    heading += f", seed {seed}"
    for path in out or ():
        _WRITERS[path.suffix.lower()](path, table)
    screen.show(
        plain(explanation.subject.model, 100, "bold"),
        *comparison_screen(table, screen.width),
        plain(heading, 200, "dim"),
    )
    for path in out or ():
        screen.remark(f"wrote {path}")
    screen.document(comparison_record(table))


def comparison_record(table: MethodTable) -> dict[str, Any]:
    """The table as one JSON document."""

    def number(value: float) -> float | None:
        return float(value) if math.isfinite(value) else None

    return {
        "utilities": [
            {"name": name, "higher_is_better": higher, "ceiling": number(ceiling)}
            for name, higher, ceiling in zip(table.utilities, table.higher_is_better, table.ceilings, strict=True)
        ],
        "methods": [
            {
                "name": name,
                "title": title,
                "discrepancy": float(gap),
                "means": {judge: number(mean) for judge, mean in zip(table.utilities, means, strict=True)},
            }
            for name, title, gap, means in zip(table.names, table.titles, table.discrepancy, table.means, strict=True)
        ],
        "left_out": list(table.left_out),
        "reasons": list(table.reasons),
        "model_rows": dict(table.model_rows),
    }


def _write_csv(path: Path, table: MethodTable) -> None:
    with replaced(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["method", *table.utilities, "discrepancy"])
        for name, means, gap in zip(table.names, table.means, table.discrepancy, strict=True):
            writer.writerow([name, *means.tolist(), float(gap)])
        writer.writerow(["ceiling", *table.ceilings.tolist(), ""])


def _write_json(path: Path, table: MethodTable) -> None:
    with replaced(path) as stream:
        json.dump(comparison_record(table), stream, indent=2, allow_nan=False)
        stream.write("\n")


_WRITERS = {".csv": _write_csv, ".json": _write_json}
