"""The commands, and how every one of them ends: 0 done, 1 failed, 2 asked for something that cannot be."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from taylorpoda._version import __version__
from taylorpoda.cli.compare_command import COMPARE_EXAMPLES, COMPARE_HELP, compare
from taylorpoda.cli.console import spell_out
from taylorpoda.cli.demo_command import DEMO_EXAMPLES, DEMO_HELP, demo
from taylorpoda.cli.errors import INTERRUPTED, error_line, exit_code
from taylorpoda.cli.explain_command import EXPLAIN_EXAMPLES, EXPLAIN_HELP, explain
from taylorpoda.cli.help import examples

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXAMPLES = (
    "taylorpoda demo --out demo-output",
    "taylorpoda explain model.json data.csv --target label --rows 0:5",
    "taylorpoda compare model.json data.csv --target label --rows 0:20",
)
# Commands of rooms that take long to import: name -> (module, attribute, one line of help, an example).
_LAZY = {
    "reproduce": (
        "taylorpoda.paper.command",
        "app",
        "Reproduce the tables and figures of the paper.",
        "taylorpoda reproduce postulates",
    ),
}


class _Commands(TyperGroup):
    """The commands, those of `_LAZY` imported only when they are called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, in the order of the help page."""
        return [*super().list_commands(ctx), *_LAZY]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One command; of a lazy one what the overview lists."""
        if cmd_name in _LAZY:
            return _named(cmd_name, _LAZY[cmd_name][2])
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, imported now if it is a lazy one."""
        if not args or args[0] not in _LAZY:
            return super().resolve_command(ctx, args)
        module, attribute, _, example = _LAZY[args[0]]
        command = get_command(getattr(importlib.import_module(module), attribute))
        command.name = args[0]
        command.epilog = command.epilog or examples(example)
        return args[0], command, args[1:]


def _named(name: str, text: str) -> Any:
    """A stand-in that the overview can list without importing the room."""
    stand_in = typer.Typer()
    stand_in.command(name, help=text)(lambda: None)
    return get_command(stand_in)


app = typer.Typer(
    name="taylorpoda",
    cls=_Commands,
    help="Feature attributions that are exact, add up, and are the best admissible ones for your purpose.",
    epilog=examples(*_EXAMPLES),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(help=EXPLAIN_HELP, epilog=examples(*EXPLAIN_EXAMPLES))(explain)
app.command(help=COMPARE_HELP, epilog=examples(*COMPARE_EXAMPLES))(compare)
app.command(help=DEMO_HELP, epilog=examples(*DEMO_EXAMPLES))(demo)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it with the flag
    if wanted:
        typer.echo(f"taylorpoda {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Feature attributions that are exact, add up, and are the best admissible ones for your purpose."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: What was typed after the program's name; None for what was.

    Returns:
        The exit code: 0 done, 1 failed, 2 asked for something that cannot be, 130 interrupted.
    """
    spell_out()
    try:
        result = get_command(app).main(
            args=None if arguments is None else list(arguments), prog_name="taylorpoda", standalone_mode=False
        )
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as left:  # a command that has said itself why it ends
        return left.code if isinstance(left.code, int) else 1
    except (Exception, KeyboardInterrupt) as error:
        if os.environ.get("TAYLORPODA_TRACEBACK"):
            raise
        line = error_line(error)
        if line:
            print(line, file=sys.stderr)  # noqa: T201 - the one line a failed command leaves
        return exit_code(error)
    if result == INTERRUPTED:  # newer typers turn an interruption into a code themselves
        print(error_line(KeyboardInterrupt()), file=sys.stderr)  # noqa: T201 - as above
    return result if isinstance(result, int) else 0
