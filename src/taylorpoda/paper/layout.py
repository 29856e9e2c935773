"""The paper's two tables as rows of printed text, before any markup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from taylorpoda.paper.cells import printed
from taylorpoda.paper.published import published
from taylorpoda.paper.settings import DATA, METHODS, MODELS, PRINTED_METHODS, UTILITIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taylorpoda.paper.cells import Cell

TASK_TITLES = {"classification": "Classification", "regression": "Regression"}


@dataclass(frozen=True)
class PrintedCell:
    """A cell as the tables print it.

    Attributes:
        mean: The mean with its arrow, e.g. "↑7.6".
        interval: The interval with its arrows, e.g. "(↑3.4, ↑11.9)".
        bold: Whether it is the best of the paper's methods, or, for a method the paper lacks, no worse than
            it.
        paper_mean: The paper's mean with its arrow, or "".
        paper: The paper's cell, or "".
        paper_bold: Whether the paper prints its mean bold.
    """

    mean: str
    interval: str
    bold: bool
    paper_mean: str
    paper: str
    paper_bold: bool


@dataclass(frozen=True)
class PrintedRow:
    """A row of a table.

    Attributes:
        model: The model's name.
        data: The data set's name.
        method: The method.
        cells: One per utility.
    """

    model: str
    data: str
    method: str
    cells: tuple[PrintedCell, ...]


def arrowed(number: float) -> str:
    """A number as printed: an arrow for its direction, one decimal. Zero points up."""
    rounded = printed(number)
    return f"{'↑' if rounded >= 0 else '↓'}{abs(rounded):.1f}"


def printed_rows(cells: Sequence[Cell], task: str) -> list[PrintedRow]:
    """The rows of the table of one task, in the paper's order: model, data, method."""
    found = {(cell.model, cell.data, cell.utility, cell.method): cell for cell in cells}
    rows = []
    for model in MODELS:
        for data, its_task in DATA.items():
            if its_task != task or not any(key[:2] == (model, data) for key in found):
                continue
            for method in METHODS:
                line = []
                for utility in UTILITIES[task]:
                    rivals = [found[model, data, utility, rival] for rival in PRINTED_METHODS]
                    line.append(_printed_cell(found[model, data, utility, method], rivals))
                rows.append(PrintedRow(model, data, method, tuple(line)))
    return rows


def _printed_cell(cell: Cell, rivals: list[Cell]) -> PrintedCell:
    best = max(printed(rival.mean) for rival in rivals)
    # As it is printed, which is not always the best of the printed means.
    original = published().get((cell.data, cell.model, cell.method, cell.utility))
    paper = ""
    if cell.paper_mean is not None and cell.paper_low is not None and cell.paper_high is not None:
        paper = f"{arrowed(cell.paper_mean)} ({arrowed(cell.paper_low)}, {arrowed(cell.paper_high)})"
    return PrintedCell(
        mean=arrowed(cell.mean),
        interval=f"({arrowed(cell.low)}, {arrowed(cell.high)})",
        bold=printed(cell.mean) >= best,
        paper_mean="" if cell.paper_mean is None else arrowed(cell.paper_mean),
        paper=paper,
        paper_bold=original is not None and original.bold,
    )
