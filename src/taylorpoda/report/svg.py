"""The pieces of an inline SVG picture; colors come from the page, so it is dark, light or printed with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from taylorpoda.report.markup import Markup, join, tag

if TYPE_CHECKING:
    from taylorpoda.report.scale import Scale

CHARACTER = 6.9


@dataclass(frozen=True)
class Frame:
    """How a picture is laid out: every picture is drawn twice, and the page shows the one that fits the screen.

    Attributes:
        width: Of the picture.
        labels: Where the column of labels beside the rows ends; 0 where labels stand above their rows.
        row: The height of a row.
        kind: The class by which the page tells the two apart.
    """

    width: float
    labels: float
    row: float
    kind: str

    def center(self, top: float, position: float) -> float:
        """The height of the bar of a row."""
        return top + self.row * (position + 0.5) + (0 if self.labels else 9)

    def label(self, y: float, content: object, kind: str = "label") -> Markup:
        """The label of the row whose bar is at this height."""
        if self.labels:
            return text(self.labels, y + 4, content, kind, anchor="end")
        return text(0, y - 13, content, kind)

    def picture(self, height: float, title: str, description: str, *children: object) -> Markup:
        """A whole picture, with a name and a description for those who cannot see it."""
        head = join([tag("title", title), tag("desc", description)])
        box = f"0 0 {self.width:g} {height:g}"
        return tag("svg", head, *children, class_=self.kind, viewBox=box, role="img", aria_label=title)


WIDE = Frame(1000, 236, 27, "chart")
NARROW = Frame(400, 0, 46, "chart narrow")


def text(x: float, y: float, content: object, kind: str = "", *, anchor: str = "start") -> Markup:
    """Text at a point; `anchor` is "start", "middle" or "end"."""
    side = None if anchor == "start" else anchor
    return tag("text", content, x=f"{x:g}", y=f"{y:g}", class_=kind or None, text_anchor=side)


def line(start: tuple[float, float], end: tuple[float, float], kind: str) -> Markup:
    """A straight line."""
    (x1, y1), (x2, y2) = start, end
    return tag("line", x1=f"{x1:g}", y1=f"{y1:g}", x2=f"{x2:g}", y2=f"{y2:g}", class_=kind)


def bar(x0: float, x1: float, y: float, kind: str, *, tip: str, thickness: float = 17) -> Markup:
    """A horizontal bar around height y, at least a hair wide, that says what it is when pointed at."""
    return tag(
        "rect",
        tag("title", tip),
        x=f"{min(x0, x1):g}",
        y=f"{y - thickness / 2:g}",
        width=f"{max(abs(x1 - x0), 0.8):g}",
        height=f"{thickness:g}",
        rx="1.5",
        class_=kind,
    )


def dot(x: float, y: float, kind: str, *, radius: float = 4, tip: str | None = None) -> Markup:
    """A disc."""
    hint = None if tip is None else tag("title", tip)
    return tag("circle", hint, cx=f"{x:g}", cy=f"{y:g}", r=f"{radius:g}", class_=kind)


def diamond(x: float, y: float, *, tip: str | None = None) -> Markup:
    """The mark of a Shapley value."""
    hint = None if tip is None else tag("title", tip)
    return tag("path", hint, d=f"M{x:g} {y - 6:g}l6 6l-6 6l-6 -6z", class_="shapley")


def axis(scale: Scale, top: float, bottom: float) -> Markup:
    """Faint vertical lines at round numbers, which are written below."""
    return join(
        join(
            [
                line((scale(tick), top), (scale(tick), bottom), "grid"),
                text(scale(tick), bottom + 16, written, "tick", anchor="middle"),
            ]
        )
        for tick, written in scale.ticks()
    )
