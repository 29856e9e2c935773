"""What all pictures share: where they are drawn, colors that everybody can tell apart, text that stays text.

A picture is drawn on the axes that came as `ax=`, and then neither pyplot nor any global setting is
touched. Without `ax` it gets a figure of its own. In a notebook, or once the user has imported pyplot, that
figure belongs to pyplot, so it is displayed and `plt.show()` finds it; in a script without pyplot nothing
keeps it alive but the axes returned. Nothing is ever shown from here.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.text import Text

# Orange and blue differ for every kind of color vision; both are dark enough for white paper and light
# enough for a dark page (at least 3:1 on either), and the sign is always also said by direction and by a
# printed sign.
POSITIVE = "#d1571c"
NEGATIVE = "#3577b8"
NEUTRAL = "#868d96"
LIGHT = "#c3c8ce"

# Text is never TeX and never math: a column called "$cost_a" is drawn as it is written.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}


_GAP, _INCHES_PER_CHARACTER = 0.12, 0.078


def sign_color(value: float) -> str:
    """The color of a contribution."""
    return POSITIVE if value > 0 else NEGATIVE if value < 0 else NEUTRAL


def prepare_axes(ax: object, labels: Sequence[str], *, height: float, width: float = 5.4) -> Axes:
    """The axes to draw on: the user's, or those of a new figure that is wide enough for the labels.

    Args:
        ax: The user's axes, or None.
        labels: What will be written left of the axes.
        height: The height of a new figure in inches.
        width: Its width without the labels.

    Returns:
        Axes; `ax` itself if given.

    Raises:
        TypeError: If `ax` is not matplotlib axes.
    """
    from matplotlib.axes import Axes

    if ax is None:
        width += 0.085 * max((len(label) for label in labels), default=0)
        axes: Axes = _new_figure(width, height).subplots()
        return axes
    if not isinstance(ax, Axes):
        msg = f"ax has type {type(ax).__name__}; allowed: matplotlib axes, or None for a new figure."
        raise TypeError(msg)
    return ax


def _new_figure(width: float, height: float) -> Figure:
    if "matplotlib.pyplot" in sys.modules or _in_ipython():
        from matplotlib import pyplot as plt

        return plt.figure(figsize=(width, height), layout="constrained")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _in_ipython() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None


def ink(ax: Axes) -> Any:
    """The color in which these axes write, dark or light as the user's style has it."""
    return ax.xaxis.label.get_color()


def bare_axes(ax: Axes, *, grid: bool = False) -> None:
    """Take away what carries no information: three sides of the frame and the ticks of the features."""
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0, pad=7)
    ax.tick_params(axis="x", labelsize="small")
    ax.set_axisbelow(True)
    if grid:
        ax.grid(visible=True, axis="x", color=NEUTRAL, alpha=0.25, linewidth=0.7)
    else:
        ax.grid(visible=False)


def label_rows(ax: Axes, labels: Sequence[str], *, muted: Sequence[int] = ()) -> None:
    """Write one label per row of the picture, first row on top."""
    ax.set_yticks(range(len(labels)), labels, **PLAIN)
    for position in muted:
        ax.get_yticklabels()[position].set_alpha(0.65)
    ax.set_ylim(len(labels) - 0.4, -0.6)


def label_x(ax: Axes, text: str) -> None:
    """Write what the horizontal axis measures."""
    ax.set_xlabel(text, fontsize="small", labelpad=6, **PLAIN)


def title(ax: Axes, text: str) -> None:
    """Write the title, on the left and small: the picture is what matters."""
    ax.set_title(text, loc="left", fontsize="medium", pad=10, **PLAIN)


def diverging() -> Colormap:
    """Blue over a light gray to orange: small to large, or negative over zero to positive."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("taylorpoda", [NEGATIVE, "#dfe1e4", POSITIVE])


def legend_below(ax: Axes, handles: Mapping[str, Any] | None = None, *, offset: float = 42) -> None:
    """Explain the marks below the picture, where nothing can hide behind the legend.

    Args:
        ax: The axes.
        handles: Marks by what they mean; None for the marks drawn under a label. A tuple of marks shares an
            entry.
        offset: How far below the axes, in points.
    """
    from matplotlib.legend_handler import HandlerTuple
    from matplotlib.transforms import ScaledTranslation

    if handles is None:
        marks, meanings = ax.get_legend_handles_labels()
    else:
        marks, meanings = list(handles.values()), list(handles)
    legend = ax.legend(
        marks,
        meanings,
        handler_map={tuple: HandlerTuple(ndivide=None)},
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        bbox_transform=ax.transAxes + ScaledTranslation(0, -offset / 72, ax.figure.dpi_scale_trans),
        borderaxespad=0,
        frameon=False,
        fontsize="small",
        handlelength=3,
    )
    for text in legend.get_texts():
        text.set(**PLAIN)


def write_beside(ax: Axes, x: float, y: float, text: str, *, rightwards: bool, **style: Any) -> Text:
    """Write a number at the end of a bar, a few points away from it."""
    return ax.annotate(
        text,
        (x, y),
        xytext=(4 if rightwards else -4, 0),
        textcoords="offset points",
        ha="left" if rightwards else "right",
        va="center",
        fontsize="small",
        color=style.pop("color", ink(ax)),
        **PLAIN,
        **style,
    )


def span(ax: Axes, low: float, high: float, *, margin: float = 0.04) -> None:
    """Show low..high with a margin on both sides, a share of the width; one point still gets a width."""
    low, high = _widened(low, high)
    room = margin * (high - low)
    ax.set_xlim(low - room, high + room)


def span_with_text(ax: Axes, low: float, high: float, texts: Iterable[tuple[float, str, bool]]) -> None:
    """Show low..high and leave room for the numbers written beside the bars.

    Args:
        ax: The axes.
        low: The left end of what is drawn.
        high: Its right end.
        texts: For each number: where it starts, what it says, whether it extends rightwards.
    """
    low, high = _widened(low, high)
    placed = [(x, _GAP + _INCHES_PER_CHARACTER * len(text), rightwards) for x, text, rightwards in texts]
    width = 0.85 * ax.get_window_extent().width / ax.figure.dpi  # labels may still take some of it
    left = right = 0.0
    for _ in range(4):  # the room depends on the scale and the scale on the room; it settles at once
        unit = (high - low) / max(width - left - right, width / 4)
        left = max((need - (x - low) / unit for x, need, rightwards in placed if not rightwards), default=0.0)
        right = max((need - (high - x) / unit for x, need, rightwards in placed if rightwards), default=0.0)
        left, right = max(left, _GAP), max(right, _GAP)
    ax.set_xlim(low - left * unit, high + right * unit)


def _widened(low: float, high: float) -> tuple[float, float]:
    if high > low:
        return low, high
    half = max(abs(low), 1.0) / 2
    return low - half, high + half
