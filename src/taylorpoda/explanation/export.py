"""An Explanation as text, as a DataFrame, as another library's object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.optional import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.explanation.core import Explanation


def describe(explanation: Explanation) -> str:
    """The repr: what was explained, how, and in one line what was proven."""
    rows, outputs = explanation.games.full.shape
    n = len(explanation.feature_names)
    several = "" if explanation.subject.single else f" x {outputs} outputs"
    head = (
        f"Explanation of {explanation.subject.model}: {_count(rows, 'row')} x {_count(n, 'feature')}{several}, "
        f"engine={explanation.engine!r}, policy={explanation.policy!r}, utility={explanation.utility.name!r}"
    )
    lines = [head]
    if rows and outputs:
        lines += _strongest(explanation)
        lines.append(proof_line(explanation))
    return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _strongest(explanation: Explanation) -> list[str]:
    """The first row's largest attributions."""
    values = np.asarray(explanation.allocation.attributions)[0, 0]
    order = np.argsort(-np.abs(values), kind="stable")[:4]
    parts = [f"{_short(explanation.feature_names[i])} {values[i]:+.4g}" for i in order]
    if len(values) > len(order):
        rest = values.sum() - values[order].sum()
        parts.append(f"{len(values) - len(order)} more {rest:+.4g}")
    name = "" if explanation.output_names is None else f" [{_short(explanation.output_names[0])}]"
    base, full = explanation.games.base[0, 0], explanation.games.full[0, 0]
    return [f"  row 0{name}: base {base:.4g}, {', '.join(parts)} = {full:.4g}"]


def _short(name: str) -> str:
    clean = " ".join(name.split())
    return clean if len(clean) <= 24 else clean[:23] + "…"


def proof_line(explanation: Explanation) -> str:
    """One line on what was proven."""
    worst = float(np.max(np.abs(explanation.discrepancy), initial=0.0))
    adds = f"adds up to {worst:.1g}" if worst else "adds up exactly"
    if explanation.policy != "optimal":
        return f"  {adds}; not optimized, so nothing is claimed about the best split"
    certified = np.asarray(explanation.certified)
    if certified.all():
        what = f"proven optimal for {explanation.utility.name} in every row"
    else:
        what = f"proven optimal for {explanation.utility.name} in {int(certified.sum())} of {certified.size} rows"
    nearest = np.asarray(explanation.nearest_certified)
    return f"  {adds}; {what}, nearest to Shapley proven in {int(nearest.sum())} of {nearest.size}"


def to_frame(explanation: Explanation, output: object = None) -> Any:
    """The attributions as a DataFrame; several outputs give two header rows (output, feature)."""
    pandas = require("pandas", "frames", "to_frame()")
    subject = explanation.subject
    index = subject.rows.index
    if subject.single or output is not None:
        chosen = 0 if output is None else subject.output_index(output)
        values = np.asarray(explanation.allocation.attributions)[:, chosen]
        return pandas.DataFrame(values, columns=list(explanation.feature_names), index=index)
    columns = pandas.MultiIndex.from_product(
        [list(explanation.output_names or ()), list(explanation.feature_names)], names=["output", "feature"]
    )
    values = np.asarray(explanation.allocation.attributions).reshape(len(explanation), len(columns))
    return pandas.DataFrame(values, columns=columns, index=index)


def to_shap(explanation: Explanation) -> Any:
    """A `shap.Explanation` of the same numbers."""
    shap = require("shap", "shap", "to_shap()")
    return shap.Explanation(
        values=np.array(explanation.values),
        base_values=np.array(explanation.base_values),
        data=display_data(explanation),
        feature_names=list(explanation.feature_names),
        output_names=None if explanation.output_names is None else list(explanation.output_names),
    )


def display_data(explanation: Explanation) -> NDArray[Any]:
    """The explained cells, shape (rows, n): a group of several columns shows the tuple of its cells."""
    rows, players = explanation.subject.rows, explanation.subject.player_of_column
    n = len(explanation.feature_names)
    columns: list[NDArray[Any]] = []
    for player in range(n):
        members = [rows.column(int(j)) for j in np.flatnonzero(players == player)]
        if len(members) == 1:
            columns.append(members[0])
            continue
        together = np.empty(rows.n_rows, dtype=object)
        together[:] = list(zip(*members, strict=True))
        columns.append(together)
    if columns and all(column.dtype.kind in "fiub" for column in columns):
        return np.stack(columns, axis=1)
    cells = np.empty((rows.n_rows, n), dtype=object)
    for player, column in enumerate(columns):
        cells[:, player] = column
    return cells
