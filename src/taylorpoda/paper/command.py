"""`taylorpoda reproduce`: the paper's tables by one command."""

from __future__ import annotations

import shutil
from typing import Annotated, Any

import typer

from taylorpoda.datasets.cache import cache_root
from taylorpoda.paper.networks import HIDDEN
from taylorpoda.paper.outputs import made_directory, write
from taylorpoda.paper.parallel import TaskError
from taylorpoda.paper.pipeline import reproduce, weights
from taylorpoda.paper.postulate_lines import postulate_lines
from taylorpoda.paper.progress import Display
from taylorpoda.paper.settings import DATA, MODELS, Settings, fast_settings
from taylorpoda.paper.summary import summarize
from taylorpoda.paper.texts import summary_lines
from taylorpoda.postulates import paper_postulates

app = typer.Typer(
    name="reproduce",
    help="Reproduce the tables and figures of the paper, with the best that is possible beside them.",
    no_args_is_help=True,
    add_completion=False,
)

_INTERRUPTED = 130


@app.command()
def tables(
    data: Annotated[
        list[str] | None, typer.Option(help=f"A data set ({', '.join(DATA)}); repeat for several. All by default.")
    ] = None,
    models: Annotated[
        list[str] | None, typer.Option(help=f"A model ({', '.join(MODELS)}); repeat for several. All by default.")
    ] = None,
    surrogate: Annotated[
        str, typer.Option(help="The masked-output calculator: ours, or paper for the published recipe.")
    ] = "ours",
    fast: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--fast", help="Ten rows, two small data sets: under a minute.")
    ] = False,
    rows: Annotated[int | None, typer.Option(help="Hold-out rows per data set; 100 by default.")] = None,
    seed: Annotated[
        int, typer.Option(help="Of the split, the models, the surrogates and every draw; 2024 gives the paper's rows.")
    ] = 2024,
    networks: Annotated[
        str, typer.Option(help="The networks that are explained: the paper's, or those its research code trained.")
    ] = "paper",
    hidden: Annotated[str, typer.Option(help="Hidden layers of the paper's networks.")] = ",".join(map(str, HIDDEN)),
    label: Annotated[
        str, typer.Option(help="What AUC compares with: y, the true labels, or model, the model's own.")
    ] = "y",
    retrain: Annotated[
        int, typer.Option(help="Train the surrogate this many times and report how far the means move.")
    ] = 1,
    jobs: Annotated[int, typer.Option(help="Pairs of data and model worked on at a time, each in a process.")] = 1,
    out: Annotated[
        str, typer.Option(metavar="PATH", help="The directory the report goes to; made if need be.")
    ] = "reproduce-output",
    quiet: Annotated[  # noqa: FBT002 - a flag of the command line
        bool, typer.Option("--quiet", help="Show no progress.")
    ] = False,
) -> None:
    """The two tables of the paper, with intervals, beside its own numbers.

    What is finished is kept in the user's cache directory: run it again and it goes on, to the same bytes.

    Example: taylorpoda reproduce tables --data titanic --models xgboost --out titanic-tables
    """
    try:
        settings = _settings(data, models, surrogate, rows, seed, networks, hidden, label, retrain, fast=fast)
        with made_directory(out) as directory:
            with Display(weights(settings), quiet=quiet) as display:
                found = reproduce(settings, jobs=jobs, listen=display)
            written = write(found, directory)
    except KeyboardInterrupt:
        kept = f"finished stages are kept in {cache_root() / 'paper'}"
        typer.echo(f"interrupted; {kept}, and the same command goes on from there", err=True)
        # Not typer.Exit: the commands of files say of its 130 that nothing was written.
        raise SystemExit(_INTERRUPTED) from None
    except (ValueError, OSError, ImportError, TaskError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    if not quiet:
        for line in summary_lines(found, summarize(found.cells)):
            typer.echo(line)
    typer.echo(str(written[0]))


@app.command()
def postulates(
    players: Annotated[int, typer.Option(help="Players of the games the methods are audited on, 2 to 10.")] = 4,
) -> None:
    """The paper's table of postulates, printed beside computed.

    Example: taylorpoda reproduce postulates
    """
    try:
        rows = paper_postulates(players)
    except ValueError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    for line in postulate_lines(rows, shutil.get_terminal_size().columns):
        typer.echo(line)


def _settings(
    data: list[str] | None,
    models: list[str] | None,
    surrogate: str,
    rows: int | None,
    seed: int,
    networks: str,
    hidden: str,
    label: str,
    retrain: int,
    *,
    fast: bool,
) -> Settings:
    try:
        layers = tuple(int(size) for size in hidden.split(","))
    except ValueError:
        msg = f"hidden={hidden!r} is not understood; allowed: layer sizes such as 64,64,32,16."
        raise ValueError(msg) from None
    chosen: dict[str, Any] = {"data": tuple(data)} if data else {}
    if models:
        chosen["models"] = tuple(models)
    if fast:
        chosen |= fast_settings(tuple(data or ()))
    if rows is not None:
        chosen["rows"] = rows
    return Settings(
        **chosen,
        surrogate=surrogate,
        seed=seed,
        networks=networks,
        hidden=layers,
        label=label,
        retrain=retrain,
    )
