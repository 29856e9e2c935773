"""How the float64 libraries add up their leaves, to the bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Float64Sum:
    """(base + leaf + leaf + ...) / divisor * scale + bias, tree by tree.

    Attributes:
        leaf_values: Shape (nodes, width), as the library stores them.
        slots: Shape (trees,): the first output each tree adds to.
        base: Shape (outputs,): where the sum starts.
        rate: What each leaf is multiplied with as it is added.
        divisor: What the sum is divided by at the end.
        scale: What the sum is multiplied with at the end.
        bias: Shape (outputs,) or (): what is added last.
    """

    leaf_values: NDArray[np.float64]
    slots: NDArray[Any]
    base: NDArray[np.float64]
    rate: float = 1.0
    divisor: float = 1.0
    scale: float = 1.0
    bias: Any = 0.0

    def predict(self, leaves: NDArray[np.int32], rows: Any) -> NDArray[Any]:
        """The raw scores, float64."""
        del rows
        total = np.tile(self.base, (leaves.shape[0], 1))
        width = self.leaf_values.shape[1]
        for tree, slot in enumerate(self.slots):
            total[:, slot : slot + width] += self.rate * self.leaf_values[leaves[:, tree]]
        return np.asarray(total / self.divisor * self.scale + self.bias)
