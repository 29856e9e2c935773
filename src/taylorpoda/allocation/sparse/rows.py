"""What is known of one row after it was solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from taylorpoda.allocation.sparse.share_view import SparseShareView


@dataclass(frozen=True, eq=False)
class RowSolved:
    """The answer for one row; costs are scores, negated where higher is better.

    Attributes:
        attributions: Shape (n,).
        bound: No admissible attribution costs less.
        certified: Whether the attributions reach the bound.
        nearest_certified: Whether none of the same cost is nearer to the Shapley values.
        tolerance: Costs closer than this are equal.
        shares: Makes the shares; None for even ones.
    """

    attributions: NDArray[np.float64]
    bound: float
    certified: bool
    nearest_certified: bool
    tolerance: float
    shares: Callable[[], SparseShareView] | None
