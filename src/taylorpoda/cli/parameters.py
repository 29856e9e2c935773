"""The options that several commands share, and what they become for the explainer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taylorpoda.allocation import POLICIES
from taylorpoda.cli.errors import InputError
from taylorpoda.engines.choice import ENGINES
from taylorpoda.games.masking import MASKINGS
from taylorpoda.utilities import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# A share table is no text: policy="shares" is for Python.
POLICY_NAMES = tuple(name for name in POLICIES if name != "shares")


def among(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Completion of a name."""
    known = tuple(names)

    def complete(incomplete: str) -> list[str]:
        return [name for name in known if name.startswith(incomplete)]

    return complete


_WHAT, _HOW, _SHOWN = "What is explained", "How", "What comes out"

Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="An XGBoost, LightGBM or CatBoost model file, ONNX or skops; pickle and joblib with --trust.",
        show_default=False,
    ),
]
Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="The rows: .csv, .tsv, .parquet, .feather, .json, .npy; - reads CSV.", show_default=False
    ),
]
Background = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Rows that stand for the population. Default: DATA.",
        rich_help_panel=_WHAT,
        show_default=False,
    ),
]
BackgroundRows = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Draw this many background rows, with --seed. Default: all.",
        rich_help_panel=_WHAT,
        show_default=False,
    ),
]
Rows = Annotated[
    str | None,
    typer.Option(
        metavar="ROWS", help="Which rows: 0:5, 3 or 1,4,10:12. Default: all.", rich_help_panel=_WHAT, show_default=False
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column with the labels; it is no feature.",
        rich_help_panel=_WHAT,
        show_default=False,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="A column that is no feature; repeat for several.",
        rich_help_panel=_WHAT,
        show_default=False,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help='Which output: a class, a name, an index; "raw" for the margin of a boosted ensemble. Default: all.',
        rich_help_panel=_WHAT,
        show_default=False,
    ),
]
OutputNames = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Names for the outputs or classes: no,yes. Default: the model's own.",
        rich_help_panel=_WHAT,
        show_default=False,
    ),
]
Link = Annotated[
    str | None,
    typer.Option(
        autocompletion=among(("logit",)),
        metavar="NAME",
        help='"logit" explains logit(model).',
        rich_help_panel=_WHAT,
        show_default=False,
    ),
]
Group = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=COLUMNS",
        help="Columns that enter together: place=city,country; repeat for several.",
        rich_help_panel=_WHAT,
        show_default=False,
    ),
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Open a pickle or joblib file, which runs the code in it.", rich_help_panel=_WHAT),
]
UtilityName = Annotated[
    str,
    typer.Option(
        autocompletion=among(REGISTRY),
        metavar="NAME",
        help=f"What the explanation is for: {', '.join(REGISTRY)}.",
        rich_help_panel=_HOW,
    ),
]
Policy = Annotated[
    str,
    typer.Option(
        autocompletion=among(POLICY_NAMES),
        metavar="NAME",
        help=f"How interactions are split: {', '.join(name for name in POLICIES if name != 'shares')}.",
        rich_help_panel=_HOW,
    ),
]
MaskingName = Annotated[
    str,
    typer.Option(
        autocompletion=among(MASKINGS),
        metavar="NAME",
        help=f"What stands in for an absent feature: {', '.join(MASKINGS)}.",
        rich_help_panel=_HOW,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        autocompletion=among(ENGINES),
        metavar="NAME",
        help=f"How the games are solved: {', '.join(ENGINES)}.",
        rich_help_panel=_HOW,
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Model rows an approximation may use; without it none is chosen.",
        rich_help_panel=_HOW,
        show_default=False,
    ),
]
Order = Annotated[
    int, typer.Option(metavar="N", help="The largest sets a truncated engine keeps.", rich_help_panel=_HOW)
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Of everything that is drawn.", rich_help_panel=_HOW)]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Seconds a row may take to optimize. Default: none.",
        rich_help_panel=_HOW,
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Threads across rows. Default: 1.", rich_help_panel=_HOW, show_default=False),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="What arrays may take: 2GiB. Default: a quarter of what is free.",
        rich_help_panel=_HOW,
        show_default=False,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Explain even if it may take long.", rich_help_panel=_HOW)]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.", rich_help_panel=_SHOWN)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Write nothing but errors.", rich_help_panel=_SHOWN)]


def groups_of(given: list[str] | None) -> dict[str, list[str]] | None:
    """`--group name=a,b` as the explainer's `groups`.

    Raises:
        InputError: If one is written otherwise, or twice.
    """
    if not given:
        return None
    groups: dict[str, list[str]] = {}
    for text in given:
        name, sign, columns = text.partition("=")
        listed = [column.strip() for column in columns.split(",") if column.strip()]
        if not sign or not name.strip() or not listed or name.strip() in groups:
            msg = f"--group={text!r} is not understood; allowed: name=column,column with each name once."
            raise InputError(msg)
        groups[name.strip()] = listed
    return groups


def names_of(given: str | None) -> list[str] | None:
    """`--output-names a,b` as a list."""
    return None if given is None else [name.strip() for name in given.split(",")]


def output_of(given: str | None) -> Any:
    """`--output`: a whole number is an index or an integer class, anything else a name."""
    if given is None:
        return None
    try:
        return int(given)
    except ValueError:
        return given
