"""A masking rule that knows how well it did on held-out rows, and tells provenance."""

from __future__ import annotations

from dataclasses import dataclass, field, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from taylorpoda.games.masking.base import Measured

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
        """Fit the rule and let it tell."""
        fitted = self.rule.fit(context)
        measured = Measured(self.heldout_error, dict(self.details))
        if is_dataclass(fitted):
            return replace(fitted, measured=measured)
        fitted.measured = measured
        return fitted
