"""`taylorpoda explain`: predictions of a model from a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taylorpoda._support.choices import check_choice
from taylorpoda.cli import parameters as p
from taylorpoda.cli.console import Screen
from taylorpoda.cli.errors import InputError
from taylorpoda.cli.inputs import Inputs, read_inputs
from taylorpoda.cli.label_columns import usable_labels
from taylorpoda.cli.model_files import load_model
from taylorpoda.cli.outputs import check_outputs, explanation_record, write_output
from taylorpoda.cli.screens import explanation_screen
from taylorpoda.engines.choice import ENGINES
from taylorpoda.explainer import Explainer
from taylorpoda.games.masking import MASKINGS
from taylorpoda.utilities import resolve

if TYPE_CHECKING:
    from taylorpoda.explanation import Explanation

EXPLAIN_EXAMPLES = (
    "taylorpoda explain model.json data.csv --target label --rows 0:5",
    "taylorpoda explain model.json data.csv --target label --out explained.csv",
    "taylorpoda explain model.json data.csv --rows 3 --output 1 --json",
)
EXPLAIN_HELP = (
    "Explain predictions of a model: one number per feature that adds up, with a proof.\n\n"
    "Columns are matched with the model's features by name; those it does not know are left out, and named. Where the "
    "model has no names, all columns but --target and --drop are its features, in their order."
)
# Beyond this many model rows a command asks first: minutes for the fastest of models.
_DEAREST = 10**9
Out = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Write a file: .csv, .parquet, .json, .html, or .npz for taylorpoda.load; repeat for several.",
        rich_help_panel="What comes out",
        show_default=False,
    ),
]


def explain(
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
    utility: p.UtilityName = "inclusion_aup",
    policy: p.Policy = "optimal",
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
    """Explain predictions of a model: one number per feature that adds up, with a proof.

    See the help page for how columns are matched with the model's features.
    """
    screen = Screen(quiet=quiet, as_json=as_json)
    targets = check_outputs(out)
    explanation, inputs, _, seconds = explained(
        model,
        data,
        screen,
        trust=trust,
        force=force,
        files=dict(
            background=background, background_rows=background_rows, target=target, drop=drop or [], rows=rows, seed=seed
        ),
        options=dict(
            utility=utility,
            policy=policy,
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
        ),
    )
    for path in targets:
        write_output(path, explanation, inputs.positions)
    screen.show(*explanation_screen(explanation, inputs.positions, seconds))
    for path in targets:
        screen.remark(f"wrote {path}")
    screen.document(explanation_record(explanation, inputs.positions))


def explained(
    model: Path,
    data: Path,
    screen: Screen,
    *,
    trust: bool,
    force: bool,
    files: dict[str, Any],
    options: dict[str, Any],
) -> tuple[Explanation, Inputs, Any, float]:
    """Load, match, explain.

    Args:
        model: The model's file.
        data: The rows' file.
        screen: Where remarks go.
        trust: Whether a pickle may be opened.
        force: Whether it may take long.
        files: Keywords of `read_inputs`.
        options: Keywords of `Explainer`.

    Returns:
        The explanation, its inputs, the model, and the seconds explaining took.
    """
    check_names(options, files["target"])
    loaded = load_model(model, trust=trust)
    inputs = read_inputs(loaded.model, data, **files)
    for remark in inputs.remarks:
        screen.remark(remark)
    if options["groups"] is None:
        options = {**options, "groups": inputs.groups}
    elif inputs.groups is not None:
        options = {**options, "groups": _by_position(options["groups"], inputs.groups)}
    if options.get("time_limit") is None:
        options = {name: value for name, value in options.items() if name != "time_limit"}
    labels = usable_labels(loaded.model, inputs.labels, options["output_names"], options["utility"], files["target"])
    started = time.perf_counter()
    explainer = Explainer(loaded.model, inputs.background, **options)
    cost = explainer.cost(len(inputs.positions))
    if cost > _DEAREST and not force:
        msg = (
            f"explaining {len(inputs.positions):,} rows may take {cost:,} model rows; choose some with --rows, draw "
            "fewer background rows with --background-rows, put columns together with --group, or insist with --force."
        )
        raise InputError(msg)
    explanation = explainer(inputs.rows, labels)
    return explanation, inputs, loaded.model, time.perf_counter() - started


def check_names(options: dict[str, Any], target: str | None) -> None:
    """Refuse what no file could make right, before any is read.

    Raises:
        ValueError: If a name is unknown, or the utility reads labels and no column has them.
    """
    check_choice("policy", options["policy"], p.POLICY_NAMES)
    check_choice("engine", options["engine"], ENGINES)
    check_choice("masking", options["masking"], MASKINGS)
    if options["link"] is not None:
        check_choice("link", options["link"], ("logit",))
    if resolve(options["utility"]).needs_target and target is None:
        msg = f"utility={options['utility']!r} compares with the labels: name their column with --target."
        raise InputError(msg)


def _by_position(groups: dict[str, list[str]], names: list[str]) -> list[str]:
    """Groups of named columns for an array: one label per column."""
    owner = {column: name for name, columns in groups.items() for column in columns}
    unknown = sorted(set(owner) - set(names))
    if unknown:
        msg = f"--group names the columns {unknown}, which are no features; the features are {names[:40]}."
        raise ValueError(msg)
    return [owner.get(name, name) for name in names]
