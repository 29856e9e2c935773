"""What several test modules need: where the real data sets are, and a definition-level brute force."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path

import hypothesis
import numpy as np
import pytest

hypothesis.settings.register_profile("quick", deadline=None, max_examples=30, derandomize=True)
hypothesis.settings.load_profile("quick")

_NEARBY = Path(__file__).parents[2] / "shared" / "data"
if "TAYLORPODA_DATA" not in os.environ and _NEARBY.is_dir():
    os.environ["TAYLORPODA_DATA"] = str(_NEARBY)


@pytest.fixture(scope="session")
def data_dir():
    """The folder of the real data sets; without it a test that needs them says so and is skipped."""
    folder = Path(os.environ.get("TAYLORPODA_DATA", "-"))
    if not folder.is_dir():
        pytest.skip("set TAYLORPODA_DATA to the folder with the real data sets to run this test")
    return folder


def _subsets(members):
    for size in range(len(members) + 1):
        yield from combinations(members, size)


@pytest.fixture(scope="session")
def brute_dividends():
    """H(S) straight from its definition, one subset at a time: (2**n,) -> (2**n,)."""

    def dividends(values):
        n = len(values).bit_length() - 1
        out = np.zeros(len(values))
        for mask in range(len(values)):
            members = [player for player in range(n) if mask >> player & 1]
            for part in _subsets(members):
                inner = sum(1 << player for player in part)
                out[mask] += (-1) ** (len(members) - len(part)) * values[inner]
        return out

    return dividends


@pytest.fixture(scope="session")
def brute_values():
    """v(S) of a marginal game straight from its definition, one hybrid row at a time."""

    def values(predict, row, background, weights=None):
        n = background.shape[1]
        share = np.full(len(background), 1 / len(background)) if weights is None else np.asarray(weights)
        out = np.zeros(2**n)
        for mask in range(2**n):
            for donor, weight in zip(background, share, strict=True):
                hybrid = [row[j] if mask >> j & 1 else donor[j] for j in range(n)]
                out[mask] += weight * float(np.ravel(predict(np.array([hybrid])))[0])
        return out

    return values
