"""The few features worth a bar of their own, and the rest folded into one whose size is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Folded:
    """The features in order of size, the small ones together.

    Attributes:
        shown: Shape (k,), the features with a bar of their own, largest first, ties by smaller index.
        values: Shape (k,), their values.
        n_others: How many features the folded bar stands for; 0 if there is none.
        others: The sum of their values.
    """

    shown: NDArray[np.intp]
    values: NDArray[np.float64]
    n_others: int
    others: float

    @property
    def others_label(self) -> str:
        """What to write beside the folded bar."""
        if self.shown.size == 0:
            return f"all {self.n_others} features"
        return f"{self.n_others} other features"


def fold(values: NDArray[np.float64], max_display: int | None) -> Folded:
    """Keep the largest values, fold the rest into their sum.

    Args:
        values: Shape (n,).
        max_display: The most bars, the folded one included; None for all of them.

    Returns:
        At most `max_display` bars. A single feature is never folded alone.
    """
    order = np.argsort(-np.abs(values), kind="stable")
    if max_display is None or len(values) <= max_display:
        return Folded(order, values[order], 0, 0.0)
    shown, rest = order[: max_display - 1], order[max_display - 1 :]
    return Folded(shown, values[shown], len(rest), float(values[rest].sum()))
