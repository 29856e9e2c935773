"""The kinds of picture, as methods of `explanation.plot`; a new kind is one new file plus one line here."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from taylorpoda._support.choices import check_choice
from taylorpoda.plots.bar import bar
from taylorpoda.plots.beeswarm import beeswarm
from taylorpoda.plots.interactions import interactions
from taylorpoda.plots.intervals import intervals
from taylorpoda.plots.scores import scores
from taylorpoda.plots.waterfall import waterfall

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from taylorpoda.explanation import Explanation

P = ParamSpec("P")

KINDS = ("bar", "beeswarm", "interactions", "intervals", "scores", "waterfall")


def _method(
    draw: Callable[Concatenate[Explanation, P], Axes],
) -> Callable[Concatenate[PlotAccessor, P], Axes]:
    """Give a function that draws an Explanation the shape of a method, documentation and signature kept."""

    def method(self: PlotAccessor, /, *args: P.args, **kwargs: P.kwargs) -> Axes:
        return draw(self.explanation, *args, **kwargs)

    functools.update_wrapper(method, draw)
    return method


class PlotAccessor:
    """`explanation.plot`: one method per kind of picture; each takes `ax=` and returns the axes drawn on.

    Calling it draws the kind named, by default a waterfall of the only row or bars over all rows.

    Example:
        >>> ax = explanation.plot.waterfall(0)                # doctest: +SKIP
        >>> ax = explanation.plot("intervals", row=0)         # doctest: +SKIP
    """

    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation

    bar = _method(bar)
    beeswarm = _method(beeswarm)
    interactions = _method(interactions)
    intervals = _method(intervals)
    scores = _method(scores)
    waterfall = _method(waterfall)

    def __call__(self, kind: str | None = None, **options: Any) -> Axes:
        """Draw one kind of picture.

        Args:
            kind: One of "bar", "beeswarm", "interactions", "intervals", "scores", "waterfall"; None for a
                waterfall where there is one row, else bars.
            **options: What that kind takes.

        Returns:
            The axes drawn on.
        """
        if kind is None:
            kind = "waterfall" if len(self.explanation) == 1 or "row" in options else "bar"
        axes: Axes = getattr(self, check_choice("kind", kind, KINDS))(**options)
        return axes

    def __repr__(self) -> str:
        return f"<pictures of an Explanation: {', '.join(f'.{kind}()' for kind in KINDS)}>"

    def __getattr__(self, name: str) -> Any:
        msg = f"there is no kind of picture {name!r}; known: {', '.join(KINDS)}."
        raise AttributeError(msg)
