"""A masking rule that knows how well it did on held-out rows, and tells provenance."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from taylorpoda.games.masking.base import Measured
from taylorpoda.games.masking.baseline import Baseline
from taylorpoda.games.masking.marginal import Marginal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taylorpoda.games.masking.base import DirectMasking, HybridMasking, Masking, MaskingContext


@dataclass(frozen=True)
class MeasuredMasking:
    """Another rule with its measured error.

    Attributes:
        rule: The rule.
        heldout_error: E[(f(x) - v_S(x))^2] on held-out rows and coalitions.
        details: What else was measured.
    """

    rule: Masking
    heldout_error: float
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The rule's own name."""
        return self.rule.name

    def fit(self, context: MaskingContext) -> HybridMasking | DirectMasking:
        """Fit the rule and let it tell, besides what it knew of itself."""
        rule: object = self.rule
        fitted = self.rule.fit(context)
        known = fitted.measured.details if fitted.measured is not None else {}
        measured = Measured(self.heldout_error, {**known, **self.details})
        if is_dataclass(fitted):
            return replace(fitted, measured=measured)
        if fitted is rule:  # a user's own, which may serve others unmeasured
            fitted = copy(fitted)
        fitted.measured = measured
        return fitted


def with_score(rule: Masking, error: float, details: Mapping[str, Any]) -> Masking:
    """A rule with its measured error; one that trees know in closed form stays one of its kind."""
    if isinstance(rule, Marginal | Baseline):
        told = copy(rule)
        told.measured = Measured(error, dict(details))
        return told
    return MeasuredMasking(rule, error, details)
