"""Bars: what each feature does to one prediction, or how much it matters over many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.display import NumberFormat, one_line
from taylorpoda.plots import style
from taylorpoda.plots.folding import Folded, fold
from taylorpoda.plots.selection import check_max_display, check_output, n_rows, of_output, select_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from taylorpoda.explanation import Explanation


def bar(
    explanation: Explanation,
    row: int | None = None,
    *,
    output: str | int | None = None,
    max_display: int | None = 10,
    ax: Axes | None = None,
) -> Axes:
    """Draw the attributions as bars, the largest first.

    Args:
        explanation: What to draw.
        row: A row: signed bars. None: the mean of the absolute attributions over all rows, or the only row
            there is.
        output: The name or position of the output; needed where there are several.
        max_display: The most bars. The features beyond it share one bar, which holds their sum. None for all.
        ax: Where to draw; None for a new figure.

    Returns:
        The axes drawn on.

    Example:
        >>> ax = explanation.plot.bar()                       # doctest: +SKIP
        >>> ax = explanation.plot.bar(0, output="setosa")     # doctest: +SKIP
    """
    limit = check_max_display(max_display)
    rows = n_rows(explanation)
    if row is None and rows > 1:
        return _global_bars(explanation, output, limit, ax)
    view = select_row(explanation, 0 if row is None else row, output)
    folded = fold(view.values, limit)
    labels = [view.label(int(player)) for player in folded.shown]
    axes = _draw(folded, labels, ax, signed=True)
    style.label_x(axes, f"attribution: change of {_quantity(view.output_name)}")
    number = NumberFormat.of(view.values)
    style.title(
        axes,
        f"Row {view.row}: from {number(view.base_value)} on average to {number(view.prediction)}",
    )
    return axes


def _global_bars(explanation: Explanation, output: object, limit: int | None, ax: Axes | None) -> Axes:
    which, name = check_output(explanation, output)
    values = of_output(explanation, explanation.values, which)
    folded = fold(np.abs(values).mean(axis=0), limit)
    labels = [one_line(explanation.feature_names[player]) for player in folded.shown]
    axes = _draw(folded, labels, ax, signed=False)
    style.label_x(axes, f"mean |attribution|: average change of {_quantity(name)}, either way")
    style.title(axes, f"{len(values):,} rows")
    return axes


def _quantity(output_name: str | None) -> str:
    return "the model's output" if output_name is None else f"output {one_line(output_name, 24)}"


def _draw(folded: Folded, labels: Sequence[str], ax: Axes | None, *, signed: bool) -> Axes:
    values, texts = list(map(float, folded.values)), list(labels)
    if folded.n_others:
        values.append(folded.others)
        texts.append(folded.others_label if signed else f"sum of {folded.others_label}")
    axes = style.prepare_axes(ax, texts, height=1.3 + 0.34 * len(values))
    colors = [style.sign_color(value) if signed else style.NEGATIVE for value in values]
    if folded.n_others:
        colors[-1] = style.NEUTRAL
    axes.barh(range(len(values)), values, height=0.66, color=colors)
    style.bare_axes(axes)
    style.label_rows(axes, texts, muted=[len(values) - 1] if folded.n_others else [])
    axes.axvline(0.0, color=style.ink(axes), linewidth=0.8)
    number = NumberFormat.of(folded.values, folded.others)
    written = [(value, number(value, signed=signed), value >= 0) for value in values]
    style.span_with_text(axes, min(0.0, *values), max(0.0, *values), written)
    for position, (value, text, rightwards) in enumerate(written):
        style.write_beside(axes, value, position, text, rightwards=rightwards)
    return axes
