"""One prediction: the waterfall on the left, the admissible intervals of the same features on the right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from taylorpoda._support.display import NumberFormat, one_line
from taylorpoda.plots.selection import RowView, signs_fixed
from taylorpoda.plots.steps import Step, steps_of
from taylorpoda.report import svg
from taylorpoda.report.markup import Markup, join, tag
from taylorpoda.report.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

_TOP = 34
_UNDER = 58  # ticks, and room for the next heading
_SHARE = 0.35  # of a wide picture for the intervals


@dataclass(frozen=True)
class RowNumbers:
    """All numbers of a row that its card shows.

    Attributes:
        view: The attributions, the base value and the prediction.
        lower: Shape (n,), the lower ends of the admissible intervals.
        upper: Shape (n,), the upper ends.
        shapley: Shape (n,), the Shapley values.
    """

    view: RowView
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    shapley: NDArray[np.float64]

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Shape (n,): whose sign no admissible split can flip."""
        return signs_fixed(self.lower, self.upper)


def row_chart(numbers: RowNumbers, max_display: int | None) -> Markup:
    """Draw a row.

    Args:
        numbers: The row.
        max_display: The most bars for features, None for all.

    Returns:
        The SVG element for a wide screen, and the one for a narrow screen.
    """
    view = numbers.view
    steps = steps_of(view, max_display)
    story = ", ".join(f"{step.label}: {step.value:+.4g}" for step in steps)
    said = (
        f"Attributions of row {view.row}",
        f"From {view.base_value:.4g} on average; {story}; to {view.prediction:.4g}.",
    )
    wide, narrow = svg.WIDE, svg.NARROW
    bottom = _TOP + wide.row * (len(steps) + 2)
    side = Panel(wide, _TOP, wide.width * (1 - _SHARE), wide.width)
    lower = Panel(narrow, _TOP + narrow.row * (len(steps) + 2) + _UNDER, 0, narrow.width)
    beside = wide.picture(
        bottom + 26,
        *said,
        _waterfall(view, steps, Panel(wide, _TOP, wide.labels + 24, side.left - 30)),
        _intervals(numbers, steps, side),
    )
    stacked = narrow.picture(
        lower.bottom(len(steps)) + 26,
        *said,
        _waterfall(view, steps, Panel(narrow, _TOP, 0, narrow.width)),
        _intervals(numbers, steps, lower),
    )
    return join([beside, stacked])


@dataclass(frozen=True)
class Panel:
    """A part of a picture: its rows start at `top` and lie between `left` and `right`."""

    frame: svg.Frame
    top: float
    left: float
    right: float

    def height(self, position: float) -> float:
        """The height of the bar of a row."""
        return self.frame.center(self.top, position)

    def bottom(self, rows: int) -> float:
        """Below the last of these rows."""
        return self.top + self.frame.row * rows

    def heading(self, content: str) -> Markup:
        """What the panel shows."""
        return svg.text(self.left, self.top - 18, content, "heading")


def _waterfall(view: RowView, steps: Sequence[Step], panel: Panel) -> Markup:
    number = NumberFormat.of([step.value for step in steps])
    ends = [number(view.base_value), number(view.prediction)]
    longest = max(map(len, [*(number(step.value, signed=True) for step in steps), *ends]))
    room = 14 + svg.CHARACTER * longest
    levels = [view.base_value, view.prediction, *(step.end for step in steps)]
    scale = Scale.over(*levels, left=panel.left + room, right=panel.right - room)
    parts = [
        panel.heading("from the average to this prediction"),
        svg.axis(scale, panel.top, panel.bottom(len(steps) + 2)),
    ]
    for position, step in enumerate(steps, start=1):
        y = panel.height(position)
        parts.append(_step(step, scale, y, panel.height(position + 1), number(step.value, signed=True)))
        parts.append(_row_label(view, step, panel.frame, y))
    marks = (0, "on average", view.base_value), (len(steps) + 1, "this prediction", view.prediction)
    for (position, label, level), shown in zip(marks, ends, strict=True):
        x, y = scale(level), panel.height(position)
        if position == 0:
            parts.append(svg.line((x, y), (x, panel.height(1)), "join"))
        parts.append(panel.frame.label(y, label, "label muted"))
        parts += [svg.dot(x, y, "dot"), svg.text(x + 9, y + 4, shown, "value strong")]
    return join(parts)


def _step(step: Step, scale: Scale, y: float, next_y: float, shown: str) -> Markup:
    x0, x1 = scale(step.start), scale(step.end)
    kind = "left" if step.unexplained else "other" if step.player is None else _sign(step.value)
    onwards = svg.line((x1, y), (x1, next_y), "join")
    bar = svg.bar(x0, x1, y, kind, tip=f"{step.label}: {shown}")
    rightwards = step.value >= 0
    number = svg.text(x1 + (6 if rightwards else -6), y + 4, shown, "value", anchor="start" if rightwards else "end")
    return join([onwards, bar, number])


def _row_label(view: RowView, step: Step, frame: svg.Frame, y: float) -> Markup:
    if step.player is None:
        return frame.label(y, step.label, "label muted")
    own = view.cells[step.player]
    value = None if own is None else tag("tspan", f" = {one_line(own, 16)}", class_="muted")
    label = join(part for part in (one_line(view.names[step.player], 24), value) if part is not None)
    return frame.label(y, label)


def _sign(value: float) -> str:
    return "pos" if value > 0 else "neg"


def _intervals(numbers: RowNumbers, steps: Sequence[Step], panel: Panel) -> Markup:
    """The intervals, beside the bars of the same features, or below them with the features named again."""
    beside = panel.left > 0
    first = 1 if beside else 0  # beside the bars, the rows of the average and of the prediction stay empty
    shown = [(first + k, step.player) for k, step in enumerate(steps) if step.player is not None]
    players = [player for _, player in shown]
    ends = [0.0, *numbers.lower[players].tolist(), *numbers.upper[players].tolist()]
    scale = Scale.over(*ends, left=panel.left + 12, right=panel.right - 12)
    bottom = panel.bottom(len(steps) + 2 * first)
    zero = scale(0.0)
    parts = [
        panel.heading("inside everything admissible"),
        svg.axis(scale, panel.top, bottom),
        svg.line((zero, panel.top), (zero, bottom), "zero"),
    ]
    for position, player in shown:
        y = panel.height(position)
        if not beside:
            parts.append(panel.frame.label(y, one_line(numbers.view.names[player], 40)))
        parts.append(_interval(numbers, player, scale, y))
    return join(parts)


def _interval(numbers: RowNumbers, player: int, scale: Scale, y: float) -> Markup:
    low, high = float(numbers.lower[player]), float(numbers.upper[player])
    value, phi = float(numbers.view.values[player]), float(numbers.shapley[player])
    certain = bool(numbers.certain[player])
    kind = f"{_sign(low + high)}-line" if certain else "open-line"
    said = "the sign is certain" if certain else "the sign is open"
    tip = f"{one_line(numbers.view.names[player])}: {low:.4g} to {high:.4g}, {said}"
    x0, x1 = scale(low), scale(high)
    parts = [svg.bar(x0, x1, y, kind, tip=tip, thickness=6)]
    if certain:
        parts += [svg.line((x, y - 7), (x, y + 7), f"{kind} cap") for x in (x0, x1)]
    parts.append(svg.diamond(scale(phi), y, tip=f"Shapley value: {phi:.4g}"))
    parts.append(svg.dot(scale(value), y, "dot", radius=3.4, tip=f"attribution: {value:.4g}"))
    return join(parts)
