"""Normal draws that every coalition and row shares: spread evenly, in opposite pairs, with exact second moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from taylorpoda._support.seeds import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STREAM = 61


def normal_draws(draws: int, n: int, seed: int) -> NDArray[np.float64]:
    """Quasi-random standard normal draws in opposite pairs.

    A linear model's mean over them is exact, and so is a quadratic one's where there are as many pairs as
    columns.

    Args:
        draws: How many; an even number.
        n: Columns.
        seed: The seed of the scrambling.

    Returns:
        Shape (draws, n); row k + draws / 2 is minus row k.
    """
    half = draws // 2
    sobol = qmc.Sobol(n, scramble=True, rng=stream(seed, _STREAM))
    points = sobol.random_base2(max(half - 1, 1).bit_length())[:half]
    normal = ndtri(np.clip(points, 2.0**-40, 1 - 2.0**-40))
    if half >= 2 * n:
        root = np.linalg.cholesky(normal.T @ normal / half)
        normal = np.linalg.solve(root, normal.T).T
    return np.concatenate([normal, -normal])
