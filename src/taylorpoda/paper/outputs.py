"""Everything a run writes: Markdown, LaTeX, CSV, JSON, one HTML page and the pictures."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from taylorpoda.datasets.cache import write_atomically
from taylorpoda.paper.figures import ceiling_shares, discrepancy_violins, drawn
from taylorpoda.paper.page import page
from taylorpoda.paper.pipeline import as_json
from taylorpoda.paper.texts import comma_separated, latex, markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taylorpoda.paper.pipeline import Reproduction

_PICTURES = "figures"
_FIGURES = {
    "discrepancy": (
        discrepancy_violins,
        "Discrepancy of every method's attributions for Inclusion AUP, all hold-out rows of every panel.",
    ),
    "ceiling": (ceiling_shares, "The share of the possible gain over Shapley that every method reaches, cell by cell."),
}


def json_text(found: Reproduction) -> str:
    """The run as JSON; the same bytes for the same settings."""
    return json.dumps(as_json(found), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


@contextlib.contextmanager
def made_directory(out: str) -> Iterator[Path]:
    """The directory of a report, made before the run, so that one that cannot be is refused before.

    Args:
        out: Its path as the user wrote it.

    Yields:
        The directory; what was made of it is gone again if an error comes before the report.

    Raises:
        ValueError: If it cannot be made or written to.
    """
    if not out:
        msg = "out='' names no directory; allowed: a directory, made if need be."
        raise ValueError(msg)
    directory = Path(out)
    missing: list[Path] = []
    try:
        pictures = directory / _PICTURES
        missing = [folder for folder in (pictures, directory, *directory.parents) if not folder.exists()]
        pictures.mkdir(parents=True, exist_ok=True)
        for folder in (directory, pictures):
            if not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        _remove_empty(missing)
        msg = f"out={out!r} cannot be used: {error.strerror}; allowed: a directory that can be written to."
        raise ValueError(msg) from error
    try:
        yield directory
    except BaseException:
        _remove_empty(missing)
        raise


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):  # not made after all, or somebody has put something there
            folder.rmdir()


def write(found: Reproduction, directory: Path) -> list[Path]:
    """Write the report.

    Args:
        found: The reproduction.
        directory: Where to; made if need be. Files of an earlier run are replaced, each at once.

    Returns:
        The files, the page first.
    """
    pictures = {
        f"{name}.{kind}": content
        for name, (draw, _) in _FIGURES.items()
        for kind, content in drawn(lambda draw=draw: draw(found)).items()  # type: ignore[misc]
    }
    captioned = {caption: pictures[f"{name}.svg"] for name, (_, caption) in _FIGURES.items()}
    contents = {
        "index.html": page(found, captioned).encode(),
        "tables.md": markdown(found).encode(),
        "tables.tex": latex(found).encode(),
        "tables.csv": comma_separated(found.cells).encode(),
        "results.json": json_text(found).encode(),
        **{f"{_PICTURES}/{name}": content for name, content in pictures.items()},
    }
    written = []
    for name, content in contents.items():
        path = directory / name
        write_atomically(path, content)
        written.append(path)
    return written
