"""Where a command writes: results to standard output, remarks to standard error, nothing when asked to be quiet."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from taylorpoda._support.display import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType

_NARROWEST = 60


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
        console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
        if not console.is_terminal and console.width < 120:
            console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, width=120)
        elif console.width < _NARROWEST:
            console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, width=_NARROWEST)
        for part in parts:
            console.print(part)

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
