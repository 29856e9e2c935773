"""The steps of a waterfall: each contribution, where it starts and where it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from taylorpoda.plots.folding import fold

if TYPE_CHECKING:
    from taylorpoda.plots.selection import RowView


@dataclass(frozen=True)
class Step:
    """One bar of a waterfall.

    Attributes:
        label: What to write beside it.
        player: The feature, or None for a bar that stands for several or for none.
        start: Where it starts.
        value: How far it goes, signed.
        unexplained: Whether it is what the attributions leave unexplained.
    """

    label: str
    player: int | None
    start: float
    value: float
    unexplained: bool = False

    @property
    def end(self) -> float:
        """Where the next one starts."""
        return self.start + self.value


def steps_of(view: RowView, max_display: int | None) -> list[Step]:
    """The steps from the base value to the prediction, the largest first.

    Attributions that do not add up, as those of a truncated method may not, get a last step that says so;
    the steps always lead to the prediction.

    Args:
        view: One row and one output.
        max_display: The most bars for features, None for all.

    Returns:
        The steps in order.
    """
    folded = fold(view.values, max_display)
    steps: list[Step] = []
    level = view.base_value
    for player, value in zip(folded.shown.tolist(), folded.values.tolist(), strict=True):
        steps.append(Step(view.label(player), player, level, value))
        level = steps[-1].end
    if folded.n_others:
        steps.append(Step(folded.others_label, None, level, folded.others))
        level = steps[-1].end
    if view.discrepancy:
        steps.append(Step("not attributed", None, level, view.prediction - level, unexplained=True))
    return steps
