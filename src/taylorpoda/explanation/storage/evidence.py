"""What was proven of an allocation, as it was saved: read off, never proven twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.explanation.storage.archive import StorageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from taylorpoda.allocation.result import Allocation, ShareView
    from taylorpoda.engines.base import SolvedGames
    from taylorpoda.utilities import Utility

_NUMBERS = ("score", "shapley_score", "bound", "ceiling")
_VERDICTS = ("certified", "nearest_certified")
_AGREEMENT = 1e-9


def evidence_arrays(allocation: Allocation) -> dict[str, NDArray[Any]]:
    """Scores, bounds, verdicts and intervals of an allocation; what nobody has asked for yet is computed now."""
    found = {name: np.asarray(getattr(allocation, name), dtype=np.float64) for name in _NUMBERS}
    found |= {name: np.asarray(getattr(allocation, name), dtype=np.bool_) for name in _VERDICTS}
    found["lower"] = np.asarray(allocation.lower, dtype=np.float64)
    found["upper"] = np.asarray(allocation.upper, dtype=np.float64)
    return found


def checked_evidence(
    arrays: Mapping[str, NDArray[Any]], shape: tuple[int, int], n_players: int
) -> dict[str, NDArray[Any]]:
    """The same arrays out of a file.

    Raises:
        StorageError: If one is missing, or has another shape or type.
    """
    found = {}
    for name in (*_NUMBERS, *_VERDICTS, "lower", "upper"):
        array = arrays.get(name)
        wanted = (*shape, n_players) if name in {"lower", "upper"} else shape
        kind = "b" if name in _VERDICTS else "f"
        if array is None or array.shape != wanted or array.dtype.kind != kind:
            msg = f"its {name} is missing or has another shape or type than its attributions need"
            raise StorageError(msg)
        if kind == "f" and np.isnan(array).any():
            msg = f"its {name} holds NaN"
            raise StorageError(msg)
        found[name] = array
    return found


@dataclass(frozen=True, eq=False)
class StoredProof:
    """The proof of a loaded allocation.

    Shares are not in the file: those of a row are found again from its stored game, by the same policy with the same
    options and seed.

    Attributes:
        arrays: What `checked_evidence` gave.
        attributions: Shape (rows, outputs, n).
        games: The stored games.
        policy: How they were allocated.
        utility: What for.
        target: Shape (rows,), or None.
        options: The policy's options, the seed included.
    """

    arrays: Mapping[str, NDArray[Any]]
    attributions: NDArray[np.float64]
    games: SolvedGames
    policy: str
    utility: Utility
    target: NDArray[np.float64] | None
    options: Mapping[str, Any]

    def score(self) -> Any:
        """The saved score."""
        return self.arrays["score"]

    def shapley_score(self) -> Any:
        """The saved score of the Shapley values."""
        return self.arrays["shapley_score"]

    def bound(self) -> Any:
        """The saved bound."""
        return self.arrays["bound"]

    def ceiling(self) -> Any:
        """The saved ceiling."""
        return self.arrays["ceiling"]

    def certified(self) -> Any:
        """The saved verdict."""
        return self.arrays["certified"]

    def nearest_certified(self) -> Any:
        """The saved verdict on nearness."""
        return self.arrays["nearest_certified"]

    def intervals(self) -> tuple[Any, Any]:
        """The saved intervals."""
        return self.arrays["lower"], self.arrays["upper"]

    def shares(self, row: int) -> ShareView:
        """The row's shares, found again.

        Raises:
            StorageError: If they give other attributions than the stored ones, as after a time limit.
        """
        own, output = divmod(row, self.attributions.shape[1])
        options = dict(self.options)
        given = options.get("shares")
        if isinstance(given, np.ndarray) and given.ndim == 4:
            options["shares"] = given[own, output]
        again = self.games.take(np.array([own]), np.array([output])).allocate(
            policy=self.policy,
            utility=self.utility,
            target=None if self.target is None else self.target[[own]],
            options=options,
        )
        stored = self.attributions[own, output]
        scale = max(float(np.abs(stored).max(initial=0.0)), float(np.abs(self.games.full[own, output])))
        if float(np.abs(np.asarray(again.attributions)[0, 0] - stored).max(initial=0.0)) > _AGREEMENT * scale:
            msg = (
                f"the shares of row {own} cannot be found again: policy={self.policy!r} gives other attributions "
                "now, as it may after a time limit. Call reallocate() for attributions with their shares."
            )
            raise StorageError(msg)
        return again.shares(0)
