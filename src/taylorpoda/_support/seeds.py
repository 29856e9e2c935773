"""Seeds that are always recorded and streams that never touch the global random state."""

from __future__ import annotations

import operator
import secrets

import numpy as np


def resolve_seed(random_state: object, parameter: str = "random_state") -> int:
    """Turn `random_state` into the seed that provenance records.

    Args:
        random_state: None for fresh entropy, a non-negative integer, or a numpy Generator or RandomState
            from which one seed is drawn.
        parameter: What messages call it.

    Returns:
        A non-negative integer that reproduces everything drawn from it.
    """
    if random_state is None:
        return secrets.randbits(63)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    try:
        if isinstance(random_state, bool):
            raise TypeError  # noqa: TRY301 - one message for every wrong type
        seed = operator.index(random_state)  # type: ignore[arg-type]
    except TypeError:
        msg = (
            f"{parameter}={random_state!r} has type {type(random_state).__name__}; "
            "allowed: None, an integer >= 0, numpy.random.Generator, numpy.random.RandomState."
        )
        raise TypeError(msg) from None
    if seed < 0:
        msg = f"{parameter}={seed} is negative; allowed: None or an integer >= 0."
        raise ValueError(msg)
    return seed


def stream(seed: int, *key: int) -> np.random.Generator:
    """An independent generator for (seed, key): the same key gives the same stream, whatever ran before."""
    return np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=tuple(key)))
