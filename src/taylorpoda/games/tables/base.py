"""The seam for containers: a table knows how to mix its rows with another table's, cell by cell, without casts."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


# Types whose equal values cannot be told apart, and types whose text says everything.
_PLAIN = frozenset({str, bytes, bool, int, type(None), dt.date, dt.timedelta})
_SPELLED = frozenset({float, complex, dt.datetime, dt.time, decimal.Decimal, fractions.Fraction})


class Table(ABC):
    """A user's rows in the container they came in.

    Attributes:
        kind: What the container is called in messages and provenance, e.g. "numpy array".
        names: One display name per column.
        named: Whether the names are the user's own (a DataFrame) or made up (an array).
    """

    kind: str
    names: tuple[str, ...]
    named: bool

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """How many rows."""

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return len(self.names)

    @property
    @abstractmethod
    def row_bytes(self) -> int:
        """Bytes one row takes, for cutting batches."""

    @property
    def index(self) -> Any:
        """The user's row labels, or None."""
        return None

    @abstractmethod
    def native(self) -> Any:
        """The container a model receives."""

    @abstractmethod
    def take(self, rows: NDArray[np.intp]) -> Table:
        """Some rows, in this order."""

    def copy(self) -> Table:
        """The same rows in memory of their own: what a model may scribble on."""
        return self.take(np.arange(self.n_rows))

    @abstractmethod
    def column(self, position: int) -> NDArray[Any]:
        """One column's cells as a numpy array, for display and for rules that need numbers."""

    @abstractmethod
    def read(self, data: Any, parameter: str) -> Table:
        """Read other rows of the same columns: reordered by name where names are known, never cast with loss.

        Args:
            data: What the user passed; one row may be one-dimensional.
            parameter: The name the user gave it, for messages.

        Raises:
            ValueError: If columns are missing or extra, or cells do not fit this table's types.
        """

    @abstractmethod
    def stack(self, other: Table) -> Table:
        """This table's rows followed by those of `other`, a table `read` by this one."""

    @abstractmethod
    def mix(self, rows: NDArray[np.intp], present: NDArray[np.bool_], donors: NDArray[np.intp]) -> Any:
        """Hybrid rows: cells of `rows` where `present`, cells of `donors` elsewhere; both index this table.

        Args:
            rows: Shape (r,).
            present: Shape (r, n_columns).
            donors: Shape (r,).

        Returns:
            r rows in the native container.
        """

    def grid(self, rows: NDArray[np.intp], donors: NDArray[np.intp]) -> Callable[[NDArray[np.bool_]], Any]:
        """Prepare to mix rows (g,) with donors (k,) in all combinations.

        Returns:
            A function of coalitions (c, n_columns) that gives g * c * k hybrid rows in the native container, nested in
            that order.
        """
        g, k = len(rows), len(donors)

        def mixed(present: NDArray[np.bool_]) -> Any:
            c = len(present)
            return self.mix(
                np.repeat(rows, c * k),
                np.tile(np.repeat(present, k, axis=0), (g, 1)),
                np.tile(donors, g * c),
            )

        return mixed

    @abstractmethod
    def codes(self) -> NDArray[np.int64]:
        """Cells as integers, shape (n_rows, n_columns): equal codes in a column mean identical cells, bit for bit."""

    def player_codes(self, player_of_column: NDArray[np.intp]) -> NDArray[np.int64]:
        """The same for players, shape (n_rows, n_players): equal codes mean that all cells of the player are identical.

        Args:
            player_of_column: Shape (n_columns,): which player each column belongs to.
        """
        return player_codes(self.codes(), player_of_column)


def player_codes(codes: NDArray[np.int64], player_of_column: NDArray[np.intp]) -> NDArray[np.int64]:
    """Codes of columns to codes of players, shape (n_rows, n_players): a group is equal where all its cells are."""
    n_players = int(player_of_column.max(initial=-1)) + 1
    if n_players == codes.shape[1]:
        return codes[:, np.argsort(player_of_column, kind="stable")]
    grouped = []
    for player in range(n_players):
        cells = codes[:, player_of_column == player]
        grouped.append(np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1))
    return np.stack(grouped, axis=1).astype(np.int64)


