"""From scores to the cells of the tables: mean improvement over Shapley and its bootstrap interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.paper.published import published
from taylorpoda.paper.settings import AVERAGED, BASELINE, METHODS, UNITS, UTILITIES
from taylorpoda.utilities import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

_CONFIDENCE = 95.0


@dataclass(frozen=True)
class Cell:
    """One cell: the improvement over the Shapley value, positive = better, in printed units.

    Attributes:
        data: The data set.
        model: The model.
        method: The method.
        utility: The utility.
        unit: What one printed unit is worth.
        mean: Mean over the rows.
        low: Lower end of the 95 % bootstrap interval.
        high: Upper end.
        paper_mean: The paper's mean, or None for a method it lacks.
        paper_low: Its lower end.
        paper_high: Its upper end.
        ceiling: The mean improvement no ranking of any kind can beat.
        share_of_ceiling: mean / ceiling, or None where there is nothing to gain.
        retrained: The mean for every training of the surrogate, the first one first.
    """

    data: str
    model: str
    method: str
    utility: str
    unit: float
    mean: float
    low: float
    high: float
    paper_mean: float | None
    paper_low: float | None
    paper_high: float | None
    ceiling: float
    share_of_ceiling: float | None
    retrained: tuple[float, ...]

    @property
    def overlaps(self) -> bool | None:
        """Whether the interval meets the paper's as printed, to one decimal; None where the paper has none."""
        if self.paper_low is None or self.paper_high is None:
            return None
        return printed(self.low) <= self.paper_high and self.paper_low <= printed(self.high)

    @property
    def overlaps_unrounded(self) -> bool | None:
        """The same with our own ends as computed: intervals that touch as printed may then miss each other."""
        if self.paper_low is None or self.paper_high is None:
            return None
        return self.low <= self.paper_high and self.paper_low <= self.high


def printed(number: float) -> float:
    """A number as the tables print it: one decimal, and zero without a sign."""
    return round(number, 1) + 0.0


def bootstrap_interval(
    gains: NDArray[np.float64], *, resamples: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The 95 % percentile interval of the mean; every column is resampled alike, as the research code draws it.

    Args:
        gains: Shape (rows, columns).
        resamples: How many.
        seed: Which.

    Returns:
        Lower and upper ends, each of shape (columns,).
    """
    drawn = np.random.default_rng(seed).choice(len(gains), size=(resamples, len(gains)))
    means = gains[drawn].mean(axis=1)
    tail = (100.0 - _CONFIDENCE) / 2.0
    low, high = np.percentile(means, [tail, 100.0 - tail], axis=0)
    return low, high


def gain_over_shapley(
    explained: Mapping[str, NDArray[Any]], utility: str, scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Improvement of scores over the Shapley value's, row by row, in printed units."""
    n_players = explained[f"attributions/{utility}/{BASELINE}"].shape[-1]
    sign = 1.0 if resolve(utility).higher_is_better else -1.0
    divisor = n_players if utility in AVERAGED else 1
    return np.asarray(
        sign * (scores - explained[f"score/{utility}/{BASELINE}"]) / divisor / UNITS[utility], dtype=np.float64
    )


def pair_cells(
    data: str,
    model: str,
    task: str,
    trainings: list[Mapping[str, NDArray[Any]]],
    *,
    resamples: int,
    seed: int,
) -> list[Cell]:
    """The cells of one (data, model) pair.

    Args:
        data: The data set.
        model: The model.
        task: "classification" or "regression".
        trainings: What `attribute` made, once per training of the surrogate.
        resamples: Of the bootstrap.
        seed: Of the bootstrap.
    """
    explained = trainings[0]
    keys = [(method, utility) for method in METHODS for utility in UTILITIES[task]]
    gains = np.stack(
        [gain_over_shapley(explained, utility, explained[f"score/{utility}/{method}"]) for method, utility in keys],
        axis=-1,
    )
    lows, highs = bootstrap_interval(gains, resamples=resamples, seed=seed)
    cells = []
    for column, (method, utility) in enumerate(keys):
        ceiling = float(gain_over_shapley(explained, utility, explained[f"ceiling/{utility}"]).mean())
        mean = float(gains[:, column].mean())
        paper = published().get((data, model, method, utility))
        cells.append(
            Cell(
                data=data,
                model=model,
                method=method,
                utility=utility,
                unit=UNITS[utility],
                mean=mean,
                low=float(lows[column]),
                high=float(highs[column]),
                paper_mean=None if paper is None else paper.mean,
                paper_low=None if paper is None else paper.low,
                paper_high=None if paper is None else paper.high,
                ceiling=ceiling,
                share_of_ceiling=mean / ceiling if ceiling > 0 else None,
                retrained=tuple(
                    float(gain_over_shapley(one, utility, one[f"score/{utility}/{method}"]).mean()) for one in trainings
                ),
            )
        )
    return cells
