"""Means, shrunk correlations and the normal conditional distribution, for many coalitions at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Shrinkage is tried from almost none, for columns that determine one another, to full independence.
_INTENSITIES = np.concatenate([np.logspace(-10, -0.25, 40), [1.0]])
_FOLDS = 5
# Rounding of a correlation matrix may leave a conditional variance this much below zero.
_FLOOR = 1e-14
# Deviations smaller than this share of the largest cell are worked out with care.
_CAREFUL = 1e-12


@dataclass(frozen=True)
class Moments:
    """First and second moments of complete numeric rows.

    Attributes:
        mean: Shape (n,).
        scale: Shape (n,): standard deviations, 0 for constant columns.
        correlation: Shape (n, n), shrunk towards the identity so that it has an inverse.
        intensity: How far it was shrunk, 0 to 1.
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    correlation: NDArray[np.float64]
    intensity: float

    @classmethod
    def of(cls, rows: NDArray[np.float64], weights: NDArray[np.float64]) -> Moments:
        """Weighted moments of rows (r, n)."""
        with np.errstate(over="ignore"):
            mean = weights @ rows
            centered = rows - mean
            scale = np.sqrt(weights @ np.square(centered))
        # Where next to nothing varies, a mean's rounding error would pass for a deviation; squares of very large
        # numbers are infinite.
        careful = ~(scale > _CAREFUL * np.abs(rows).max(axis=0, initial=0.0)) | ~np.isfinite(scale)
        mean[careful], scale[careful] = careful_moments(rows[:, careful], weights)
        centered[:, careful] = rows[:, careful] - mean[careful]
        standard = centered / np.where(scale > 0, scale, 1.0) * (scale > 0)
        intensity = shrinkage(standard, weights)
        correlation = (1 - intensity) * correlations(standard, weights) + intensity * np.eye(rows.shape[1])
        return cls(mean, scale, correlation, intensity)

    def standardize(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows (..., n) in standard deviations from the mean; 0 in constant columns."""
        return np.where(self.scale > 0, (rows - self.mean) / np.where(self.scale > 0, self.scale, 1.0), 0.0)


def careful_moments(
    rows: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means and deviations by way of the differences from one row: exactly 0 for what is constant."""
    anchor = rows[np.argmax(weights)]
    used = np.where(weights[:, None] > 0, rows, anchor)
    apart = used / 2 - anchor / 2  # halves, so that no difference is infinite
    reach = np.abs(apart).max(axis=0, initial=0.0)
    apart /= np.where(reach > 0, reach, 1.0)
    shift = weights @ apart
    return anchor + 2 * reach * shift, 2 * reach * np.sqrt(weights @ np.square(apart - shift))


def correlations(standard: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted correlations of standardized rows; constant columns correlate with nothing."""
    matrix = (standard * weights[:, None]).T @ standard
    np.fill_diagonal(matrix, 1.0)
    return np.asarray(matrix)


def shrinkage(standard: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """The shrinkage towards independence under which left-out rows are likeliest.

    Unlike a formula for the least squared error of the matrix, this protects the small eigenvalues on which
    conditional means of strongly correlated features hang.

    Args:
        standard: Standardized rows (r, n).
        weights: Shape (r,), summing to 1.

    Returns:
        A number from 1e-10 to 1; 1 for a single row. A few rows always seem to determine one another, so it is never
        below the number of columns over the square of the number of rows.
    """
    least = min(1.0, standard.shape[1] * float(np.square(weights).sum()) ** 2)
    rows = np.flatnonzero(weights > 0)
    folds = min(_FOLDS, len(rows))
    if folds < 2 or standard.shape[1] < 2:
        return 1.0
    # Neighboring rows are often alike (time, sorting): deal them out in a fixed mixed order.
    rows = rows[np.argsort(np.modf(np.arange(len(rows)) * 0.6180339887498949)[0], kind="stable")]
    loss = np.zeros(len(_INTENSITIES))
    for fold in range(folds):
        out = rows[fold::folds]
        kept = np.setdiff1d(rows, out)
        matrix = correlations(standard[kept], weights[kept] / weights[kept].sum())
        values, vectors = np.linalg.eigh(matrix)
        spread = (1 - _INTENSITIES)[:, None] * np.maximum(values, 0.0) + _INTENSITIES[:, None]
        projected = weights[out] @ np.square(standard[out] @ vectors)
        loss += weights[out].sum() * np.log(spread).sum(axis=1) + (projected / spread).sum(axis=1)
    return max(float(_INTENSITIES[np.argmin(loss)]), least)


def conditional_means(matrix: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Linear maps from known to expected coordinates.

    Args:
        matrix: Covariances, shape (n, n), with an inverse.
        known: Shape (m, n).

    Returns:
        Shape (m, n, n): for a centered row z, `(z * known) @ map` is its conditional expectation, z itself where
        known.
    """
    blocks = matrix * known[:, :, None] * known[:, None, :]
    corner = np.arange(matrix.shape[0])
    blocks[:, corner, corner] += ~known
    return np.asarray(np.linalg.solve(blocks, matrix[None] * known[:, :, None]))


def conditional_roots(
    matrix: NDArray[np.float64], known: NDArray[np.bool_], means: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Lower triangular roots of the covariances that remain, shape (m, n, n); zero where known."""
    absent = ~known
    remaining = (matrix[None] - matrix[None] @ means) * absent[:, :, None] * absent[:, None, :]
    remaining = (remaining + remaining.transpose(0, 2, 1)) / 2
    corner = np.arange(matrix.shape[0])
    remaining[:, corner, corner] = np.where(absent, np.maximum(remaining[:, corner, corner], _FLOOR), 1.0)
    try:
        roots = np.linalg.cholesky(remaining)
    except np.linalg.LinAlgError:
        # Columns that determine one another: take the symmetric root, which forgives eigenvalues of -1e-16.
        values, vectors = np.linalg.eigh(remaining)
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return np.asarray(roots * absent[:, :, None])
