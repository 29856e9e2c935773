"""What adapting gained: each row's utility, between the Shapley value and the best any ranking could have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.display import NumberFormat, one_line, percent
from taylorpoda.plots import style
from taylorpoda.plots.selection import check_output, n_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from taylorpoda.explanation import Explanation

CEILING = "ceiling: the best any ranking could have"
_DETAILED = 60


@dataclass(frozen=True)
class Gain:
    """What an Explanation gained over the Shapley value, for one output.

    Attributes:
        score: Shape (rows,), the utility of the attributions.
        shapley: Shape (rows,), the utility of the Shapley values.
        ceiling: Shape (rows,), the best utility any ranking of the features has; NaN where it is not known.
        higher_is_better: The direction of the utility.
    """

    score: NDArray[np.float64]
    shapley: NDArray[np.float64]
    ceiling: NDArray[np.float64]
    higher_is_better: bool

    @property
    def share(self) -> float:
        """The share of the possible gain over the Shapley value that was reached; NaN where none was."""
        return share_of_gain(self.score, self.shapley, self.ceiling)

    def __str__(self) -> str:
        if np.isnan(self.share):
            known = not bool(np.isnan(self.ceiling).any())
            return "no ranking beats the Shapley value here" if known else "no ceiling is known"
        return f"{percent(self.share)} of the gain any ranking could reach"


def share_of_gain(score: NDArray[np.float64], shapley: NDArray[np.float64], ceiling: NDArray[np.float64]) -> float:
    """The share of the summed gain over the Shapley value that any ranking could have."""
    possible = float(np.sum(ceiling - shapley))
    scale = float(np.sum(np.abs(ceiling) + np.abs(shapley)))
    if not abs(possible) > 1e-12 * scale:
        return float("nan")
    return float(np.sum(score - shapley)) / possible


def gain_of(explanation: Explanation, output: object = None) -> Gain:
    """The scores of an Explanation for one output, with what they are to be compared with."""
    which, _ = check_output(explanation, output)

    def rows(array: object) -> NDArray[np.float64]:
        values = np.asarray(array, dtype=float)
        return values[:, which] if values.ndim == 2 else values

    return Gain(
        rows(explanation.score),
        rows(explanation.shapley_score),
        rows(explanation.ceiling),
        explanation.utility.higher_is_better,
    )


def scores(explanation: Explanation, *, output: str | int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the utility of every row: of the Shapley value, of these attributions, and the ceiling.

    The rows are sorted by the utility of their Shapley values, the worst first. The ceiling is the best any
    ranking of the features could have, admissible or not.

    Args:
        explanation: What to draw.
        output: The name or position of the output; needed where there are several.
        ax: Where to draw; None for a new figure.

    Returns:
        The axes drawn on.

    Example:
        >>> ax = explanation.plot.scores()                    # doctest: +SKIP
    """
    rows = n_rows(explanation)
    gain = gain_of(explanation, output)
    order = np.argsort(gain.shapley if gain.higher_is_better else -gain.shapley, kind="stable")
    axes = style.prepare_axes(ax, ["x" * 20], height=4.2)
    style.bare_axes(axes)
    x = np.arange(rows)
    ink = style.ink(axes)
    shapley, score, ceiling = gain.shapley[order], gain.score[order], gain.ceiling[order]
    few = rows <= _DETAILED
    axes.vlines(x, shapley, score, color=style.POSITIVE, alpha=1.0 if few else 0.3, linewidth=2.0 if few else 1.0)
    looks: list[dict[str, Any]] = [
        {"marker": mark, "linestyle": "none", "markersize": 6 if few else 2.5} for mark in ("_", "D", "o")
    ]
    if not few:
        looks[1] = {"linestyle": "-", "linewidth": 1.2}
    named = f"policy {explanation.policy!r}"
    hollow = {"markerfacecolor": axes.get_facecolor()}
    axes.plot(x, ceiling, color=style.NEUTRAL, label=CEILING, **looks[0])
    axes.plot(x, shapley, color=ink, label="Shapley value", **{**looks[1], **hollow})
    axes.plot(x, score, color=style.POSITIVE, label=named, **looks[2])
    axes.margins(x=0.03)
    axes.set_xticks([])
    axes.tick_params(axis="y", labelsize="small")
    _, of = check_output(explanation, output)
    style.label_x(
        axes, f"{rows:,} rows{'' if of is None else f', output {one_line(of, 24)}'}, the worst for Shapley first"
    )
    name = one_line(explanation.utility.name, 30)
    better = "higher" if gain.higher_is_better else "lower"
    axes.set_ylabel(f"{name} ({better} is better)", fontsize="small", **style.PLAIN)
    number = NumberFormat.of(gain.shapley.mean(), gain.score.mean())
    style.title(axes, f"mean {number(gain.shapley.mean())} → {number(gain.score.mean())}: {gain}")
    style.legend_below(axes, offset=24)
    return axes
