"""What a person sees in the terminal: one line per prediction, one table of methods and purposes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from taylorpoda._support.display import NumberFormat
from taylorpoda.cli.console import plain
from taylorpoda.explanation.export import proof_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.cli.comparison import MethodTable
    from taylorpoda.explanation import Explanation

_ROWS = 10
_STRONGEST = 4
_CEILING = "no ranking can beat"


def explanation_screen(explanation: Explanation, positions: NDArray[np.intp], seconds: float) -> list[Any]:
    """A heading, one line per row and output, and what was proven.

    Args:
        explanation: What to show.
        positions: The number of each row in the user's file.
        seconds: How long it took.
    """
    rows, n = explanation.values.shape[:2]
    told = explanation.provenance
    parts: list[Any] = [
        plain(explanation.subject.model, 100, "bold"),
        plain(
            f"{counted(rows, 'row')}, {counted(n, 'feature')}, {counted(told['background_rows'], 'background row')}; "
            f"engine {explanation.engine}, policy {explanation.policy}, utility {explanation.utility.name}",
            300,
        ),
        _rows_table(explanation, positions),
    ]
    lines = rows * (1 if explanation.values.ndim == 2 else explanation.values.shape[2])
    if lines > _ROWS:
        parts.append(plain(f"{lines - _ROWS:,} more lines; --out writes them all.", 200, "dim"))
    if rows:
        parts.append(_score_line(explanation))
        parts.append(plain(proof_line(explanation), 300))
    evaluated = told.get("model_rows_evaluated", 0)
    parts.append(plain(f"{counted(evaluated, 'model row')} in {seconds:.1f} s, seed {told['seed']}", 200, "dim"))
    return parts


def counted(number: int, noun: str) -> str:
    """A number of things: "1 row", "2,000 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _rows_table(explanation: Explanation, positions: NDArray[np.intp]) -> Table:
    several = explanation.values.ndim == 3
    values = explanation.values if several else explanation.values[:, :, None]
    base, full = (part if several else part[:, None] for part in (explanation.base_values, explanation.predictions))
    names = explanation.output_names or ("",)
    number = NumberFormat.of(values[:_ROWS], base[:_ROWS], full[:_ROWS])
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("row", justify="right", no_wrap=True)
    if several:
        table.add_column("output")
    table.add_column("f(x)", justify="right", no_wrap=True)
    table.add_column("base", justify="right", no_wrap=True)
    table.add_column("strongest features", overflow="fold", ratio=1)
    shown = [(row, k) for row in range(len(values)) for k in range(values.shape[2])][:_ROWS]
    for row, k in shown:
        cells: list[Any] = [str(positions[row])]
        if several:
            cells.append(plain(names[k], 24))
        cells += [number(full[row, k]), number(base[row, k])]
        cells.append(_strongest(values[row, :, k], explanation.feature_names, number))
        table.add_row(*cells)
    return table


def _strongest(values: NDArray[np.float64], names: tuple[str, ...], number: NumberFormat) -> Text:
    order = np.argsort(-np.abs(values), kind="stable")
    line = Text()
    for place, feature in enumerate(order[:_STRONGEST]):
        line.append_text(plain(names[feature], 28))
        text = number(values[feature], signed=True)
        line.append(f" {text}", style="" if text == "0" else _color(values[feature]))
        line.append("  " if place + 1 < min(len(order), _STRONGEST) else "")
    rest = order[_STRONGEST:]
    if len(rest):
        line.append(f"  {len(rest)} more {number(float(values[rest].sum()), signed=True)}", style="dim")
    return line


def _color(value: float) -> str:
    return "red" if value > 0 else "blue"


def _score_line(explanation: Explanation) -> Text:
    score, shapley = float(np.mean(explanation.score)), float(np.mean(explanation.shapley_score))
    number = NumberFormat.of(score, shapley)
    way = "higher" if explanation.utility.higher_is_better else "lower"
    name = explanation.utility.name
    return plain(f"mean {name} {number(score)}, Shapley {number(shapley)} ({way} is better)", 200)


def comparison_screen(table: MethodTable, width: int) -> list[Any]:
    """Methods against utilities: means, the best of each column bold, the ceiling below.

    Args:
        table: What to show.
        width: Columns of the terminal; where not all utilities fit side by side, they are shown in several blocks.
    """
    numbers = [NumberFormat.of(column) for column in np.vstack([table.means, table.ceilings[None]]).T]
    names = [(*name.split("_"), "higher" if up else "lower", "is better")
             for name, up in zip(table.utilities, table.higher_is_better, strict=True)]  # fmt: skip
    sums = [_sum_text(gap, table.tolerance) for gap in table.discrepancy]
    first = max(len(title) for title in (*table.titles, _CEILING)) + 2
    last = max(len(text.plain) for text in (*sums, Text("adds up"))) + 3
    widths = [
        3 + max(map(len, (*words, *map(number, (*column, ceiling)))))
        for words, number, column, ceiling in zip(names, numbers, table.means.T, table.ceilings, strict=True)
    ]
    blocks: list[list[int]] = [[]]
    for j, one in enumerate(widths):
        if blocks[-1] and first + sum(widths[k] for k in blocks[-1]) + one + last > width:
            blocks.append([])
        blocks[-1].append(j)
    return [_block(table, block, names, numbers, sums) for block in blocks]


def _block(
    table: MethodTable, block: list[int], names: list[tuple[str, ...]], numbers: list[NumberFormat], sums: list[Text]
) -> Table:
    """Some utilities of all methods."""
    shown = Table(box=SIMPLE_HEAD, pad_edge=False)
    shown.add_column("method", no_wrap=True)
    lines = max(len(names[j]) for j in block)
    for j in block:
        shown.add_column(Text("\n".join(("",) * (lines - len(names[j])) + names[j])), justify="right", no_wrap=True)
    shown.add_column(Text("adds up\nto"), justify="right", no_wrap=True)
    best = table.best
    for i, title in enumerate(table.titles):
        cells = [Text(numbers[j](table.means[i, j]), style="bold" if best[i, j] else "") for j in block]
        shown.add_row(title, *cells, sums[i])
    if not bool(np.isnan(table.ceilings).all()):
        shown.add_section()
        ceilings = [Text(numbers[j](table.ceilings[j]), style="dim") for j in block]
        shown.add_row(Text(_CEILING, style="dim"), *ceilings, "")
    return shown


def _sum_text(gap: float, tolerance: float) -> Text:
    return Text("f(x)") if gap <= tolerance else Text(f"f(x) ±{gap:.2g}", style="red")
