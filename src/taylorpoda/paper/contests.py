"""Cell by cell: which method is best here and in the paper, and how much of what is possible each one gains."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from taylorpoda.paper.settings import MODELS, PRINTED_METHODS, UTILITY_TITLES
from taylorpoda.paper.summary import OPTIMAL, best

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taylorpoda.paper.cells import Cell

HEADS = ("Data", "Model", "Utility", "Best, ours", "Best, paper", *PRINTED_METHODS, OPTIMAL, "Lead over WeightedSHAP")
TITLE = "Cell by cell"
CAPTION = (
    "Best: of the paper's methods, as printed; several if they tie. Numbers: the share of the ceiling's gain over the "
    "Shapley value, 0 for Shapley and 1 for the most any ranking could gain. Lead: how much more TaylorPODA-optimal "
    "gains than WeightedSHAP, in the unit of the tables."
)


@dataclass(frozen=True)
class Contest:
    """One table cell of the paper, all methods side by side.

    Attributes:
        data: The data set.
        model: The model.
        utility: The utility.
        best: The paper's methods that are best here, to the printed decimal.
        best_in_paper: Those that are best as printed.
        shares: {method: its share of the ceiling's gain}, None where there is nothing to gain.
        lead: TaylorPODA-optimal's mean minus WeightedSHAP's, in printed units.
    """

    data: str
    model: str
    utility: str
    best: tuple[str, ...]
    best_in_paper: tuple[str, ...]
    shares: dict[str, float | None]
    lead: float

    def texts(self) -> tuple[str, ...]:
        """The cells of its line, one per entry of `HEADS`."""
        return (
            self.data,
            MODELS[self.model],
            UTILITY_TITLES[self.utility],
            ", ".join(self.best),
            ", ".join(self.best_in_paper),
            *("-" if share is None else f"{share:.3f}" for share in self.shares.values()),
            f"{self.lead:+.2f}",
        )


def contests(cells: Sequence[Cell]) -> list[Contest]:
    """Every table cell, in the order of the cells."""
    places: dict[tuple[str, str, str], dict[str, Cell]] = defaultdict(dict)
    for cell in cells:
        places[cell.data, cell.model, cell.utility][cell.method] = cell
    return [_contest(place) for place in places.values()]


def _contest(place: dict[str, Cell]) -> Contest:
    optimal = place[OPTIMAL]
    ours, papers = best(place, paper=False), best(place, paper=True)
    return Contest(
        data=optimal.data,
        model=optimal.model,
        utility=optimal.utility,
        best=tuple(method for method in PRINTED_METHODS if method in ours),
        best_in_paper=tuple(method for method in PRINTED_METHODS if method in papers),
        shares={method: place[method].share_of_ceiling for method in (*PRINTED_METHODS, OPTIMAL)},
        lead=optimal.mean - place["WeightedSHAP"].mean,
    )
