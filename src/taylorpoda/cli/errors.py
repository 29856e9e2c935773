"""How a command fails: one line, and a code that says whose turn it is."""

from __future__ import annotations

from typing import Any

import typer

from taylorpoda._support.display import one_line
from taylorpoda.explanation import DiscrepancyError
from taylorpoda.games.models.output import GameError

INTERRUPTED = 130
_LONGEST = 2_000
# typer brings its own copy of click; its exceptions are found through the ones it exports.
_USAGE: Any = typer.BadParameter.__mro__[1]
_INPUT_ERRORS = (ValueError, TypeError, LookupError, FileNotFoundError, IsADirectoryError, PermissionError)


class InputError(ValueError):
    """Something the user typed or a file they named cannot be used; the message says what to change."""


def exit_code(error: BaseException) -> int:
    """2 where what was asked for cannot be, 1 where it was tried and failed, 130 after an interruption."""
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return INTERRUPTED
    if isinstance(error, typer.Exit):
        return int(error.exit_code)
    if isinstance(error, GameError | DiscrepancyError):
        return 1
    return 2 if isinstance(error, (_USAGE, *_INPUT_ERRORS)) else 1


def error_line(error: BaseException) -> str:
    """The one line; empty where a help page was shown because nothing was asked for."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return ""
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return "interrupted; nothing was written"
    if isinstance(error, _USAGE):
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "taylorpoda"
        return f"error: {one_line(error.format_message(), _LONGEST)} (see {command} --help)"
    text = one_line(str(error), _LONGEST) if str(error) else ""
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{one_line(str(error.filename), 300)}: {error.strerror or type(error).__name__}"
    if not isinstance(error, ValueError | TypeError | ImportError | OSError | DiscrepancyError):
        text = f"{type(error).__name__}: {text} (set TAYLORPODA_TRACEBACK=1 to see where)"
    return f"error: {text or type(error).__name__}"
