"""The best linear guess from the present features: of the absent ones, and of the model's output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.games.masking.covariance import Moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Beyond this many features the maps cost more than the network that reads them.
_MOST_FEATURES = 128
_LEAST_RIDGE = 1e-6


@dataclass(frozen=True)
class LinearPredictor:
    """Second moments from which linear predictions follow in closed form, coalition by coalition.

    Attributes:
        covariance: Of the features, shrunk, shape (e, e).
        cross: Between features and targets, shape (e, outputs).
        plain: Whether nothing is predicted: absent features are 0 and so are predicted targets.
    """

    covariance: NDArray[np.float64]
    cross: NDArray[np.float64]
    plain: bool = False

    @classmethod
    def of(
        cls, features: NDArray[np.float64], targets: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> LinearPredictor:
        """Learn from standardized features (r, e), targets (r, outputs) and weights (r,) that sum to 1."""
        size = features.shape[1]
        if size > _MOST_FEATURES or size == 0:
            return cls(np.eye(size), np.zeros((size, targets.shape[1])), plain=True)
        moments = Moments.of(features, weights)
        ridge = max(moments.intensity, _LEAST_RIDGE)
        scale = np.where(moments.scale > 0, moments.scale, 1.0)
        covariance = moments.correlation * scale[:, None] * scale[None, :] + _LEAST_RIDGE * np.eye(size)
        centered = features - moments.mean
        cross = (centered * weights[:, None]).T @ (targets - weights @ targets)
        return cls(covariance, (1 - ridge) * cross)

    def maps(
        self, known: NDArray[np.bool_], weights: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For coalitions that know the features `known` (m, e).

        Args:
            known: Shape (m, e).
            weights: What the expected features are multiplied with at once, shape (e, h); None for nothing.

        Returns:
            Maps from known features to all expected ones, shape (m, e, e) or (m, e, h), and to targets, shape
            (m, e, outputs).
        """
        size = len(self.covariance)
        joined = np.eye(size) if weights is None else weights
        if self.plain:
            return joined * known[:, :, None], np.zeros((len(known), size, self.cross.shape[1]))
        blocks = self.covariance * known[:, :, None] * known[:, None, :]
        corner = np.arange(size)
        blocks[:, corner, corner] += ~known
        sides = np.concatenate([self.covariance @ joined, self.cross], axis=1)
        maps = np.linalg.solve(blocks, sides * known[:, :, None])
        return maps[:, :, : joined.shape[1]], maps[:, :, joined.shape[1] :]