def factorize_objects(cells: Sequence[Any]) -> NDArray[np.int64]:
    """Codes of arbitrary cells: the same code only where no model could tell the cells apart."""
    seen: dict[Any, int] = {}
    return np.array([seen.setdefault(_identity(cell), len(seen)) for cell in cells], dtype=np.int64)


def _identity(cell: Any) -> Any:
    """What tells a cell from every other: equal values may differ, as 0.0 and -0.0, (1,) and (True,), or time zones."""
    kind = type(cell)
    if kind in _PLAIN:
        return kind, cell
    if kind in _SPELLED or kind.__name__ in {"Timestamp", "Timedelta", "Period"}:
        return kind, repr(cell)
    if isinstance(cell, np.generic) and cell.dtype.kind in "fiubcmMUS":
        return kind, cell.dtype.str, cell.tobytes()
    return "object", id(cell)


def factorize_bits(cells: NDArray[Any]) -> NDArray[np.int64]:
    """Codes of a fixed-size numpy column, by its bytes: -0.0 and 0.0 differ, a NaN equals itself."""
    raw = np.ascontiguousarray(cells)
    size = raw.dtype.itemsize
    if size in (1, 2, 4, 8) and raw.dtype.kind != "O":
        bits = raw.view(f"u{size}")
    else:
        bits = raw.view(np.dtype((np.void, size)))
    return np.unique(bits, return_inverse=True)[1].reshape(-1).astype(np.int64)


def check_columns(expected: Sequence[str], got: Sequence[str], parameter: str) -> NDArray[np.intp]:
    """Where each expected column is in `got`, or an error that names the missing and the extra ones."""
    if len(set(got)) != len(got):
        repeated = sorted({name for name in got if list(got).count(name) > 1})
        msg = f"{parameter} has several columns named {repeated}; column names must be unique."
        raise ValueError(msg)
    missing = [name for name in expected if name not in set(got)]
    extra = [name for name in got if name not in set(expected)]
    if missing or extra:
        parts = [f"missing {missing}"] if missing else []
        parts += [f"not in the background {extra}"] if extra else []
        msg = f"{parameter} has other columns than the background: {'; '.join(parts)}. Expected {list(expected)}."
        raise ValueError(msg)
    place = {name: position for position, name in enumerate(got)}
    return np.array([place[name] for name in expected], dtype=np.intp)


def cast_without_loss(cells: NDArray[Any], dtype: np.dtype[Any], parameter: str, column: str | None) -> NDArray[Any]:
    """Cells in another dtype if every one survives the trip there and back, else an error that says what to change."""
    if cells.dtype == dtype:
        return cells
    where = f"column {column!r} of {parameter}" if column is not None else parameter
    numbers = cells.dtype.kind in "fiu" and dtype.kind in "fiu"
    example = f", e.g. background.astype({str(cells.dtype)!r})" if numbers else ""
    msg = (
        f"{where} has dtype {cells.dtype} but the background has {dtype}, and not every cell fits"
        f"{_misfit(cells, dtype)}; convert one of them so that both agree{example}."
    )
    if dtype.kind == "O":
        return cells.astype(object)
    if cells.dtype.kind == "c":
        raise ValueError(msg)
    try:
        with np.errstate(all="ignore"):
            cast = cells.astype(dtype)
            if cells.dtype.kind == "O":
                same = all(_same_cell(ours, theirs) for ours, theirs in zip(cells.ravel(), cast.ravel(), strict=True))
            else:
                kinds = {cells.dtype.kind, dtype.kind}
                back = cast.astype(cells.dtype)
                same = bool(np.all((back == cells) | ((back != back) & (cells != cells))))  # noqa: PLR0124 - NaN
                same = same and (kinds <= set("fiub") or len(kinds) == 1)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(msg) from error
    if not same:
        raise ValueError(msg)
    return cast


def _misfit(cells: NDArray[Any], dtype: np.dtype[Any]) -> str:
    """The first text or missing cell among objects that should be numbers, for a message."""
    if cells.dtype.kind != "O" or dtype.kind not in "fiub":
        return ""
    strange = next((cell for cell in cells.ravel().tolist() if not isinstance(cell, int | float | np.number)), None)
    return f", such as {strange!r}"


def _same_cell(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, str | bytes) != isinstance(theirs, str | bytes | np.str_):
        return False
    try:
        return bool(ours == theirs) or (ours != ours and theirs != theirs)  # noqa: PLR0124 - NaN
    except (TypeError, ValueError):
        return False
