"""Normal draws that every coalition and row shares: spread evenly, in opposite pairs, with exact second moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
        seed: The seed of the shift that all points share.

    Returns:
        Shape (draws, n); row k + draws / 2 is minus row k.
    """
    from scipy.special import ndtri
    from scipy.stats import qmc  # takes a while to import, and only these maskings need it

    half = draws // 2
    points = qmc.Sobol(n, scramble=False).random_base2(max(half - 1, 1).bit_length())[:half]
    points = (points + stream(seed, _STREAM).random(n)) % 1.0
    normal = ndtri(np.clip(points, 2.0**-40, 1 - 2.0**-40))
    if half >= 2 * n:
        root = np.linalg.cholesky(normal.T @ normal / half)
        normal = np.linalg.solve(root, normal.T).T
    return np.concatenate([normal, -normal])
