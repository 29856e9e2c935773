"""Everything a run writes: Markdown, LaTeX, CSV, JSON, one HTML page and the pictures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from taylorpoda.datasets.cache import write_atomically
from taylorpoda.paper.figures import ceiling_shares, discrepancy_violins, drawn
from taylorpoda.paper.page import page
from taylorpoda.paper.pipeline import as_json
from taylorpoda.paper.texts import comma_separated, latex, markdown

if TYPE_CHECKING:
    from pathlib import Path

    from taylorpoda.paper.pipeline import Reproduction

_FIGURES = {
    "discrepancy": (discrepancy_violins, "Discrepancy of every method, all hold-out rows of every panel."),
    "ceiling": (ceiling_shares, "The share of the possible gain over Shapley that every method reaches, cell by cell."),
}


def json_text(found: Reproduction) -> str:
    """The run as JSON; the same bytes for the same settings."""
    return json.dumps(as_json(found), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


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
        **{f"figures/{name}": content for name, content in pictures.items()},
    }
    written = []
    for name, content in contents.items():
        path = directory / name
        write_atomically(path, content)
        written.append(path)
    return written
