"""Policies against utilities: which explanation serves which purpose, and how much better anything could be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.display import NumberFormat, percent
from taylorpoda.plots.scores import share_of_gain
from taylorpoda.plots.selection import check_output
from taylorpoda.report.markup import Markup, join, scrolling, tag
from taylorpoda.utilities import REGISTRY, Utility, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from taylorpoda.explanation import Explanation


@dataclass(frozen=True)
class UtilityTable:
    """Mean utilities of several ways to explain the same rows.

    Attributes:
        labels: One name per way, the lines of the table.
        utilities: The names of the utilities, its columns.
        higher_is_better: One direction per utility.
        means: Shape (labels, utilities).
        shares: Shape (labels, utilities): of the gain over the Shapley value that any ranking could reach,
            the share reached; NaN where none is possible or known.
        ceilings: Shape (utilities,): the mean of the best any ranking could have; NaN where it is not known.
        n_rows: How many rows the means are over.
    """

    labels: tuple[str, ...]
    utilities: tuple[str, ...]
    higher_is_better: tuple[bool, ...]
    means: NDArray[np.float64]
    shares: NDArray[np.float64]
    ceilings: NDArray[np.float64]
    n_rows: int

    @property
    def best(self) -> NDArray[np.bool_]:
        """Shape (labels, utilities): whether no other line is better, up to rounding."""
        costs = np.where(self.higher_is_better, -self.means, self.means)
        least = costs.min(axis=0, initial=np.inf)
        return np.asarray(costs <= least + 1e-9 * np.abs(least))


def utility_table(
    explanations: Mapping[str, Explanation],
    utilities: Iterable[str | Utility] | None = None,
    *,
    output: object = None,
) -> UtilityTable:
    """Score every explanation by every utility, from the stored games, without a model call.

    A policy that adapts ("dirichlet", "optimal") is allocated anew for each column: the column says how well
    it serves that utility when asked to.

    Args:
        explanations: Explanations of the same rows, by name.
        utilities: The columns; None for all that are registered, without those that read labels where the
            first explanation has none.
        output: The output to score; None for the mean over all.

    Returns:
        The table.

    Raises:
        ValueError: If a utility is unknown, or named but in need of labels that are not there.
    """
    first = next(iter(explanations.values()))
    labeled = first.subject.target is not None
    if utilities is None:
        columns = [utility for utility in map(resolve, REGISTRY) if labeled or not utility.needs_target]
    else:
        columns = [resolve(utility) for utility in utilities]
    means = np.full((len(explanations), len(columns)), np.nan)
    shares, ceilings = means.copy(), np.full(len(columns), np.nan)
    for j, utility in enumerate(columns):
        adapted = [_adapted(explanation, utility) for explanation in explanations.values()]
        reference = next((one for one in adapted if one.policy == "optimal"), adapted[0])
        shapley, ceiling = (_chosen(first, array, output) for array in (reference.shapley_score, reference.ceiling))
        ceilings[j] = ceiling.mean()
        for i, explanation in enumerate(adapted):
            scores = _chosen(first, explanation.score, output)
            means[i, j] = scores.mean()
            shares[i, j] = share_of_gain(scores, shapley, ceiling)
    return UtilityTable(
        labels=tuple(map(str, explanations)),
        utilities=tuple(utility.name for utility in columns),
        higher_is_better=tuple(utility.higher_is_better for utility in columns),
        means=means,
        shares=shares,
        ceilings=ceilings,
        n_rows=len(first),
    )


def _adapted(explanation: Explanation, utility: Utility) -> Explanation:
    """The same policy, asked to serve this utility; one that does not adapt is judged by it all the same."""
    if explanation.utility.name == utility.name:
        return explanation
    return explanation.reallocate(utility=utility)


def _chosen(explanation: Explanation, scores: NDArray[np.float64], output: object) -> NDArray[np.float64]:
    """(rows[, outputs]) to (rows,), or to (rows * outputs,) where no output is chosen."""
    values = np.asarray(scores, dtype=float)
    if values.ndim == 1 or output is None:
        return values.ravel()
    return values[:, check_output(explanation, output)[0]]


def table_html(table: UtilityTable) -> Markup:
    """The table as HTML: the best line of each column marked, the ceiling below.

    Args:
        table: What to show.

    Returns:
        A `table` element in a box that scrolls.
    """
    known = not bool(np.isnan(table.ceilings).all())
    head = [tag("th", "policy", scope="col")]
    for name, higher in zip(table.utilities, table.higher_is_better, strict=True):
        way = tag("span", "higher is better" if higher else "lower is better", class_="way")
        head.append(tag("th", name, way, scope="col"))
    numbers = [NumberFormat.of(column) for column in np.vstack([table.means, table.ceilings]).T]
    lines = []
    for i, label in enumerate(table.labels):
        cells = [tag("th", label, scope="row")]
        for j, number in enumerate(numbers):
            share = table.shares[i, j]
            note = None if np.isnan(share) else tag("span", percent(share), class_="way")
            best = "best" if table.best[i, j] and len(table.labels) > 1 else None
            cells.append(tag("td", tag("span", number(table.means[i, j])), note, class_=best))
        lines.append(tag("tr", *cells))
    if known:
        cells = [tag("td", number(value)) for number, value in zip(numbers, table.ceilings, strict=True)]
        lines.append(tag("tr", tag("th", "ceiling of any ranking", scope="row"), *cells, class_="limit"))
    caption = f"Mean over {table.n_rows:,} rows, and the share reached of what any ranking could gain over Shapley."
    body = join([tag("thead", tag("tr", *head)), tag("tbody", *lines)])
    return scrolling(tag("table", tag("caption", caption), body), "Policies and utilities")


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("-", "\N{MINUS SIGN}")
