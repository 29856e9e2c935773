"""How a reproduction compares with the paper, and the optimal allocation with everything else."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from taylorpoda.paper.cells import printed
from taylorpoda.paper.settings import PRINTED_METHODS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taylorpoda.paper.cells import Cell

OPTIMAL = "TaylorPODA-optimal"
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Fraction:
    """So many of so many.

    Attributes:
        count: How many hold.
        total: Of how many.
    """

    count: int
    total: int

    @property
    def value(self) -> float | None:
        """The fraction, or None of nothing."""
        return self.count / self.total if self.total else None

    def __str__(self) -> str:
        return f"{self.count} of {self.total}" + (f" ({self.count / self.total:.1%})" if self.total else "")


@dataclass(frozen=True)
class Summary:
    """The comparison in numbers.

    Attributes:
        overlap: Cells whose intervals overlap the paper's, both as printed, by method and under "all".
        overlap_unrounded: All cells whose intervals overlap the printed ones, ours as computed.
        same_best: Table cells whose best printed method is the paper's (ties as printed).
        same_order: Pairs of printed methods that stand in the same order as in the paper.
        mean_rank: {method: (ours, the paper's)}, 1 is best, over the table cells.
        optimal_ahead: Table cells where TaylorPODA-optimal is at least as good as each method.
        least_share: {utility: the smallest share of the ceiling's gain TaylorPODA-optimal reaches in a cell}.
        mean_share: {method: {utility: its mean share of the ceiling's gain}}.
    """

    overlap: dict[str, Fraction]
    overlap_unrounded: Fraction
    same_best: Fraction
    same_order: Fraction
    mean_rank: dict[str, tuple[float, float]]
    optimal_ahead: dict[str, Fraction]
    least_share: dict[str, float]
    mean_share: dict[str, dict[str, float]]


def summarize(cells: Sequence[Cell]) -> Summary:
    """Compare every cell with the printed one, and every method with the best that is possible."""
    places: dict[tuple[str, str, str], dict[str, Cell]] = defaultdict(dict)
    for cell in cells:
        places[cell.data, cell.model, cell.utility][cell.method] = cell
    by_place = list(places.values())
    overlap = {
        method: _fraction(cell.overlaps for cell in cells if cell.method == method and cell.overlaps is not None)
        for method in PRINTED_METHODS
    }
    overlap["all"] = _fraction(cell.overlaps for cell in cells if cell.overlaps is not None)
    return Summary(
        overlap=overlap,
        overlap_unrounded=_fraction(cell.overlaps_unrounded for cell in cells if cell.overlaps_unrounded is not None),
        same_best=_fraction(bool(best(place, paper=False) & best(place, paper=True)) for place in by_place),
        same_order=_fraction(
            (_sign(_ours(place[first]) - _ours(place[second])) * _sign(_papers(place[first]) - _papers(place[second])))
            >= 0
            for place in by_place
            for first, second in _pairs()
        ),
        mean_rank={
            method: (_mean_rank(by_place, method, paper=False), _mean_rank(by_place, method, paper=True))
            for method in PRINTED_METHODS
        },
        optimal_ahead={
            method: _fraction(at_least(place[OPTIMAL], place[method]) for place in by_place)
            for method in PRINTED_METHODS
        },
        least_share=_least_share(cells),
        mean_share=_mean_share(cells),
    )


def best(place: dict[str, Cell], *, paper: bool) -> set[str]:
    """The printed methods with the best printed mean of one table cell; several if they tie as printed."""
    means = {method: (_papers if paper else _ours)(place[method]) for method in PRINTED_METHODS}
    return {method for method, mean in means.items() if mean == max(means.values())}


def at_least(cell: Cell, rival: Cell) -> bool:
    """Whether a cell's mean is no less than its rival's, but for the rounding of the last bits."""
    return cell.mean >= rival.mean - _ROUNDING * (1 + abs(rival.mean))


def _ours(cell: Cell) -> float:
    return printed(cell.mean)


def _papers(cell: Cell) -> float:
    assert cell.paper_mean is not None  # noqa: S101 - asked for printed methods only
    return cell.paper_mean


def _pairs() -> list[tuple[str, str]]:
    return [(first, second) for first in PRINTED_METHODS for second in PRINTED_METHODS if first < second]


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


def _mean_rank(places: list[dict[str, Cell]], method: str, *, paper: bool) -> float:
    number = _papers if paper else _ours
    ranks = []
    for place in places:
        mine = number(place[method])
        others = [number(place[other]) for other in PRINTED_METHODS if other != method]
        ranks.append(1.0 + sum(other > mine for other in others) + 0.5 * sum(other == mine for other in others))
    return sum(ranks) / len(ranks)


def _least_share(cells: Sequence[Cell]) -> dict[str, float]:
    least: dict[str, float] = {}
    for cell in cells:
        if cell.method == OPTIMAL and cell.share_of_ceiling is not None:
            least[cell.utility] = min(cell.share_of_ceiling, least.get(cell.utility, cell.share_of_ceiling))
    return least


def _mean_share(cells: Sequence[Cell]) -> dict[str, dict[str, float]]:
    shares: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell in cells:
        if cell.share_of_ceiling is not None:
            shares[cell.method][cell.utility].append(cell.share_of_ceiling)
    return {
        method: {utility: sum(listed) / len(listed) for utility, listed in by_utility.items()}
        for method, by_utility in shares.items()
    }


def _fraction(holds: Iterable[bool | None]) -> Fraction:
    listed = [bool(one) for one in holds]
    return Fraction(sum(listed), len(listed))
