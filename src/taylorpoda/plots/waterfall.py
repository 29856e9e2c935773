"""The waterfall: from what the model gives on average, feature by feature, to what it gives here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taylorpoda._support.display import NumberFormat, one_line
from taylorpoda.plots import style
from taylorpoda.plots.selection import check_max_display, select_row
from taylorpoda.plots.steps import Step, steps_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from taylorpoda.explanation import Explanation


def waterfall(
    explanation: Explanation,
    row: int = 0,
    *,
    output: str | int | None = None,
    max_display: int | None = 10,
    ax: Axes | None = None,
) -> Axes:
    """Draw how the attributions lead from the base value to the prediction.

    Read it from the top: the largest contribution comes first, each bar starts where the one above it
    ended, and the last one ends at the prediction.

    Args:
        explanation: What to draw.
        row: The row.
        output: The name or position of the output; needed where there are several.
        max_display: The most bars. The features beyond it share one bar, which holds their sum. None for all.
        ax: Where to draw; None for a new figure.

    Returns:
        The axes drawn on.

    Example:
        >>> ax = explanation.plot.waterfall(0)                # doctest: +SKIP
    """
    view = select_row(explanation, row, output)
    steps = steps_of(view, check_max_display(max_display))
    labels = ["on average", *(step.label for step in steps), f"row {view.row}"]
    axes = style.prepare_axes(ax, labels, height=1.7 + 0.34 * len(steps))
    style.bare_axes(axes)
    style.label_rows(axes, labels, muted=[k + 1 for k, step in enumerate(steps) if step.player is None])
    number = NumberFormat.of([step.value for step in steps])
    ends = [(0, view.base_value), (len(steps) + 1, view.prediction)]
    levels = [view.base_value, view.prediction, *(step.end for step in steps)]
    written = [(step.end, number(step.value, signed=True), step.value >= 0) for step in steps]
    totals = [(value, f" {number(value)}", True) for _, value in ends]
    style.span_with_text(axes, min(levels), max(levels), [*written, *totals])
    _draw_bars(axes, steps)
    _draw_connectors(axes, steps, view.base_value)
    for position, (x, text, rightwards) in enumerate(written, start=1):
        style.write_beside(axes, x, position, text, rightwards=rightwards)
    for (position, value), (x, text, rightwards) in zip(ends, totals, strict=True):
        axes.plot([value], [position], marker="o", markersize=6, color=style.ink(axes))
        style.write_beside(axes, x, position, text, rightwards=rightwards, fontweight="bold")
    style.title(axes, f"Row {view.row}: what leads from the average to this prediction")
    style.label_x(axes, "f(x)" if view.output_name is None else f"f(x) for {one_line(view.output_name, 24)}")
    return axes


def _draw_bars(axes: Axes, steps: Sequence[Step]) -> None:
    for position, step in enumerate(steps, start=1):
        color = style.sign_color(step.value) if step.player is not None else style.NEUTRAL
        (patch,) = axes.barh(position, step.value, left=step.start, height=0.62, color=color)
        if step.unexplained:
            patch.set(facecolor="none", edgecolor=style.NEUTRAL, hatch="////")


def _draw_connectors(axes: Axes, steps: Sequence[Step], base_value: float) -> None:
    """Join each bar to the next, so that the eye follows the running sum."""
    ends = [base_value, *(step.end for step in steps)]
    for position, end in enumerate(ends):
        above = position + (0.31 if position else 0.0)
        below = position + (1.0 if position == len(steps) else 0.69)
        axes.plot([end, end], [above, below], color=style.NEUTRAL, linewidth=0.8, linestyle=(0, (2, 2)), zorder=0)
