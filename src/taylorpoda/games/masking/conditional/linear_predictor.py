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

    def maps(self, known: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For coalitions that know the features `known` (m, e).

        Returns:
            Maps from known features to all expected ones, shape (m, e, e), and to targets, shape (m, e, outputs).
        """
        size = len(self.covariance)
        if self.plain:
            identity = np.broadcast_to(np.eye(size), (len(known), size, size)) * known[:, :, None]
            return identity, np.zeros((len(known), size, self.cross.shape[1]))
        blocks = self.covariance * known[:, :, None] * known[:, None, :]
        corner = np.arange(size)
        blocks[:, corner, corner] += ~known
        sides = np.concatenate([self.covariance, self.cross], axis=1)
        maps = np.linalg.solve(blocks, sides[None] * known[:, :, None])
        return maps[:, :, :size], maps[:, :, size:]
