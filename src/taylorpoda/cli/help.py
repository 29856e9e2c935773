"""What the help pages share: their examples, printed so that they can be copied."""

from __future__ import annotations


def examples(*lines: str) -> str:
    """The foot of a help page.

    Args:
        *lines: Whole command lines, each short enough not to be broken on a terminal of 80 columns.
    """
    head = "Example:" if len(lines) == 1 else "Examples:"
    return "\n\n".join([head, *(f"[bold]$ {line}[/bold]" for line in lines)])
