"""One card per prediction: its pictures, what was proven about it, and every number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.display import MINUS, NumberFormat, one_line, percent
from taylorpoda.plots.intervals import shapley_values
from taylorpoda.plots.scores import Gain, share_of_gain
from taylorpoda.plots.selection import of_output, select_row
from taylorpoda.report.markup import Markup, join, scrolling, tag
from taylorpoda.report.row_chart import RowNumbers, row_chart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taylorpoda.explanation import Explanation

_OUTPUTS = 6


def row_numbers(explanation: Explanation, row: int, output: object) -> RowNumbers:
    """What a card needs; where no output is chosen, that of the output the model gives most to."""
    if output is None and explanation.values.ndim == 3:
        output = int(np.argmax(explanation.predictions[row]))
    view = select_row(explanation, row, output)
    return RowNumbers(
        view=view,
        lower=of_output(explanation, explanation.lower, view.output)[view.row],
        upper=of_output(explanation, explanation.upper, view.output)[view.row],
        shapley=shapley_values(explanation, view.row, view.output),
    )


def card(
    explanation: Explanation,
    others: Mapping[str, Explanation],
    row: int,
    *,
    output: object,
    max_display: int | None,
) -> Markup:
    """The card of one row.

    Args:
        explanation: What the pictures show.
        others: All explanations of these rows by name, for the table of numbers.
        row: The row.
        output: The output, or None for the one the model gives most to.
        max_display: The most bars of a picture, None for all.

    Returns:
        An `article` element.
    """
    numbers = row_numbers(explanation, row, output)
    index = explanation.subject.rows.index
    name = f"Row {row}"
    if index is not None and str(index[row]) != str(row):
        name += f" \N{MIDDLE DOT} {one_line(index[row])}"
    head = tag("div", tag("h3", name), _outputs(explanation, numbers), class_="card-head")
    return tag(
        "article",
        head,
        _proof(explanation, numbers),
        scrolling(row_chart(numbers, max_display), f"Pictures of row {row}"),
        _details(numbers, others),
        class_="card",
    )


def _outputs(explanation: Explanation, numbers: RowNumbers) -> Markup:
    """What the model gives for this row, the output explained here first and marked."""
    view = numbers.view
    given = np.atleast_1d(explanation.predictions[view.row])
    number = NumberFormat.of(given)
    names = explanation.output_names
    if names is None:
        return tag("ul", tag("li", f"f(x) = {number(given[0])}", class_="shown"), class_="outputs")
    order = [view.output, *(k for k in np.argsort(-given, kind="stable").tolist() if k != view.output)]
    items = [
        tag("li", f"{one_line(names[k], 24)} = {number(given[k])}", class_="shown" if k == view.output else None)
        for k in order[:_OUTPUTS]
    ]
    if len(order) > _OUTPUTS:
        items.append(tag("li", f"{len(order) - _OUTPUTS} more"))
    return tag("ul", *items, class_="outputs")


def _proof(explanation: Explanation, numbers: RowNumbers) -> Markup:
    row, output = numbers.view.row, numbers.view.output

    def own(array: object) -> float:
        return float(np.asarray(array).reshape(len(explanation), -1)[row, output])

    gain = Gain(
        np.array([own(explanation.score)]),
        np.array([own(explanation.shapley_score)]),
        np.array([own(explanation.ceiling)]),
        explanation.utility.higher_is_better,
    )
    score, shapley, ceiling = (float(part[0]) for part in (gain.score, gain.shapley, gain.ceiling))
    number = NumberFormat.of([score, shapley])
    name = one_line(explanation.utility.name)
    said = f"{name} {number(score)}, against {number(shapley)} for the Shapley value"
    if np.isfinite(ceiling):
        said += f" and {number(ceiling)} for the best ranking of any kind"
        share = share_of_gain(gain.score, gain.shapley, gain.ceiling)
        said += ", so nothing was to be gained." if np.isnan(share) else f": {percent(share)} of the possible gain."
    else:
        said += "."
    if explanation.policy != "optimal":
        mark = tag("span", f"Policy {explanation.policy!r}.", class_="mark")
    elif own(explanation.certified):
        mark = tag("span", "\N{CHECK MARK} Proven optimal.", class_="mark yes")
        said = f"No admissible split of the interactions serves better: {said}"
    else:
        mark = tag("span", "Best found, not proven.", class_="mark no")
        if np.isfinite(own(explanation.bound)):
            said += f" No admissible split is better than {number(own(explanation.bound))}."
    return tag("p", mark, f" {said} {_signs(numbers)}", class_="proof")


def _signs(numbers: RowNumbers) -> str:
    certain, total = int(np.count_nonzero(numbers.certain)), len(numbers.certain)
    return f"The sign of {certain} of {total} features is certain."


def _details(numbers: RowNumbers, others: Mapping[str, Explanation]) -> Markup:
    """Every number of the row as a table, largest attribution first."""
    view = numbers.view
    columns = [of_output(other, other.values, view.output)[view.row] for other in others.values()]
    names = list(others)
    if not any(other.policy == "shapley" for other in others.values()):
        columns.append(numbers.shapley)
        names.append("Shapley value")
    number = NumberFormat.of(*columns, numbers.lower, numbers.upper)
    titles = ["feature", "value", *names, "at least", "at most", "sign"]
    lines = []
    for player in np.argsort(-np.abs(view.values), kind="stable").tolist():
        cells = [tag("th", one_line(view.names[player], 200), scope="row")]
        cells.append(tag("td", view.cells[player] or "", class_="text"))
        cells += [tag("td", number(column[player], signed=True)) for column in columns]
        cells += [tag("td", number(end[player], signed=True)) for end in (numbers.lower, numbers.upper)]
        sign = "+" if numbers.lower[player] > 0 else MINUS
        cells.append(tag("td", f"certain {sign}" if numbers.certain[player] else "open", class_="text"))
        lines.append(tag("tr", *cells))
    head = tag("thead", tag("tr", *(tag("th", title, scope="col") for title in titles)))
    caption = tag("caption", f"All attributions of row {view.row}, and the ends of their admissible intervals")
    table = tag("table", caption, join([head, tag("tbody", *lines)]))
    return tag("details", tag("summary", "All numbers"), scrolling(table, f"Numbers of row {view.row}"))
