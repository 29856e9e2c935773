"""Which coalitions a surrogate is trained and judged on: every size equally often."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def draw_coalitions(generator: np.random.Generator, count: int, n: int, largest: int) -> NDArray[np.bool_]:
    """Random coalitions of 1 player up to the largest size, every size as often as the others.

    Args:
        generator: Where the draws come from.
        count: How many.
        n: Players.
        largest: The largest size.

    Returns:
        Shape (count, n).
    """
    size = 1 + generator.permutation(np.arange(count) % largest)
    return of_size(generator, size, n)


def of_size(generator: np.random.Generator, size: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    """One random coalition of each of the sizes given, shape (len(size), n)."""
    place = generator.random((len(size), n)).argsort(axis=1).argsort(axis=1)
    return np.asarray(place < size[:, None])
