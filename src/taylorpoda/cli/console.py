"""Where a command writes: results to standard output, remarks to standard error, nothing when asked to be quiet."""

from __future__ import annotations

import codecs
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from taylorpoda._support.display import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType

_NARROWEST = 60
_PIPED = 120
# What our own signs become where a stream's encoding has no room for them.
_PLAINER = {"\u2212": "-", "\u00b1": "+/-", "\u2026": "...", "\u2013": "-", "\u00b7": "*"}


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """Signs a stream cannot encode, in plainer ones; anything else as an escape, never as an error."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    escaped = (one.encode("ascii", "backslashreplace").decode() for one in text)
    return "".join(_PLAINER.get(one, other) for one, other in zip(text, escaped, strict=True)), error.end


def spell_out() -> None:
    """Let standard output and error write any text, whatever their encoding."""
    codecs.register_error("taylorpoda.spelled", _spelled)
    for stream in (sys.stdout, sys.stderr):
        encoding = str(getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "")
        if not encoding.startswith("utf") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="taylorpoda.spelled")


class Screen:
    """One command's output.

    Args:
        quiet: Whether to write nothing but what was asked for as JSON.
        as_json: Whether standard output gets one JSON document instead of tables.
    """

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self._tables = not (quiet or as_json)
        self._remarks = not quiet
        self._json = as_json

    def show(self, *parts: RenderableType) -> None:
        """Tables and lines for a person, on standard output; colors only on a terminal, none under NO_COLOR."""
        if not self._tables:
            return
        console = self._console()
        for part in parts:
            console.print(part)

    @property
    def width(self) -> int:
        """Columns of what tables are written to."""
        return self._console().width

    @staticmethod
    def _console() -> Console:
        options: dict[str, Any] = dict(file=sys.stdout, highlight=False, markup=False, emoji=False)
        if os.environ.get("NO_COLOR"):
            options["color_system"] = None  # neither colors nor what else a terminal does by escape sequences
        console = Console(**options)
        least = _NARROWEST if console.is_terminal else _PIPED
        return console if console.width >= least else Console(**options, width=least)

    def remark(self, text: str) -> None:
        """One line about what is going on, on standard error."""
        if self._remarks:
            print(one_line(text, 1_000), file=sys.stderr)  # noqa: T201 - the command line speaks

    def document(self, content: Any) -> None:
        """One JSON document on standard output, if that was asked for."""
        if self._json:
            print(json.dumps(content, indent=2, allow_nan=False))  # noqa: T201 - the command line speaks


def plain(text: object, limit: int = 60, style: str = "") -> Text:
    """Any text of the user's as what it says: no markup, no control characters, bounded."""
    return Text(one_line(text, limit), style=style)
