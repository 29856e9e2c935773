"""From values to Harsanyi dividends: what each coalition earns only by acting together."""

from __future__ import annotations

from taylorpoda.dividends.dense import (
    harsanyi,
    occlusion_from,
    occlusion_of,
    pairwise_dividends,
    shapley_from,
    shapley_interactions,
    shapley_of,
    values_from,
)

__all__ = [
    "harsanyi",
    "occlusion_from",
    "occlusion_of",
    "pairwise_dividends",
    "shapley_from",
    "shapley_interactions",
    "shapley_of",
    "values_from",
]
