"""The tables as Markdown, LaTeX and CSV, and the summary in sentences."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from typing import TYPE_CHECKING

from taylorpoda.paper import contests
from taylorpoda.paper.layout import TASK_TITLES, PrintedCell, PrintedRow, printed_rows
from taylorpoda.paper.settings import MODELS, UNITS, UTILITIES, UTILITY_TITLES
from taylorpoda.paper.summary import OPTIMAL, summarize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taylorpoda.paper.cells import Cell
    from taylorpoda.paper.pipeline import Reproduction
    from taylorpoda.paper.summary import Summary

CAPTION = (
    "Mean improvement over the Shapley value, 95 % bootstrap interval. ↑ better, ↓ worse. Bold: the best of "
    "the paper's methods, and TaylorPODA-optimal where it is no worse than that. AUP: sums; AUC and MSE: "
    "divided by the number of features."
)
CAPTION_WITH_PAPER = f"{CAPTION} The paper's own cells are bold where it prints them so."


ERRORS = (
    "Mean of (f(x) - v(S))² on the hold-out rows over the coalitions S of each size; lower is nearer the conditional "
    "expectation."
)
SPREAD_HEADS = ("Data", "Model", "Method", "Utility", "Mean of the first", "Least", "Most")


def heading(found: Reproduction) -> str:
    """What was run, in a sentence, and in another that its data are not the published ones, if they are not."""
    settings = found.settings
    labels = "the true labels" if settings.label == "y" else "the labels of the model itself"
    networks = f"hidden layers {', '.join(map(str, settings.hidden))}"
    if settings.networks == "code":
        networks = "networks as in the research code, where those called ReLU are not if they are regressions"
    return (
        f"Surrogate: {settings.surrogate}; {settings.rows} hold-out rows per data set; seed {settings.seed}; "
        f"{networks}; AUC against {labels}." + _strange_data(found)
    )


def _strange_data(found: Reproduction) -> str:
    strange = [f"{name} (checksum {one.checksum[:12]}...)" for name, one in found.data.items() if not one.verified]
    if not strange:
        return ""
    return f" Not the published data: {', '.join(strange)}; their numbers do not compare with the paper's."


def unit_text(utility: str) -> str:
    """The unit of a column: "10⁻²" or "10⁻⁴"."""
    return {1e-2: "10⁻²", 1e-4: "10⁻⁴"}[UNITS[utility]]


def summary_lines(found: Reproduction, summary: Summary) -> list[str]:
    """What came out, one sentence a line."""
    overlap = "; ".join(f"{method}: {share}" for method, share in summary.overlap.items() if method != "all")
    lines = [
        f"Intervals that overlap the paper's, both as printed: {summary.overlap['all']} cells ({overlap}).",
        f"The same with our ends as computed, to all digits: {summary.overlap_unrounded}.",
        f"Best of the paper's methods the same: {summary.same_best} table cells.",
        f"Pairs of methods in the paper's order: {summary.same_order}.",
        "Mean rank among the paper's methods (1 is best), ours and the paper's: "
        + "; ".join(f"{method} {ours:.2f} / {papers:.2f}" for method, (ours, papers) in summary.mean_rank.items())
        + ".",
        "TaylorPODA-optimal at least as good as: "
        + "; ".join(f"{method} in {share} cells" for method, share in summary.optimal_ahead.items())
        + ".",
        "Share of the ceiling's gain that TaylorPODA-optimal reaches, mean over the cells and smallest: "
        + "; ".join(
            f"{UTILITY_TITLES[utility]} {summary.mean_share[OPTIMAL][utility]:.3f}, {least:.3f}"
            for utility, least in summary.least_share.items()
        )
        + ".",
    ]
    certified = [pair.certified_fraction for pair in found.pairs]
    overall = sum(certified) / len(certified)
    largest = max(pair.max_discrepancy("TaylorPODA-optimal") for pair in found.pairs)
    lines.append(
        f"TaylorPODA-optimal: certified in {overall:.2%} of the rows ({min(certified):.1%} in the worst pair); largest "
        f"discrepancy {largest:.1e}."
    )
    return lines


def markdown(found: Reproduction) -> str:
    """The whole report as Markdown."""
    lines = [
        "# The paper's tables, reproduced",
        "",
        heading(found),
        "",
        *(f"- {line}" for line in summary_lines(found, summarize(found.cells))),
        "",
    ]
    for task, title in TASK_TITLES.items():
        rows = printed_rows(found.cells, task)
        if rows:
            lines += _markdown_table(task, title, rows)
    lines += _markdown_contests(found)
    lines += _markdown_errors(found)
    if found.settings.retrain > 1:
        lines += _markdown_spread(found)
    return "\n".join(lines) + "\n"


def _markdown_table(task: str, title: str, rows: Sequence[PrintedRow]) -> list[str]:
    heads = [f"{UTILITY_TITLES[utility]} ({unit_text(utility)})" for utility in UTILITIES[task]]
    lines = [f"## {title}", "", CAPTION_WITH_PAPER, "", f"| Model | Data | Method | {' | '.join(heads)} |"]
    lines.append("|---|---|---|" + "---|" * len(heads))
    for row in rows:
        cells = " | ".join(_markdown_cell(cell) for cell in row.cells)
        lines.append(f"| {MODELS[row.model]} | {row.data} | {row.method} | {cells} |")
    return [*lines, ""]


def _markdown_cell(cell: PrintedCell) -> str:
    ours = f"**{cell.mean}** {cell.interval}" if cell.bold else f"{cell.mean} {cell.interval}"
    papers = cell.paper.replace(cell.paper_mean, f"**{cell.paper_mean}**", 1) if cell.paper_bold else cell.paper
    return f"{ours}<br>paper {papers}" if papers else ours


def _markdown_contests(found: Reproduction) -> list[str]:
    lines = [f"## {contests.TITLE}", "", contests.CAPTION, "", f"| {' | '.join(contests.HEADS)} |"]
    lines.append("|---" * len(contests.HEADS) + "|")
    lines += [f"| {' | '.join(contest.texts())} |" for contest in contests.contests(found.cells)]
    return [*lines, ""]


def _markdown_errors(found: Reproduction) -> list[str]:
    lines = [
        "## How good the value function is",
        "",
        ERRORS,
        "",
    ]
    for pair in found.pairs:
        numbers = " ".join(f"{error:.2e}" for error in pair.error_by_size)
        lines.append(f"- {pair.data} on {MODELS[pair.model]}, |S| = 0 … {len(pair.error_by_size) - 1}: {numbers}")
    return [*lines, ""]


def _markdown_spread(found: Reproduction) -> list[str]:
    lines = [f"## {spread_title(found)}", "", spread_note(found), "", f"| {' | '.join(SPREAD_HEADS)} |"]
    lines.append("|---" * len(SPREAD_HEADS) + "|")
    lines += [f"| {' | '.join(texts)} |" for texts in spread_rows(found)]
    return [*lines, ""]


def spread_title(found: Reproduction) -> str:
    """The heading of the section on trainings."""
    return f"{found.settings.retrain} trainings of the surrogate"


def spread_note(found: Reproduction) -> str:
    """What its table shows."""
    overlaps = ", ".join(map(str, found.overlaps))
    return (
        "The same models and rows, only the surrogate trained anew: the means, least and most. Cells whose intervals "
        f"overlap the paper's, training by training: {overlaps}."
    )


def spread_rows(found: Reproduction) -> list[tuple[str, ...]]:
    """One line per cell, as `SPREAD_HEADS` says."""
    return [
        (
            cell.data,
            MODELS[cell.model],
            cell.method,
            UTILITY_TITLES[cell.utility],
            *(f"{mean:.1f}" for mean in (cell.mean, min(cell.retrained), max(cell.retrained))),
        )
        for cell in found.cells
    ]


def latex(found: Reproduction) -> str:
    """The tables as LaTeX (needs booktabs)."""
    parts = []
    for task in TASK_TITLES:
        rows = printed_rows(found.cells, task)
        if rows:
            parts.append(_latex_table(task, rows))
    return "\n".join(parts)


def _latex_table(task: str, rows: Sequence[PrintedRow]) -> str:
    exponent = {1e-2: "-2", 1e-4: "-4"}
    heads = [
        rf"\textbf{{{UTILITY_TITLES[utility]}}} {{\tiny($\times10^{{{exponent[UNITS[utility]]}}}$)}}"
        for utility in UTILITIES[task]
    ]
    caption = CAPTION.replace("↑", r"$\uparrow$").replace("↓", r"$\downarrow$").replace("%", r"\%")
    lines = [
        r"\begin{table}[ht]",
        rf"\caption{{{TASK_TITLES[task]}. {caption}}}",
        r"\begin{center}\footnotesize",
        r"\begin{tabular}{ccl" + "l" * len(heads) + "}",
        r"\toprule",
        rf"\textbf{{Model}} & \textbf{{Data}} & \textbf{{Method}} & {' & '.join(heads)} \\",
    ]
    before: tuple[str, str] | None = None
    for row in rows:
        place = (row.model, row.data)
        if place != before:
            lines.append(r"\midrule")
            model = MODELS[row.model].replace("&", r"\&")
            head = rf"{model} & {row.data.capitalize()}"
            before = place
        else:
            head = " & "
        cells = " & ".join(_latex_cell(cell) for cell in row.cells)
        lines.append(rf"{head} & {row.method} & {cells} \\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{center}", r"\end{table}", ""]
    return "\n".join(lines)


def _latex_cell(cell: PrintedCell) -> str:
    mean = cell.mean[0] + (rf"\textbf{{{cell.mean[1:]}}}" if cell.bold else cell.mean[1:])
    text = rf"{mean} {{\tiny {cell.interval}}}"
    return text.replace("↑", r"$\uparrow$").replace("↓", r"$\downarrow$")


def comma_separated(cells: Sequence[Cell]) -> str:
    """All cells as CSV, one line each."""
    stream = io.StringIO()
    lines = [asdict(cell) for cell in cells]
    writer = csv.DictWriter(stream, fieldnames=list(lines[0]), lineterminator="\n")
    writer.writeheader()
    for line in lines:
        line["retrained"] = " ".join(map(repr, line["retrained"]))
        writer.writerow(line)
    return stream.getvalue()
