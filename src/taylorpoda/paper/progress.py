"""What a run is doing and what is left: a live display on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

STAGES = {
    "data": "preparing the data",
    "model": "training the model",
    "lime": "explaining with LIME",
    "table": "training the surrogate",
    "methods": "allocating",
}


@dataclass
class Display:
    """Hears the events of a run and shows them on standard error.

    Attributes:
        weights: {(data, model): how long it takes, in any unit}.
        quiet: Whether to show nothing.
    """

    weights: dict[tuple[str, str], float]
    quiet: bool = False
    _done: set[tuple[str, str]] = field(default_factory=set)
    _reused: set[tuple[str, str]] = field(default_factory=set)
    _started: float = field(default_factory=time.monotonic)
    _live: Progress | None = None
    _total: TaskID | None = None
    _lines: dict[tuple[str, str], TaskID] = field(default_factory=dict)

    def __enter__(self) -> Self:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            self._live = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[left]}"),
                TimeElapsedColumn(),
                console=Console(stderr=True),
            )
            self._total = self._live.add_task(self._count(), total=sum(self.weights.values()), left="")
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, data: str, model: str, stage: str, state: str) -> None:
        """Take note of an event."""
        pair = (data, model)
        if state == "begun":
            self._reused.add(pair)
        elif state == "started":
            self._reused.discard(pair)
        elif state == "done":
            self._done.add(pair)
        if not self.quiet:
            self._show(pair, stage, state)

    def _show(self, pair: tuple[str, str], stage: str, state: str) -> None:
        name = " on ".join(pair)
        if self._live is not None and self._total is not None:
            if state == "begun":
                self._lines[pair] = self._live.add_task(f"  {name}", total=None, left="")
            elif state == "started":
                self._live.update(self._lines[pair], description=f"  {name}: {STAGES[stage]}")
            elif state == "done":
                self._live.remove_task(self._lines.pop(pair))
                self._live.update(
                    self._total,
                    completed=self._weight(self._done),
                    description=self._count(),
                    left=self.left().lstrip(", "),
                )
        elif state == "started":
            self._say(f"{name}: {STAGES[stage]}")
        elif state == "done":
            reused = " (already there)" if pair in self._reused else ""
            self._say(f"{name}: done{reused}; {self._count()}{self.left()}")

    @staticmethod
    def _say(line: str) -> None:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()

    def _count(self) -> str:
        return f"{len(self._done)} of {len(self.weights)} pairs done"

    def _weight(self, pairs: set[tuple[str, str]]) -> float:
        return sum(self.weights[pair] for pair in pairs)

    def left(self) -> str:
        """About how long the rest will take, once one pair has shown it."""
        worked = self._weight(self._done - self._reused)
        rest = sum(self.weights.values()) - self._weight(self._done)
        if not worked or not rest:
            return ""
        seconds = (time.monotonic() - self._started) * rest / worked
        return f", about {seconds / 60:.0f} min left" if seconds >= 90 else f", about {seconds:.0f} s left"
