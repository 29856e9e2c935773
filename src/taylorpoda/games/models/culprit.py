"""Which row of a batch a model cannot answer: asked again by halves, so that the message can name it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def failing_row(ask: Callable[[Any, int], object], rows: Any, n_rows: int, kind: type[Exception]) -> int | None:
    """The first row found on which the model raises when it is asked about that row alone.

    Args:
        ask: Calls the model with a native container and its number of rows.
        rows: The batch that failed.
        n_rows: How many rows it holds.
        kind: What the model raised.

    Returns:
        A row of the batch; None where no single row fails again in the same way, as when the model fails at
        random, from time to time or on large batches only, or where the container cannot be cut.
    """
    start, stop = 0, n_rows
    while stop - start > 1:
        middle = (start + stop) // 2
        if _fails(ask, rows, start, middle, kind):
            stop = middle
        else:
            start = middle
    return start if n_rows and _fails(ask, rows, start, stop, kind) else None


def _fails(ask: Callable[[Any, int], object], rows: Any, start: int, stop: int, kind: type[Exception]) -> bool:
    try:
        piece = _cut(rows, start, stop)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return False
    try:
        ask(piece, stop - start)
    except Exception as error:  # noqa: BLE001 - whatever a user's model raises
        return type(error) is kind
    return False


def _cut(rows: Any, start: int, stop: int) -> Any:
    """Some rows of a native container."""
    if hasattr(rows, "iloc"):
        return rows.iloc[start:stop].reset_index(drop=True)
    if type(rows).__module__.split(".")[0] == "pyarrow":
        return rows.slice(start, stop - start)
    return rows[start:stop]
