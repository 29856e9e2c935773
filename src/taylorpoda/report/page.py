"""The page: what was explained, which policy serves which purpose, one card per prediction, where it comes from."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.display import one_line
from taylorpoda.explanation import Explanation
from taylorpoda.plots.scores import gain_of
from taylorpoda.plots.selection import check_max_display, check_output, check_row, n_rows, of_output
from taylorpoda.report import prose
from taylorpoda.report.cards import card
from taylorpoda.report.document import document
from taylorpoda.report.markup import Markup, join, scrolling, tag
from taylorpoda.report.overview_charts import gain_chart, importance_chart
from taylorpoda.report.utility_table import UtilityTable, table_html, utility_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taylorpoda.utilities import Utility

_CARDS = 10


def write_html(
    path: str | os.PathLike[str],
    explanations: Explanation | Mapping[str, Explanation],
    *,
    title: str | None = None,
    description: str | None = None,
    rows: Iterable[int] | None = None,
    output: str | int | None = None,
    utilities: Iterable[str | Utility] | None = None,
    table: UtilityTable | None = None,
    max_display: int | None = 12,
) -> Path:
    """Write a self-contained HTML page about explanations; the file appears whole or not at all.

    Args:
        path: Where to write.
        explanations: As for `page`, like everything below.
        title: The title.
        description: A paragraph of plain text under the title.
        rows: The rows that get a card.
        output: The output to show.
        utilities: The columns of the table.
        table: The table of policies and utilities.
        max_display: The most bars of a picture.

    Returns:
        The path.

    Example:
        >>> write_html("explanation.html", explanation)       # doctest: +SKIP
    """
    text = page(
        explanations,
        title=title,
        description=description,
        rows=rows,
        output=output,
        utilities=utilities,
        table=table,
        max_display=max_display,
    )
    target = Path(path)
    handle, draft = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(draft).chmod(0o644)
        Path(draft).replace(target)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    return target


def page(
    explanations: Explanation | Mapping[str, Explanation],
    *,
    title: str | None = None,
    description: str | None = None,
    rows: Iterable[int] | None = None,
    output: str | int | None = None,
    utilities: Iterable[str | Utility] | None = None,
    table: UtilityTable | None = None,
    max_display: int | None = 12,
) -> str:
    """A self-contained HTML page: no script, nothing loaded, every name escaped; dark, light and printable.

    Args:
        explanations: One explanation, or several of the same rows by name. The pictures show the one of
            policy "optimal" if there is one, else the last; the tables show all.
        title: The title; None for one that names the model.
        description: A paragraph of plain text under the title.
        rows: The rows that get a card, in this order; None for the first ten.
        output: The output to show, where there are several. None shows, in each card, the output the model
            gives most to, and means over all outputs elsewhere.
        utilities: The columns of the table of policies and utilities; None for all that are registered. A policy that
            adapts is allocated anew for each, which takes its time where there are many features.
        table: The table itself; None computes it with `utility_table`.
        max_display: The most bars of a picture; the features beyond it share one. None for all.

    Returns:
        The document.

    Raises:
        ValueError: If there is no explanation or no row, the explanations are of different rows or features,
            or a row or the output does not exist.
        TypeError: If something is not an Explanation.
    """
    named = _named(explanations)
    shown = _shown(named)
    limit = check_max_display(max_display)
    total = n_rows(shown)
    chosen = list(range(min(total, _CARDS))) if rows is None else [check_row(shown, row) for row in rows]
    if output is not None:
        check_output(shown, output)
    heading = title if title is not None else f"Explanation of {one_line(shown.subject.model, 80)}"
    table = utility_table(named, utilities, output=output) if table is None else table
    cards = [card(shown, named, row, output=output, max_display=limit) for row in chosen]
    main = tag(
        "main",
        _section("Which policy serves which purpose", prose.TABLE, table_html(table)),
        _section("Which features matter", prose.IMPORTANCE, _importance(shown, output, limit)),
        _section("What adapting gained", *_gain(shown, output)),
        _section("Predictions", prose.cards(len(chosen), total), prose.row_legend(), *cards),
        _section("How to read this page", prose.reading()),
        _section("Where the numbers come from", _provenance(shown.provenance)),
    )
    return document(one_line(heading, 200), prose.header(heading, description, shown), main, prose.footer())


def _named(explanations: object) -> dict[str, Explanation]:
    if isinstance(explanations, Explanation):
        return {explanations.policy: explanations}
    if not isinstance(explanations, Mapping):
        kind = type(explanations).__name__
        msg = f"explanations has type {kind}; allowed: an Explanation, or a mapping of names to Explanations."
        raise TypeError(msg)
    if not explanations:
        msg = "explanations is empty; allowed: at least one Explanation."
        raise ValueError(msg)
    named: dict[str, Explanation] = {}
    for name, explanation in explanations.items():
        if not isinstance(explanation, Explanation):
            msg = f"explanations[{name!r}] has type {type(explanation).__name__}; allowed: an Explanation."
            raise TypeError(msg)
        first = next(iter(named.values()), explanation)
        same = explanation.values.shape == first.values.shape
        if not same or explanation.feature_names != first.feature_names:
            msg = f"explanations[{name!r}] explains other rows, features or outputs than the first one."
            raise ValueError(msg)
        named[str(name)] = explanation
    return named


def _shown(named: Mapping[str, Explanation]) -> Explanation:
    """The explanation of the pictures."""
    optimal = [explanation for explanation in named.values() if explanation.policy == "optimal"]
    return optimal[-1] if optimal else list(named.values())[-1]


def _section(title: str, *content: object) -> Markup:
    return tag("section", tag("h2", title), *content)


def _importance(explanation: Explanation, output: object, limit: int | None) -> Markup:
    shapley = explanation if explanation.policy == "shapley" else explanation.reallocate(policy="shapley")
    sizes = []
    for source in (explanation, shapley):
        values = np.abs(source.values)
        if output is not None:
            values = of_output(source, values, check_output(source, output)[0])
        sizes.append(values.mean(axis=0) if values.ndim == 2 else values.mean(axis=(0, 2)))
    chart = importance_chart(explanation.feature_names, sizes[0], sizes[1], limit)
    return join([prose.importance_legend(), scrolling(chart, "Importance of features")])


def _gain(explanation: Explanation, output: object) -> list[Markup]:
    """The picture of all rows, one per output where none is chosen."""
    name = one_line(explanation.utility.name)
    parts = [prose.gain(name, higher=explanation.utility.higher_is_better), prose.gain_legend()]
    outputs: list[Any] = [output]
    if output is None and explanation.values.ndim == 3:
        outputs = list(range(explanation.values.shape[2]))
    for which in outputs:
        gain = gain_of(explanation, which)
        if len(outputs) > 1:
            output_name = (explanation.output_names or tuple(map(str, outputs)))[which]
            parts.append(tag("h3", one_line(output_name)))
        chart = gain_chart(gain)
        parts += [tag("p", prose.sentence(str(gain)), class_="note"), scrolling(chart, "Utility of every row")]
    return parts


def _provenance(provenance: Mapping[str, Any]) -> Markup:
    items = []
    for name, value in _flat(provenance):
        items += [tag("dt", one_line(name.replace("_", " "), 80)), tag("dd", one_line(value, 400))]
    return tag("dl", *items, class_="terms")


def _flat(values: Mapping[str, Any], above: str = "") -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            pairs += _flat(value, f"{above}{name}: ")
        else:
            pairs.append((f"{above}{name}", value))
    return pairs
