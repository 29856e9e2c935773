"""A progress bar on anything that takes over a second; silent when nobody is watching."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

    from rich.progress import Progress, TaskID

_PATIENCE = 1.0
_silencers: list[object] = []


@contextmanager
def silenced() -> Iterator[None]:
    """Inside the block no bar draws: something larger shows its own progress on the terminal."""
    token = object()
    _silencers.append(token)
    try:
        yield
    finally:
        _silencers.remove(token)


class ProgressBar:
    """Counts steps; draws on standard error after a second, and only on a terminal.

    Example:
        >>> with ProgressBar("explaining", total=3) as bar:
        ...     for _ in range(3):
        ...         bar.advance()
    """

    def __init__(self, description: str, total: int, *, enabled: bool = True) -> None:
        self._description = description
        self._total = total
        self._done = 0
        self._started = 0.0
        self._enabled = enabled
        self._lock = threading.Lock()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        watched = sys.stderr is not None and sys.stderr.isatty()
        self._enabled = self._enabled and watched and not _silencers
        return self

    def advance(self, steps: int = 1) -> None:
        """Report `steps` more steps done; any thread may call it."""
        with self._lock:
            self._show(self._done + steps)

    def reach(self, done: int) -> None:
        """Report that at least `done` steps are done."""
        with self._lock:
            self._show(max(self._done, done))

    def _show(self, done: int) -> None:
        self._done = min(done, self._total)
        if not self._enabled:
            return
        if self._progress is None and time.monotonic() - self._started > _PATIENCE:
            self._open()
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=self._done)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(self._description, total=self._total, completed=self._done)
        self._progress.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()
