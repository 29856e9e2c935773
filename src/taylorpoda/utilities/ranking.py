"""The ranking every utility reads: features by size of attribution, ties by smaller index."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np

MAX_MASKED = 62  # coalitions of more players do not fit the bits of a signed 64-bit index


def ranking(attributions: Any) -> Any:
    """The features from the largest to the smallest absolute attribution, ties by smaller index.

    Args:
        attributions: Real array of shape (..., n), numpy or torch.

    Returns:
        Integer array of shape (..., n); entry m is the feature ranked m-th.

    Example:
        >>> import numpy as np
        >>> ranking(np.array([0.5, -2.0, 0.5]))
        array([1, 0, 2])
    """
    xp = array_api_compat.array_namespace(attributions)
    return xp.argsort(-xp.abs(attributions), axis=-1, stable=True)


def prefix_masks(order: Any) -> Any:
    """The coalitions I(1), ..., I(n) of a ranking as subset indices: (..., n) -> (..., n), n at most 62.

    Example:
        >>> import numpy as np
        >>> prefix_masks(np.array([1, 0, 2]))
        array([2, 3, 7])
    """
    xp = array_api_compat.array_namespace(order)
    n_players = order.shape[-1]
    if n_players > MAX_MASKED:
        msg = f"order ranks {n_players} players; subset indices hold at most {MAX_MASKED}."
        raise ValueError(msg)
    bits = xp.asarray(np.left_shift(np.int64(1), np.arange(n_players)), device=array_api_compat.device(order))
    return xp.cumulative_sum(bits[order], axis=-1)
