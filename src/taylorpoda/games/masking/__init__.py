"""What stands in for an absent feature: a new rule is one file here plus one line in `_RULES`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taylorpoda._support.choices import Registry
from taylorpoda.games.masking.base import DirectMasking, HybridMasking, Masking, MaskingContext, StandIns
from taylorpoda.games.masking.baseline import Baseline
from taylorpoda.games.masking.conditional import Conditional, Surrogate, load_surrogate
from taylorpoda.games.masking.copula import Copula
from taylorpoda.games.masking.gaussian import Gaussian
from taylorpoda.games.masking.marginal import Marginal
from taylorpoda.games.masking.measured import MeasuredMasking
from taylorpoda.games.masking.neighbours import Neighbours

if TYPE_CHECKING:
    from collections.abc import Callable

_RULES: Registry[Callable[[], Masking]] = Registry(
    "masking",
    {
        "baseline": Baseline,
        "conditional": Conditional,
        "copula": Copula,
        "gaussian": Gaussian,
        "marginal": Marginal,
        "neighbours": Neighbours,
    },
)

# The names, in the order they are offered.
MASKINGS = tuple(_RULES)


def resolve_masking(masking: object) -> Masking:
    """A rule from its name, or the user's own rule as it is.

    Args:
        masking: A known name, or an object with a `name` and a `fit(context)`.

    Raises:
        ValueError: If the name is unknown.
        TypeError: If the object is no masking rule.
    """
    if isinstance(masking, str):
        return _RULES[masking]()
    if isinstance(masking, Masking) and not isinstance(masking, type):
        return masking
    msg = (
        f"masking has type {type(masking).__name__}; allowed: one of {sorted(_RULES)}, or an object with a "
        "name and a fit(context) method."
    )
    raise TypeError(msg)


__all__ = [
    "MASKINGS",
    "Baseline",
    "Conditional",
    "Copula",
    "DirectMasking",
    "Gaussian",
    "HybridMasking",
    "Marginal",
    "Masking",
    "MaskingContext",
    "MeasuredMasking",
    "Neighbours",
    "StandIns",
    "Surrogate",
    "load_surrogate",
    "resolve_masking",
]
