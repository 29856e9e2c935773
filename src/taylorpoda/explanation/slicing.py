"""Some rows and outputs of an allocation: what was or will be proven of the whole is read off, never proven twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.allocation.result import Allocation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.result import ShareView


def sliced(whole: Allocation, rows: NDArray[np.intp], outputs: NDArray[np.intp]) -> Allocation:
    """An allocation with axes (rows, outputs, n), cut down to some rows and outputs."""
    proof = _SlicedProof(whole, rows, outputs)
    return Allocation(
        attributions=proof.cut(whole.attributions),
        base_value=proof.cut(whole.base_value),
        policy=whole.policy,
        utility=whole.utility,
        proof=proof,
        seed=whole.seed,
    )


class _SlicedProof:
    """The proof of the whole, read at some rows and outputs."""

    def __init__(self, whole: Allocation, rows: NDArray[np.intp], outputs: NDArray[np.intp]) -> None:
        self._whole = whole
        self._rows = rows
        self._outputs = outputs

    def cut(self, array: Any) -> NDArray[Any]:
        """(rows, outputs, ...) at the chosen rows and outputs."""
        return np.asarray(array)[np.ix_(self._rows, self._outputs)]

    def score(self) -> Any:
        return self.cut(self._whole.score)

    def shapley_score(self) -> Any:
        return self.cut(self._whole.shapley_score)

    def bound(self) -> Any:
        return self.cut(self._whole.bound)

    def ceiling(self) -> Any:
        return self.cut(self._whole.ceiling)

    def certified(self) -> Any:
        return self.cut(self._whole.certified)

    def nearest_certified(self) -> Any:
        return self.cut(self._whole.nearest_certified)

    def intervals(self) -> tuple[Any, Any]:
        return self.cut(self._whole.lower), self.cut(self._whole.upper)

    def shares(self, row: int) -> ShareView:
        own, output = divmod(row, len(self._outputs))
        width = int(np.asarray(self._whole.base_value).shape[1])
        return self._whole.shares(int(self._rows[own]) * width + int(self._outputs[output]))
