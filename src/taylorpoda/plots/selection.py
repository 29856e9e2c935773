"""Which row and which output a picture shows, checked once for every kind of picture."""

from __future__ import annotations

import numbers
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.display import cell, is_missing, one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.explanation import Explanation

_NOISE = 1e-12


@dataclass(frozen=True)
class RowView:
    """One row of an Explanation for one output.

    Attributes:
        row: Its position.
        output: The position of the output.
        output_name: The name of the output, or None where there is only one.
        names: One name per player, as the user wrote it.
        cells: The row's own value of each player as text; None for a group of several columns.
        values: Shape (n,), the attributions.
        base_value: What the model gives on average.
        prediction: What the model gives for this row.
    """

    row: int
    output: int
    output_name: str | None
    names: tuple[str, ...]
    cells: tuple[str | None, ...]
    values: NDArray[np.float64]
    base_value: float
    prediction: float

    @property
    def discrepancy(self) -> float:
        """What the attributions leave unexplained; rounding noise counts as nothing."""
        left = self.prediction - self.base_value - float(self.values.sum())
        scale = abs(self.prediction) + abs(self.base_value) + float(np.abs(self.values).sum())
        return left if abs(left) > 1e-9 * scale else 0.0

    def label(self, player: int, limit: int = 28) -> str:
        """The name of a player and, where known, its value in this row."""
        name, own = one_line(self.names[player], limit), self.cells[player]
        return name if own is None else f"{name} = {own}"


def select_row(explanation: Explanation, row: object, output: object = None) -> RowView:
    """One row and one output of an Explanation.

    Args:
        explanation: What to show.
        row: The position of the row; negative positions count from the end.
        output: The name or the position of the output; may be None where there is only one.

    Returns:
        The row's numbers.

    Raises:
        ValueError: If there are no rows, or the row or the output does not exist.
        TypeError: If `row` is not an integer.
    """
    position = check_row(explanation, row)
    which, name = check_output(explanation, output)
    return RowView(
        row=position,
        output=which,
        output_name=name,
        names=tuple(map(str, explanation.feature_names)),
        cells=row_cells(explanation, position),
        values=of_output(explanation, explanation.values, which)[position],
        base_value=float(of_output(explanation, explanation.base_values, which)[position]),
        prediction=float(of_output(explanation, explanation.predictions, which)[position]),
    )


def of_output(explanation: Explanation, array: Any, output: int) -> NDArray[np.float64]:
    """An array of an Explanation, its axis of outputs (the last, if there is one) reduced to one output."""
    values = np.asarray(array, dtype=float)
    return values[..., output] if np.ndim(explanation.values) == 3 else values


def n_rows(explanation: Explanation) -> int:
    """How many rows there are; a picture needs at least one."""
    rows = int(np.shape(explanation.values)[0])
    if rows == 0:
        msg = "explanation has no rows: there is nothing to draw; explain at least one row."
        raise ValueError(msg)
    return rows


def check_row(explanation: Explanation, row: object) -> int:
    """The position of a row, counted from the start."""
    rows = n_rows(explanation)
    if isinstance(row, bool | np.bool_):
        msg = f"row={row!r} has type bool; allowed: an integer from {-rows} to {rows - 1}."
        raise TypeError(msg)
    try:
        position = operator.index(row)  # type: ignore[arg-type] # anything that is no integer ends below
    except TypeError:
        msg = f"row={row!r} has type {type(row).__name__}; allowed: an integer from {-rows} to {rows - 1}."
        raise TypeError(msg) from None
    if not -rows <= position < rows:
        msg = f"row={position} does not exist; allowed: {-rows} to {rows - 1}."
        raise ValueError(msg)
    return position % rows


def check_output(explanation: Explanation, output: object) -> tuple[int, str | None]:
    """The position of an output and its name, by the rule of slicing; a single one need not be named."""
    names = explanation.output_names
    count = explanation.values.shape[2] if explanation.values.ndim == 3 else 1
    if output is None:
        if count > 1:
            listed = ", ".join(map(repr, names or range(count)))
            msg = f"output=None, but {count} outputs are explained; choose one of {listed}, or a position."
            raise ValueError(msg)
        output = 0
    position = explanation.subject.output_index(output)
    return position, None if names is None else names[position]


def check_max_display(max_display: object) -> int | None:
    """How many bars a picture may hold: an integer of at least 1, or None for all."""
    if max_display is None:
        return None
    allowed = "allowed: an integer of at least 1, or None for all."
    try:
        count = operator.index(max_display)  # type: ignore[arg-type] # anything that is no integer ends below
    except TypeError:
        msg = f"max_display={max_display!r} has type {type(max_display).__name__}; {allowed}"
        raise TypeError(msg) from None
    if count < 1:
        msg = f"max_display={count}; {allowed}"
        raise ValueError(msg)
    return count


def row_cells(explanation: Explanation, row: int) -> tuple[str | None, ...]:
    """The values of one row as text, one per player; None for a group of several columns."""
    subject = explanation.subject
    alone = subject.rows.take(np.array([row]))
    cells: list[str | None] = [None] * len(subject.feature_names)
    counts = np.bincount(subject.player_of_column, minlength=len(cells))
    for column, player in enumerate(subject.player_of_column.tolist()):
        if counts[player] == 1:
            cells[player] = cell(alone.column(column)[0])
    return tuple(cells)


def player_numbers(explanation: Explanation) -> NDArray[np.float64]:
    """The explained table as numbers, shape (rows, n): NaN where a cell or a group of columns has none."""
    subject = explanation.subject
    table = np.full((subject.rows.n_rows, len(subject.feature_names)), np.nan)
    counts = np.bincount(subject.player_of_column, minlength=table.shape[1])
    for column, player in enumerate(subject.player_of_column.tolist()):
        if counts[player] == 1:
            table[:, player] = _as_numbers(np.asarray(subject.rows.column(column)))
    return table


def _as_numbers(column: NDArray[Any]) -> NDArray[np.float64]:
    if column.dtype.kind in "biuf":
        return column.astype(float)
    if column.dtype.kind in "mM":
        return np.where(np.isnat(column), np.nan, column.astype("int64").astype(float))
    if column.dtype.kind == "O" and all(is_missing(value) or isinstance(value, numbers.Real) for value in column):
        return np.array([np.nan if is_missing(value) else float(value) for value in column])
    return np.full(len(column), np.nan)


def _is_number(value: object) -> bool:
    return is_missing(value) or isinstance(value, numbers.Real)


def signs_fixed(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which features keep their sign in every admissible allocation: their interval excludes 0.

    Ends within rounding noise of 0, measured by the widest interval of the row, count as touching it.
    """
    scale = np.maximum(np.abs(lower), np.abs(upper)).max(initial=0.0)
    return np.asarray((lower > _NOISE * scale) | (upper < -_NOISE * scale))
