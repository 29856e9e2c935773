"""What an Explanation is about: rows, features, outputs, labels."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.choices import unknown_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.models.labels import LabelRule
    from taylorpoda.games.tables.base import Table


@dataclass(frozen=True, eq=False)
class Subject:
    """The rows, players and outputs of an explanation.

    Attributes:
        rows: The explained rows.
        feature_names: One name per player.
        player_of_column: Shape (n_columns,): which player each column of the rows belongs to.
        output_names: One name per output, or None where a single output has none.
        single: Whether results have no outputs axis.
        target: Shape (rows,): what utilities compare with, or None.
        labels: How the user's y becomes such targets.
        model: The model in words.
        container: The kind of DataFrame that `to_frame` gives.
    """

    rows: Table
    feature_names: tuple[str, ...]
    player_of_column: NDArray[np.intp]
    output_names: tuple[str, ...] | None
    single: bool
    target: NDArray[np.float64] | None
    labels: LabelRule
    model: str
    container: str = "pandas DataFrame"

    def with_target(self, target: NDArray[np.float64] | None) -> Subject:
        """The same subject with other labels."""
        return replace(self, target=target)

    def take(self, rows: NDArray[np.intp], outputs: NDArray[np.intp], *, single: bool) -> Subject:
        """Some rows and outputs."""
        names = None if self.output_names is None else tuple(self.output_names[k] for k in outputs)
        target = None if self.target is None else self.target[rows]
        return replace(self, rows=self.rows.take(rows), output_names=names, single=single, target=target)

    def output_positions(self, key: Any) -> NDArray[np.intp]:
        """The positions of several outputs: names, indices, or one boolean per output."""
        flags = np.asarray(key)
        if flags.dtype.kind == "b":
            n_outputs = len(self.output_names or ("0",))
            if flags.shape != (n_outputs,):
                msg = f"outputs are selected by {len(flags)} booleans, but there are {n_outputs} outputs."
                raise IndexError(msg)
            return np.flatnonzero(flags)
        return np.array([self.output_index(k) for k in key], dtype=np.intp)

    def output_index(self, output: object) -> int:
        """The position of an output by name or index."""
        names = self.output_names if self.output_names is not None else ("0",)
        if isinstance(output, str):
            if output in names:
                return names.index(output)
            error = unknown_choice("output", output, names)
            raise error
        try:
            position = operator.index(output)  # type: ignore[arg-type]
        except TypeError:
            position = len(names)
        if not -len(names) <= position < len(names):
            error = unknown_choice("output", output, dict.fromkeys([*names, *map(str, range(len(names)))]))
            raise error
        return position % len(names)


def row_positions(key: Any, n_rows: int) -> NDArray[np.intp]:
    """The rows a subscript selects; one row keeps its axis.

    Raises:
        IndexError: If a row is out of range.
        TypeError: If the subscript is of another kind.
    """
    if key is Ellipsis:
        return np.arange(n_rows)
    if isinstance(key, slice):
        return np.arange(n_rows)[key]
    try:
        one = operator.index(key)
    except TypeError:
        chosen = np.asarray(key) if np.size(key) else np.zeros(0, dtype=np.intp)
        if chosen.dtype.kind not in "iub" or chosen.ndim != 1:
            msg = f"rows are selected by an integer, a slice or a list of them, got {key!r}."
            raise TypeError(msg) from None
        if chosen.dtype.kind == "b" and len(chosen) != n_rows:
            msg = f"rows are selected by {len(chosen)} booleans, but there are {n_rows} rows."
            raise IndexError(msg) from None
        outside = [] if chosen.dtype.kind == "b" else chosen[(chosen < -n_rows) | (chosen >= n_rows)].tolist()
        if outside:
            msg = f"row {outside[0]} is out of range for an explanation of {n_rows} rows."
            raise IndexError(msg) from None
        return np.arange(n_rows)[chosen]
    if not -n_rows <= one < n_rows:
        msg = f"row {one} is out of range for an explanation of {n_rows} rows."
        raise IndexError(msg)
    return np.array([one % n_rows])
