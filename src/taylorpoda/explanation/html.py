"""What a notebook shows of an Explanation: a small table, size seen as color, and what was proven."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.display import NumberFormat, one_line
from taylorpoda.explanation.export import proof_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.explanation.core import Explanation

_MAX_ROWS = 10
_MAX_FEATURES = 12
_POSITIVE, _NEGATIVE = "209,87,28", "53,119,184"
_CELL = "text-align:right;padding:2px 9px;font-variant-numeric:tabular-nums;white-space:nowrap"
_HEAD = f"{_CELL.replace('nowrap', 'normal')};vertical-align:bottom;max-width:9em;overflow-wrap:anywhere"


def explanation_html(explanation: Explanation) -> str:
    """An HTML fragment: up to 10 rows by the 12 largest features, shaded by size and sign, all text escaped.

    Where several outputs are explained, each row shows the output the model gives most to.

    Args:
        explanation: What to show.

    Returns:
        A `div` without scripts, style sheets or anything that is loaded.
    """
    rows, features = len(explanation), len(explanation.feature_names)
    head = html.escape(
        f"{_count(rows, 'row')} x {_count(features, 'feature')} · policy {explanation.policy} · "
        f"utility {one_line(explanation.utility.name)} · engine {explanation.engine}"
    )
    parts = [f'<div style="margin-bottom:4px"><strong>Explanation</strong> · {head}</div>']
    shown = bool(explanation.predictions.size)
    if shown:
        parts.append(_table(explanation))
    parts.append(f'<div style="margin-top:4px;opacity:.75">{html.escape(_footnote(explanation))}</div>')
    return f'<div class="taylorpoda-explanation">{"".join(parts)}</div>'


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _shown(explanation: Explanation) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
    """The first rows: attributions (rows, n), the output each is for, and the prediction of that output."""
    values = explanation.values[:_MAX_ROWS]
    predictions = explanation.predictions[:_MAX_ROWS]
    if values.ndim == 2:
        return values, np.zeros(len(values), dtype=np.intp), predictions
    outputs = predictions.argmax(axis=1)
    each = np.arange(len(values))
    return values[each, :, outputs], outputs, predictions[each, outputs]


def _table(explanation: Explanation) -> str:
    values, outputs, predictions = _shown(explanation)
    order = np.argsort(-np.abs(values).mean(axis=0), kind="stable")[:_MAX_FEATURES]
    number = NumberFormat.of(values)
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    several = explanation.values.ndim == 3
    names = [html.escape(one_line(explanation.feature_names[player], 28)) for player in order]
    titles = ["row", *(["output"] if several else []), "f(x)", *names]
    header = "".join(f'<th scope="col" style="{_HEAD}">{title}</th>' for title in titles)
    lines = []
    for row in range(len(values)):
        cells = [f'<th scope="row" style="{_CELL}">{row}</th>']
        if several:
            name = (explanation.output_names or ())[outputs[row]]
            cells.append(f'<td style="{_CELL}">{html.escape(one_line(name, 24))}</td>')
        cells.append(f'<td style="{_CELL}">{number(predictions[row])}</td>')
        cells += [_shaded(float(values[row, player]), largest, number) for player in order]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    style = "border-collapse:collapse;color:inherit;font-size:90%;margin:0"
    return (
        f'<div style="overflow-x:auto"><table style="{style}"><thead><tr>{header}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _shaded(value: float, largest: float, number: NumberFormat) -> str:
    color = _POSITIVE if value > 0 else _NEGATIVE
    strength = 0.6 * abs(value) / largest
    return f'<td style="{_CELL};background:rgba({color},{strength:.2f})">{number(value, signed=True)}</td>'


def _footnote(explanation: Explanation) -> str:
    """What is not shown, and what was proven."""
    rows, features = len(explanation), len(explanation.feature_names)
    said = []
    if rows > _MAX_ROWS:
        said.append(f"{rows - _MAX_ROWS:,} more rows")
    if rows and features > _MAX_FEATURES:
        said.append(f"{features - _MAX_FEATURES:,} smaller features")
    hidden = f"Not shown: {' and '.join(said)}. " if said else ""
    return hidden + (_proof(explanation) if explanation.predictions.size else "No rows." if not rows else "No outputs.")


def _proof(explanation: Explanation) -> str:
    score, shapley = float(np.mean(explanation.score)), float(np.mean(explanation.shapley_score))
    number = NumberFormat.of(score, shapley)
    better = "higher" if explanation.utility.higher_is_better else "lower"
    name = one_line(explanation.utility.name)
    means = f"mean {name} {number(score)}, Shapley {number(shapley)} ({better} is better)"
    line = proof_line(explanation).strip()
    return f"{line[:1].upper()}{line[1:]}; {means}."
