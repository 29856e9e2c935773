"""All rows at once: how much each feature matters, and what adapting gained in each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.display import NumberFormat, one_line
from taylorpoda.plots.folding import fold
from taylorpoda.report import svg
from taylorpoda.report.markup import Markup, join, tag
from taylorpoda.report.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from taylorpoda.plots.scores import Gain

_TOP = 6


def importance_chart(
    names: Sequence[str],
    values: NDArray[np.float64],
    shapley: NDArray[np.float64],
    max_display: int | None,
) -> Markup:
    """Draw mean absolute attributions as bars, those of the Shapley values as diamonds.

    Args:
        names: The features.
        values: Shape (n,), mean absolute attributions.
        shapley: Shape (n,), mean absolute Shapley values.
        max_display: The most bars, None for all.

    Returns:
        The SVG element for a wide screen, and the one for a narrow screen.
    """
    return join(_importance(names, values, shapley, max_display, frame) for frame in (svg.WIDE, svg.NARROW))


def _importance(
    names: Sequence[str],
    values: NDArray[np.float64],
    shapley: NDArray[np.float64],
    max_display: int | None,
    frame: svg.Frame,
) -> Markup:
    folded = fold(values, max_display)
    labels = [one_line(names[player], 30) for player in folded.shown]
    sizes, marks = folded.values.tolist(), shapley[folded.shown].tolist()
    if folded.n_others:
        labels.append(f"sum of {folded.others_label}")
        sizes.append(folded.others)
        marks.append(float(shapley.sum()) - sum(marks))
    number = NumberFormat.of(values)
    scale = Scale.over(0.0, *sizes, *marks, left=frame.labels + 14, right=frame.width - 90)
    bottom = _TOP + frame.row * len(labels)
    parts = [svg.axis(scale, _TOP, bottom)]
    for position, (label, size, mark) in enumerate(zip(labels, sizes, marks, strict=True)):
        y = frame.center(_TOP, position)
        others = bool(folded.n_others) and position == len(labels) - 1
        end = max(scale(size), scale(mark)) + 12
        parts += [
            frame.label(y, label, "label muted" if others else "label"),
            svg.bar(scale(0.0), scale(size), y, "other" if others else "neg", tip=f"{label}: {number(size)}"),
            svg.diamond(scale(mark), y, tip=f"Shapley value: {number(mark)}"),
            svg.text(end, y + 4, number(size), "value"),
        ]
    story = ", ".join(f"{label} {number(size)}" for label, size in zip(labels, sizes, strict=True))
    return frame.picture(bottom + 26, "Mean absolute attribution by feature", f"{story}.", *parts)


def gain_chart(gain: Gain) -> Markup:
    """Draw every row's utility: the Shapley value, these attributions and the ceiling, the worst Shapley first.

    Args:
        gain: The scores.

    Returns:
        The SVG element for a wide screen, and the one for a narrow screen.
    """
    return join(_gain(gain, frame) for frame in (svg.WIDE, svg.NARROW))


def _gain(gain: Gain, frame: svg.Frame) -> Markup:
    order = np.argsort(gain.shapley if gain.higher_is_better else -gain.shapley, kind="stable")
    known = np.concatenate([gain.shapley, gain.score, gain.ceiling[np.isfinite(gain.ceiling)]])
    height, left = 240.0, 70.0 if frame.labels else 48.0
    up = Scale.over(*known.tolist(), left=height - 14, right=14)
    parts = []
    for tick, written in up.ticks(5):
        parts.append(svg.line((left, up(tick)), (frame.width - 10, up(tick)), "grid"))
        parts.append(svg.text(left - 10, up(tick) + 4, written, "tick", anchor="end"))
    step = (frame.width - left - 20) / max(len(order), 1)
    for position, row in enumerate(order.tolist()):
        x = round(left + step * (position + 0.5), 1)
        parts.append(_row_gain(gain, row, x, up, step))
    return frame.picture(height, "Utility of every row", f"{len(order)} rows: {gain}.", *parts)


def _row_gain(gain: Gain, row: int, x: float, up: Scale, step: float) -> Markup:
    shapley, score, ceiling = float(gain.shapley[row]), float(gain.score[row]), float(gain.ceiling[row])
    radius, half = (4.0, 8.0) if step > 16 else (max(1.2, step / 4), step * 0.45)
    tip = f"row {row}: Shapley {shapley:.4g}, here {score:.4g}, ceiling {ceiling:.4g}"
    return tag(
        "g",
        svg.line((x, up(shapley)), (x, up(score)), "gain"),
        svg.line((x - half, up(ceiling)), (x + half, up(ceiling)), "ceiling") if np.isfinite(ceiling) else None,
        svg.dot(x, up(shapley), "shapley", radius=radius),
        svg.dot(x, up(score), "score", radius=radius, tip=tip),
    )
