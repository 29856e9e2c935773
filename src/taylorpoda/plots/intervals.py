"""Admissible intervals: what every split of the interactions allows, and which signs are certain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.display import one_line
from taylorpoda.plots import style
from taylorpoda.plots.folding import fold
from taylorpoda.plots.selection import check_max_display, of_output, select_row, signs_fixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from taylorpoda.explanation import Explanation

CERTAIN = "sign certain: no admissible split of the interactions flips it"
OPEN = "sign open: it depends on how the interactions are split"


def intervals(
    explanation: Explanation,
    row: int = 0,
    *,
    output: str | int | None = None,
    max_display: int | None = 10,
    ax: Axes | None = None,
) -> Axes:
    """Draw each attribution inside its admissible interval, with the Shapley value beside it.

    The interval of a feature holds every value that some admissible way of sharing the interactions gives
    it. Where it excludes 0, the sign of the feature does not depend on the way chosen; such intervals are
    drawn in color with end caps, the others in gray without.

    Args:
        explanation: What to draw.
        row: The row.
        output: The name or position of the output; needed where there are several.
        max_display: The most features, the largest attributions first; the axis says how many are left out.
            None for all.
        ax: Where to draw; None for a new figure.

    Returns:
        The axes drawn on.

    Example:
        >>> ax = explanation.plot.intervals(0)                # doctest: +SKIP
    """
    view = select_row(explanation, row, output)
    limit = check_max_display(max_display)
    order = fold(view.values, None).shown[:limit]
    lower = of_output(explanation, explanation.lower, view.output)[view.row]
    upper = of_output(explanation, explanation.upper, view.output)[view.row]
    certain = signs_fixed(lower, upper)
    labels = [view.label(int(player)) for player in order]
    axes = style.prepare_axes(ax, labels, height=2.4 + 0.34 * len(order))
    style.bare_axes(axes, grid=True)
    style.label_rows(axes, labels)
    axes.axvline(0.0, color=style.ink(axes), linewidth=0.8, zorder=1)
    style.span(axes, min(0.0, float(lower[order].min())), max(0.0, float(upper[order].max())))
    for position, player in enumerate(order):
        _draw_interval(axes, position, float(lower[player]), float(upper[player]), certain=bool(certain[player]))
    shapley = shapley_values(explanation, view.row, view.output)
    marks = _marks(axes)
    axes.plot(shapley[order], range(len(order)), **marks["Shapley value"])
    axes.plot(view.values[order], range(len(order)), **marks["attribution"])
    left_out = len(view.values) - len(order)
    more = f" ({left_out} smaller ones not shown)" if left_out else ""
    of = "" if view.output_name is None else f" for {one_line(view.output_name, 24)}"
    style.label_x(axes, f"attribution{of} inside its admissible interval{more}")
    style.title(axes, f"Row {view.row}: the sign of {int(certain.sum())} of {len(certain)} features is certain")
    _legend(axes, marks, str(explanation.policy))
    return axes


def _draw_interval(axes: Axes, position: float, low: float, high: float, *, certain: bool) -> None:
    axes.plot([low, high], [position, position], **_line(low + high, certain=certain))


def _line(direction: float, *, certain: bool) -> dict[str, Any]:
    """How an interval looks: certain signs in color and with caps, open ones gray and without."""
    return {
        "color": style.sign_color(direction) if certain else style.LIGHT,
        "linewidth": 5,
        "solid_capstyle": "butt",
        "marker": "|" if certain else "none",
        "markersize": 13,
        "markeredgewidth": 2,
        "zorder": 2,
    }


def _marks(axes: Axes) -> dict[str, dict[str, Any]]:
    face, ink = axes.get_facecolor(), style.ink(axes)
    hollow = {"marker": "D", "markersize": 8, "markerfacecolor": face, "markeredgecolor": ink, "zorder": 4}
    solid = {"marker": "o", "markersize": 5.5, "markerfacecolor": ink, "markeredgecolor": ink, "zorder": 5}
    return {"Shapley value": {"linestyle": "none", **hollow}, "attribution": {"linestyle": "none", **solid}}


def _legend(axes: Axes, marks: dict[str, dict[str, Any]], policy: str) -> None:
    from matplotlib.lines import Line2D

    both = tuple(Line2D([], [], **{**_line(sign, certain=True), "markersize": 9}) for sign in (-1.0, 1.0))
    handles = {
        CERTAIN: both,
        OPEN: Line2D([], [], **_line(0.0, certain=False)),
        f"attribution, policy {policy!r}": Line2D([], [], **marks["attribution"]),
        "Shapley value": Line2D([], [], **marks["Shapley value"]),
    }
    style.legend_below(axes, handles)


def shapley_values(explanation: Explanation, row: int, output: int) -> NDArray[np.float64]:
    """The Shapley values of one row and output, from the stored game."""
    if explanation.policy == "shapley":
        return np.asarray(of_output(explanation, explanation.values, output)[row])
    alone = explanation[row : row + 1].reallocate(policy="shapley")
    return np.asarray(of_output(alone, alone.values, output)[0])
