"""The heat map of pairwise interactions: what two features earn only together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.display import NumberFormat, one_line
from taylorpoda.plots import style
from taylorpoda.plots.selection import check_max_display, select_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from taylorpoda.explanation import Explanation


def interactions(
    explanation: Explanation,
    row: int = 0,
    *,
    output: str | int | None = None,
    max_display: int | None = 12,
    ax: Axes | None = None,
) -> Axes:
    """Draw the dividends of single features (on the diagonal) and of pairs (below it).

    The dividend of a pair is what the two features earn only by acting together, and what an admissible
    allocation may share between them in any proportion; the diagonal is what nobody can take from a
    feature.

    Args:
        explanation: What to draw.
        row: The row.
        output: The name or position of the output; needed where there are several.
        max_display: The most features, those with the largest dividends; the axis says how many are left
            out. None for all.
        ax: Where to draw; None for a new figure.

    Returns:
        The axes drawn on.

    Example:
        >>> ax = explanation.plot.interactions(0)             # doctest: +SKIP
    """
    view = select_row(explanation, row, output)
    limit = check_max_display(max_display)
    matrix = pair_matrix(explanation, view.row, view.output)
    order = np.sort(np.argsort(-np.abs(matrix).sum(axis=1), kind="stable")[:limit])
    shown = matrix[np.ix_(order, order)]
    names = [one_line(view.names[player], 22) for player in order]
    left_out = len(view.values) - len(order)
    more = f" ({left_out} features with smaller ones not shown)" if left_out else ""
    of = "" if view.output_name is None else f", output {one_line(view.output_name, 24)}"
    heading = f"Row {view.row}{of}: dividends of features and of pairs{more}"
    width = max(1.4 + 0.58 * len(order), 0.085 * len(heading))  # few features must not cut the title off
    axes = style.prepare_axes(ax, names, height=2.2 + 0.46 * len(order), width=width)
    largest = float(np.abs(shown).max(initial=0.0)) or 1.0
    masked = np.ma.masked_where(np.triu(np.ones_like(shown, dtype=bool), 1), shown)
    image = axes.imshow(masked, cmap=style.diverging(), vmin=-largest, vmax=largest, aspect="auto")
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0)
    axes.set_yticks(range(len(names)), names, **style.PLAIN)
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor", **style.PLAIN)
    _write_cells(axes, shown, largest)
    bar = axes.figure.colorbar(image, ax=axes, aspect=30, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize="small")
    style.title(axes, heading)
    return axes


def _write_cells(axes: Axes, shown: NDArray[np.float64], largest: float) -> None:
    """Numbers in the cells while they fit: dark on the pale middle of the colors, white on their ends."""
    number = NumberFormat.of(shown)
    inches = axes.get_window_extent().width / axes.figure.dpi
    if 0.75 * inches / len(shown) < 0.06 * len(number(-float(np.abs(shown).max()))):
        return
    for i in range(len(shown)):
        for j in range(i + 1):
            color = "white" if abs(shown[i, j]) > 0.55 * largest else "#202328"
            axes.text(j, i, number(shown[i, j]), ha="center", va="center", fontsize="x-small", color=color)


def pair_matrix(explanation: Explanation, row: int, output: int) -> NDArray[np.float64]:
    """The dividends of features and pairs of one row and output, shape (n, n), symmetric."""
    table = np.asarray(explanation[row : row + 1].interactions(order=2), dtype=float)[0]
    return np.asarray(table[..., output] if table.ndim == 3 else table)
