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
_LEFT, _MIDDLE, _RIGHT = svg.LABELS + 24, svg.WIDTH - 380, svg.WIDTH - 350


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
        The SVG element.
    """
    view = numbers.view
    steps = steps_of(view, max_display)
    bottom = _TOP + svg.ROW * (len(steps) + 2)
    story = ", ".join(f"{step.label}: {step.value:+.4g}" for step in steps)
    return svg.picture(
        bottom + 26,
        f"Attributions of row {view.row}",
        f"From {view.base_value:.4g} on average; {story}; to {view.prediction:.4g}.",
        svg.text(_LEFT, 16, "from the average to this prediction", "heading"),
        svg.text(_RIGHT, 16, "inside everything admissible", "heading"),
        _waterfall(view, steps, bottom),
        _intervals(numbers, steps, bottom),
    )


def _height(position: float) -> float:
    return _TOP + svg.ROW * (position + 0.5)


def _waterfall(view: RowView, steps: Sequence[Step], bottom: float) -> Markup:
    number = NumberFormat.of([step.value for step in steps])
    ends = [number(view.base_value), number(view.prediction)]
    longest = max(map(len, [*(number(step.value, signed=True) for step in steps), *ends]))
    room = 14 + svg.CHARACTER * longest
    levels = [view.base_value, view.prediction, *(step.end for step in steps)]
    scale = Scale.over(*levels, left=_LEFT + room, right=_MIDDLE - room)
    parts = [svg.axis(scale, _TOP, bottom)]
    for position, step in enumerate(steps, start=1):
        parts.append(_step(step, scale, _height(position), number(step.value, signed=True)))
        parts.append(_row_label(view, step, _height(position) + 4))
    marks = (0, "on average", view.base_value), (len(steps) + 1, "this prediction", view.prediction)
    for (position, label, level), shown in zip(marks, ends, strict=True):
        x, y = scale(level), _height(position)
        if position == 0:
            parts.append(svg.line((x, y), (x, y + svg.ROW), "join"))
        parts.append(svg.text(svg.LABELS, y + 4, label, "label muted", anchor="end"))
        parts += [svg.dot(x, y, "dot"), svg.text(x + 9, y + 4, shown, "value strong")]
    return join(parts)


def _step(step: Step, scale: Scale, y: float, shown: str) -> Markup:
    x0, x1 = scale(step.start), scale(step.end)
    kind = "left" if step.unexplained else "other" if step.player is None else _sign(step.value)
    onwards = svg.line((x1, y), (x1, y + svg.ROW), "join")
    bar = svg.bar(x0, x1, y, kind, tip=f"{step.label}: {shown}")
    rightwards = step.value >= 0
    number = svg.text(x1 + (6 if rightwards else -6), y + 4, shown, "value", anchor="start" if rightwards else "end")
    return join([onwards, bar, number])


def _row_label(view: RowView, step: Step, y: float) -> Markup:
    if step.player is None:
        return svg.text(svg.LABELS, y, step.label, "label muted", anchor="end")
    own = view.cells[step.player]
    value = None if own is None else tag("tspan", f" = {one_line(own, 16)}", class_="muted")
    label = join(part for part in (one_line(view.names[step.player], 24), value) if part is not None)
    return svg.text(svg.LABELS, y, label, "label", anchor="end")


def _sign(value: float) -> str:
    return "pos" if value > 0 else "neg"


def _intervals(numbers: RowNumbers, steps: Sequence[Step], bottom: float) -> Markup:
    shown = [step.player for step in steps if step.player is not None]
    ends = [0.0, *numbers.lower[shown].tolist(), *numbers.upper[shown].tolist()]
    scale = Scale.over(*ends, left=_RIGHT + 8, right=svg.WIDTH - 12)
    zero = scale(0.0)
    parts = [svg.axis(scale, _TOP, bottom), svg.line((zero, _TOP), (zero, bottom), "zero")]
    for position, step in enumerate(steps, start=1):
        if step.player is not None:
            parts.append(_interval(numbers, step.player, scale, _height(position)))
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
