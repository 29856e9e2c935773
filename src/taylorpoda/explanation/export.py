"""An Explanation as text, as a DataFrame, as another library's object."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Literal

import narwhals.stable.v2 as nw
import numpy as np

from taylorpoda._support.display import cell, one_line
from taylorpoda._support.optional import require
from taylorpoda.games.coalitions import all_coalitions, members

# The kinds of container whose library makes the frame; any other rows give a pandas DataFrame.
_FRAMES: dict[str, Literal["polars", "pyarrow"]] = {"polars DataFrame": "polars", "pyarrow Table": "pyarrow"}

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
    parts = [f"{one_line(explanation.feature_names[i], 24)} {values[i]:+.4g}" for i in order]
    if len(values) > len(order):
        rest = values.sum() - values[order].sum()
        parts.append(f"{len(values) - len(order)} more {rest:+.4g}")
    name = "" if explanation.output_names is None else f" [{one_line(explanation.output_names[0], 24)}]"
    base, full = explanation.games.base[0, 0], explanation.games.full[0, 0]
    return [f"  row 0{name}: base {base:.4g}, {', '.join(parts)} = {full:.4g}"]


def proof_line(explanation: Explanation) -> str:
    """One line on what was proven."""
    worst = float(np.max(np.abs(explanation.discrepancy), initial=0.0))
    adds = f"adds up to within {worst:.1g}" if worst else "adds up exactly"
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
    """The attributions as a DataFrame of the kind that came in.

    Args:
        explanation: What to export.
        output: One of several outputs; None for all of them.

    Returns:
        A polars DataFrame or pyarrow Table if the rows were one; else a pandas DataFrame with their index. Of several
        outputs, pandas gets two header rows (output, feature); the others have columns named "output: feature".
    """
    subject = explanation.subject
    values = np.asarray(explanation.allocation.attributions)
    names = list(explanation.feature_names)
    pandas_wanted = subject.container not in _FRAMES
    if subject.single or output is not None:
        table = values[:, 0 if output is None else subject.output_index(output)]
        header: Any = names
    else:
        table = values.reshape(len(explanation), values.shape[1] * values.shape[2])
        pairs = [(kind, name) for kind in explanation.output_names or () for name in names]
        header = pairs if pandas_wanted else [f"{kind}: {name}" for kind, name in pairs]
        if pandas_wanted:
            pandas = require("pandas", "frames", "to_frame()")
            header = pandas.MultiIndex.from_tuples(pairs, names=["output", "feature"])
    if pandas_wanted:
        pandas = require("pandas", "frames", "to_frame()")
        return pandas.DataFrame(table, columns=header, index=subject.rows.index)
    if len(set(header)) != len(header):
        msg = f"the columns {header} are not all different; pick one output, e.g. to_frame(output=0)."
        raise ValueError(msg)
    library = _FRAMES[subject.container]
    require(library, library, "to_frame()")
    return nw.from_dict({name: table[:, j] for j, name in enumerate(header)}, backend=library).to_native()


def to_shap(explanation: Explanation) -> Any:
    """A `shap.Explanation` of the same numbers, as shap's own plots read it."""
    shap = require("shap", "shap", "to_shap()")
    names: Any = None if explanation.output_names is None else list(explanation.output_names)
    if names is not None and explanation.subject.single:
        names = names[0]  # a list would be sliced as another axis
    return shap.Explanation(
        values=np.array(explanation.values),
        base_values=np.array(explanation.base_values),
        data=display_data(explanation),
        feature_names=list(explanation.feature_names),
        output_names=names,
    )


def display_data(explanation: Explanation) -> NDArray[Any]:
    """The explained cells, shape (rows, n): those of a group of several columns as one text, which shap can slice."""
    rows, players = explanation.subject.rows, explanation.subject.player_of_column
    n = len(explanation.feature_names)
    columns: list[NDArray[Any]] = []
    for player in range(n):
        members = [rows.column(int(j)) for j in np.flatnonzero(players == player)]
        if len(members) == 1:
            columns.append(members[0])
            continue
        together = np.empty(rows.n_rows, dtype=object)
        together[:] = [", ".join(cell(part) for part in parts) for parts in zip(*members, strict=True)]
        columns.append(together)
    if columns and all(column.dtype.kind in "fiub" for column in columns):
        return np.stack(columns, axis=1)
    cells = np.empty((rows.n_rows, n), dtype=object)
    for player, column in enumerate(columns):
        cells[:, player] = column
    return cells


def to_shapiq(explanation: Explanation, row: int, output: object, order: int | None) -> Any:
    """The dividends of one row as `shapiq.InteractionValues` (index "Moebius"), the empty set included."""
    shapiq = require("shapiq", "shapiq", "to_shapiq()")
    dividends = explanation.dividends(row, output)
    n = len(explanation.feature_names)
    most = n if order is None else operator.index(order)
    if not 0 <= most <= n:
        msg = f"order={order!r} is out of range; allowed: None, or 0 to {n}."
        raise ValueError(msg)
    if not isinstance(dividends, np.ndarray):
        return dividends.take(dividends.coalitions.sizes <= most).to_shapiq()
    sizes = all_coalitions(n).sum(axis=1)
    kept = np.flatnonzero((sizes <= most) & ((dividends != 0) | (sizes == 0)))
    lookup = {tuple(np.flatnonzero(one).tolist()): k for k, one in enumerate(members(kept, n))}
    return shapiq.InteractionValues(
        values=dividends[kept],
        index="Moebius",
        min_order=0,
        max_order=most,
        n_players=n,
        interaction_lookup=lookup,
        estimated=False,
        baseline_value=float(dividends[0]),
    )
