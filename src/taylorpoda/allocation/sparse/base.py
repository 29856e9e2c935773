"""The seam: what a policy may ask of games whose dividends are sparse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from taylorpoda.dividends.sparse import SparseDividends


class SparseGames(Protocol):
    """One or many games over the same players. Rows are counted over all leading axes, the last one fastest."""

    @property
    def lead(self) -> tuple[int, ...]:
        """The leading axes."""
        ...

    @property
    def n_players(self) -> int:
        """Players of every game."""
        ...

    @property
    def base(self) -> NDArray[np.float64]:
        """v(empty), shape (...)."""
        ...

    @property
    def full(self) -> NDArray[np.float64]:
        """v(N), shape (...)."""
        ...

    @property
    def shapley(self) -> NDArray[np.float64]:
        """The Shapley values, shape (..., n)."""
        ...

    @property
    def threshold(self) -> float:
        """Values above it are labeled 1 by the utilities that compare labels."""
        ...

    @property
    def competing(self) -> bool:
        """Whether several outputs compete for the label: the utilities that compare labels then ask for `rivals`."""
        ...

    def dividends(self, row: int) -> SparseDividends:
        """The dividends of one game, v(empty) among them; made when asked for."""
        ...

    def rivals(self, row: int) -> Sequence[SparseDividends]:
        """Where classes compete: the games of all classes of the row that game `row` explains, in class order.

        The label of a coalition is the class whose game gives it the largest value, the first of several, and targets
        are class indices. Asked only of games that say `competing`.
        """
        ...
