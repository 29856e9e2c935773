"""Allocation: attributions, and everything that can be said about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import array_api_compat
import numpy as np

from taylorpoda._support.arrays import to_numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Proof(Protocol):
    """What stands behind an allocation; each part is computed when asked for. Shapes are those of `Allocation`."""

    def score(self) -> Any:
        """The utility of the attributions."""
        ...

    def shapley_score(self) -> Any:
        """The utility of the Shapley values."""
        ...

    def bound(self) -> Any:
        """The best score an admissible attribution can have, as proven."""
        ...

    def ceiling(self) -> Any:
        """The best score any ranking at all could have."""
        ...

    def certified(self) -> Any:
        """Whether no admissible attribution scores better."""
        ...

    def nearest_certified(self) -> Any:
        """Whether no admissible attribution of the same score is nearer to the Shapley values."""
        ...

    def intervals(self) -> tuple[Any, Any]:
        """The admissible interval of every attribution."""
        ...

    def shares(self, row: int) -> ShareView:
        """Shares that give a row's attributions; rows are counted over all leading axes, the last one fastest."""
        ...


@dataclass(frozen=True, eq=False)
class Allocation:
    """Attributions of one or many games. Everything but the first fields is computed on first access.

    Attributes:
        attributions: Shape (..., n); every row sums to v(N) - v(empty).
        base_value: Shape (...), v(empty).
        policy: How they were chosen.
        utility: Its name, or None for an allocation made for no utility.
        proof: What the properties below ask.
        seed: The seed of a random policy, else None.
    """

    attributions: Any
    base_value: Any
    policy: str
    utility: str | None
    proof: Proof = field(repr=False)
    seed: int | None = None

    @cached_property
    def score(self) -> Any:
        """The utility of the attributions, shape (...); the plain sum, never negated."""
        return self.proof.score()

    @cached_property
    def shapley_score(self) -> Any:
        """The utility of the Shapley values, shape (...)."""
        return self.proof.shapley_score()

    @cached_property
    def bound(self) -> Any:
        """The best score an admissible attribution can have, as proven; equals `score` where certified."""
        return self.proof.bound()

    @cached_property
    def ceiling(self) -> Any:
        """The best score any ranking at all could have, shape (...)."""
        return self.proof.ceiling()

    @cached_property
    def gap(self) -> Any:
        """|score - bound|: how much could at most be gained, shape (...)."""
        return abs(self.score - self.bound)

    @cached_property
    def certified(self) -> Any:
        """Whether it is proven that no admissible attribution scores better, boolean, shape (...)."""
        return self.proof.certified()

    @cached_property
    def nearest_certified(self) -> Any:
        """Whether it is proven that none of the same score is nearer to the Shapley values, boolean, shape (...)."""
        return self.proof.nearest_certified()

    @cached_property
    def _intervals(self) -> tuple[Any, Any]:
        return self.proof.intervals()

    @property
    def lower(self) -> Any:
        """The smallest attribution each player can get from any valid shares, shape (..., n)."""
        return self._intervals[0]

    @property
    def upper(self) -> Any:
        """The largest attribution each player can get from any valid shares, shape (..., n)."""
        return self._intervals[1]

    def shares(self, row: int = 0) -> ShareView:
        """Shares that give the attributions of a row.

        Args:
            row: Counted over all leading axes, the last one fastest; negative from the end.

        Returns:
            A read-only mapping of subset index to n shares, for the coalitions of two or more players whose
            dividend is not zero.

        Raises:
            IndexError: If there is no such row.
        """
        rows = int(np.prod(self.attributions.shape[:-1], dtype=np.int64))
        if not -rows <= row < rows:
            msg = f"row={row} is out of range; there are {rows} rows."
            raise IndexError(msg)
        return self.proof.shares(row % rows)

    def __repr__(self) -> str:
        """One line: how many games, of how many players, and how they were allocated."""
        shape = tuple(self.attributions.shape)
        judged = f", utility={self.utility!r}" if self.utility is not None else ""
        return f"Allocation(attributions of shape {shape}, policy={self.policy!r}{judged})"


class ShareView(Mapping[int, "NDArray[np.float64]"]):
    """A read-only mapping {subset index: array of n shares} over two arrays.

    Attributes:
        coalitions: The subset indices, ascending; an integer array, or Python integers where there are more
            than 62 players.
        array: Shape (len(coalitions), n): row k holds the shares of coalition k, zero for players outside it.
    """

    def __init__(self, coalitions: NDArray[np.int64] | Sequence[int], array: Any) -> None:
        self.coalitions = coalitions
        self.array = np.asarray(to_numpy(array), dtype=np.float64).view()
        self.array.flags.writeable = False

    def __getitem__(self, coalition: int) -> NDArray[np.float64]:
        """The shares of a coalition.

        Raises:
            KeyError: If it has no dividend to share, or fewer than two players.
        """
        position = self._position(coalition)
        if position is None:
            raise KeyError(coalition)
        row: NDArray[np.float64] = self.array[position]
        return row

    def _position(self, coalition: object) -> int | None:
        if isinstance(coalition, bool) or not isinstance(coalition, int | np.integer):
            return None
        if not isinstance(self.coalitions, np.ndarray):
            return self._index.get(int(coalition))
        position = int(np.searchsorted(self.coalitions, coalition))
        found = position < len(self.coalitions) and int(self.coalitions[position]) == int(coalition)
        return position if found else None

    @cached_property
    def _index(self) -> dict[int, int]:
        return {int(coalition): position for position, coalition in enumerate(self.coalitions)}

    def __contains__(self, coalition: object) -> bool:
        return self._position(coalition) is not None

    def __iter__(self) -> Iterator[int]:
        return (int(coalition) for coalition in self.coalitions)

    def __len__(self) -> int:
        return len(self.coalitions)

    def __repr__(self) -> str:
        """How many coalitions are shared."""
        return f"ShareView({len(self)} coalitions, {self.array.shape[-1]} players)"


def kind_of(table: Any, array: NDArray[Any]) -> Any:
    """A numpy result in the kind and on the device of the table it answers; floats in its dtype."""
    if isinstance(table, np.ndarray):
        return array[()]  # a number where there are no axes
    xp = array_api_compat.array_namespace(table)
    device = array_api_compat.device(table)
    if array.dtype.kind == "f":
        return xp.asarray(array.copy(), dtype=table.dtype, device=device)
    return xp.asarray(array.copy(), device=device)
