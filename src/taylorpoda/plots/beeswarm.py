"""The swarm: one dot per row and feature, so that a distribution of attributions is seen at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.display import one_line
from taylorpoda.plots import style
from taylorpoda.plots.folding import fold
from taylorpoda.plots.selection import check_max_display, check_output, n_rows, of_output, player_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from taylorpoda.explanation import Explanation

_SLOTS = 60
_HEIGHT = 0.38


def beeswarm(
    explanation: Explanation,
    *,
    output: str | int | None = None,
    max_display: int | None = 10,
    ax: Axes | None = None,
) -> Axes:
    """Draw the attributions of all rows as dots, colored by the value of the feature.

    Args:
        explanation: What to draw.
        output: The name or position of the output; needed where there are several.
        max_display: The most features, those of largest mean absolute attribution; the axis says how many
            are left out. None for all.
        ax: Where to draw; None for a new figure.

    Returns:
        The axes drawn on.

    Example:
        >>> ax = explanation.plot.beeswarm()                  # doctest: +SKIP
    """
    limit = check_max_display(max_display)
    rows = n_rows(explanation)
    which, name = check_output(explanation, output)
    values = of_output(explanation, explanation.values, which)
    order = fold(np.abs(values).mean(axis=0), None).shown[:limit]
    labels = [one_line(explanation.feature_names[player]) for player in order]
    axes = style.prepare_axes(ax, labels, height=1.5 + 0.36 * len(order))
    style.bare_axes(axes)
    style.label_rows(axes, labels)
    axes.axvline(0.0, color=style.ink(axes), linewidth=0.8, zorder=1)
    shown = values[:, order]
    style.span(axes, min(0.0, float(shown.min())), max(0.0, float(shown.max())))
    colors = player_numbers(explanation)
    mapped = None
    for position, player in enumerate(order):
        heights = position + spread(values[:, player])
        rank = _ranks(colors[:, player])
        known = np.isfinite(rank)
        dots: dict[str, Any] = {"s": 16 if rows <= 300 else 8, "linewidths": 0, "zorder": 3}
        axes.scatter(values[~known, player], heights[~known], color=style.NEUTRAL, **dots)
        if known.any():
            mapped = axes.scatter(
                values[known, player],
                heights[known],
                c=rank[known],
                cmap=style.diverging(),
                vmin=0,
                vmax=1,
                **dots,
            )
    if mapped is not None:
        bar = axes.figure.colorbar(mapped, ax=axes, aspect=30, pad=0.02, ticks=[0, 1])
        bar.ax.set_yticklabels(["low", "high"], fontsize="small")
        bar.set_label("value of the feature", fontsize="small", labelpad=-14)
        bar.outline.set_visible(False)
    left_out = values.shape[1] - len(order)
    more = f"; {left_out} smaller ones not shown" if left_out else ""
    of = "" if name is None else f" for {one_line(name, 24)}"
    style.label_x(axes, f"attribution{of}, one dot per row ({rows:,} rows{more})")
    return axes


def spread(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Heights that keep dots of like value apart: each slot of the axis fills from its middle outwards.

    Args:
        values: Shape (rows,).

    Returns:
        Shape (rows,), within 0.38 of zero.
    """
    low, width = values.min(), np.ptp(values)
    slots = (
        np.zeros(len(values), dtype=int) if width == 0 else ((values - low) / width * (_SLOTS - 1)).round().astype(int)
    )
    order = np.lexsort((np.arange(len(values)), slots))
    starts = np.searchsorted(slots[order], slots[order], side="left")
    place = np.empty(len(values))
    place[order] = np.arange(len(values)) - starts
    side = np.where(place % 2 == 0, 1.0, -1.0) * np.ceil(place / 2)
    fullest = np.abs(side).max(initial=0.0)
    return np.asarray(side * (_HEIGHT / max(fullest, 8.0)))


def _ranks(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values from the 5th to the 95th percentile brought to 0..1: one outlier does not gray the rest."""
    known = column[np.isfinite(column)]
    if known.size == 0:
        return column
    low, high = np.percentile(known, [5, 95])
    if high <= low:
        low, high = known.min(), known.max()
    if high <= low:
        return np.where(np.isfinite(column), 0.5, np.nan)
    return np.asarray(np.clip((column - low) / (high - low), 0.0, 1.0))
