"""How alike rows are, and the kernel weights that follow, for many coalitions at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NEWTON_STEPS = 8
_LONGEST_STEP = 3.0
_DAMPING = 5e-4
# Two independent draws of a standardized number differ by 2 in the mean square; mismatches are put on that scale.
_INDEPENDENT = 2.0
# Products of coordinates of background rows are held this many at a time.
_CHUNK_CELLS = 2**19


def whiteners(correlation: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Maps under which Euclidean distance is Mahalanobis distance on the known coordinates.

    Args:
        correlation: Shape (n, n), with an inverse.
        known: Shape (m, n).

    Returns:
        Shape (m, n, n), zero outside the known coordinates.
    """
    blocks = correlation * known[:, :, None] * known[:, None, :]
    corner = np.arange(correlation.shape[0])
    blocks[:, corner, corner] += ~known
    roots = np.linalg.cholesky(blocks)
    inverse = np.linalg.solve(roots, np.broadcast_to(np.eye(correlation.shape[0]), roots.shape))
    return np.asarray(inverse.transpose(0, 2, 1) * known[:, :, None] * known[:, None, :])


def mahalanobis_squares(offsets: NDArray[np.float64], inverses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared Mahalanobis distances of r rows under m inverse correlations, as products of matrices.

    Args:
        offsets: Shape (r, n).
        inverses: Shape (m, n, n), zero outside the coordinates that count.

    Returns:
        Shape (m, r).
    """
    first, second = np.triu_indices(offsets.shape[1])
    factors = inverses[:, first, second] * np.where(first == second, 1.0, 2.0)
    squares = np.empty((len(inverses), len(offsets)))
    step = max(1, _CHUNK_CELLS // max(len(first), 1))
    for start in range(0, len(offsets), step):
        part = offsets[start : start + step]
        squares[:, start : start + step] = factors @ (part[:, first] * part[:, second]).T
    return np.maximum(squares, 0.0)


def mismatch_costs(cells: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """What two different levels (or a missing and a present cell) of each column count, shape (n,).

    The rarer a mismatch is among background rows, the more it counts; 0 for columns that never differ.
    """
    costs = np.zeros(cells.shape[1])
    for j, column in enumerate(cells.T):
        _, place = np.unique(column, return_inverse=True, equal_nan=True)
        share = np.bincount(place.reshape(-1), weights=weights) / weights.sum()
        differing = 1.0 - float(np.square(share).sum())
        costs[j] = _INDEPENDENT / differing if len(share) > 1 and differing > 0 else 0.0
    return costs


def gower_squares(
    cells: NDArray[np.float64],
    own: NDArray[np.float64],
    scales: NDArray[np.float64],
    costs: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Squared differences column by column, as Gower has them: numbers by how much, all else differs or not.

    Args:
        cells: Background cells, shape (r, n); NaN where missing.
        own: The explained row's, shape (n,).
        scales: Shape (n,): a number's standard deviation, 0 for categories.
        costs: What a mismatch counts.

    Returns:
        Shape (r, n).
    """
    measured = np.isfinite(cells) & np.isfinite(own) & (scales > 0)
    apart = np.where(measured, cells, 0.0) - np.where(measured, own, 0.0)
    differ = (cells != own) & ~(np.isnan(cells) & np.isnan(own))
    return np.asarray(np.where(measured, np.square(apart / np.where(scales > 0, scales, 1.0)), differ * costs))


def kernel_weights(squares: NDArray[np.float64], weights: NDArray[np.float64], bandwidth: float) -> NDArray[np.float64]:
    """Gaussian kernel weights, each coalition's summing to 1.

    The nearest row always keeps its weight, however far it is.

    Args:
        squares: Squared distances, shape (m, r).
        weights: Background weights, shape (r,), positive.
        bandwidth: Of the kernel.

    Returns:
        Shape (m, r).
    """
    logs = np.log(weights) - squares / (2 * bandwidth**2)
    logs -= logs.max(axis=1, keepdims=True)
    kernel = np.exp(logs)
    return np.asarray(kernel / kernel.sum(axis=1, keepdims=True))


def tilted(weights: NDArray[np.float64], offsets: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights nearest to `weights` under which the offsets average to zero.

    They are w * exp(offset . direction), found by a few damped Newton steps; where zero lies outside the offsets,
    the steps end short of it.

    Args:
        weights: Shape (m, k), each summing to 1.
        offsets: Donors minus explained row in whitened coordinates, shape (m, k, n); zero columns change nothing.

    Returns:
        Shape (m, k).
    """
    direction = np.zeros((offsets.shape[0], offsets.shape[2]))
    result = weights
    for _ in range(_NEWTON_STEPS):
        weighted = offsets * result[:, :, None]
        mean = weighted.sum(axis=1)
        spread = np.matmul(weighted.transpose(0, 2, 1), offsets) - mean[:, :, None] * mean[:, None, :]
        spread += _DAMPING * np.eye(offsets.shape[2])
        step = -np.linalg.solve(spread, mean[:, :, None])[:, :, 0]
        length = np.sqrt(np.square(step).sum(axis=1, keepdims=True))
        direction += step * np.minimum(1.0, _LONGEST_STEP / np.maximum(length, _LONGEST_STEP))
        logs = np.matmul(offsets, direction[:, :, None])[:, :, 0]
        with np.errstate(divide="ignore"):
            logs += np.log(weights)
        logs -= logs.max(axis=1, keepdims=True)
        result = np.exp(logs)
        result /= result.sum(axis=1, keepdims=True)
    return np.asarray(result)
