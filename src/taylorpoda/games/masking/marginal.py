"""Absent features are marginalized out over all background rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taylorpoda.games.masking.baseline import SharedDonors

if TYPE_CHECKING:
    from taylorpoda.games.masking.base import MaskingContext, Measured


class Marginal:
    """masking="marginal": the weighted mean over every background row, none left out.

    Attributes:
        measured: How well it did on held-out rows, if that is known.
    """

    name = "marginal"
    measured: Measured | None = None

    def fit(self, context: MaskingContext) -> SharedDonors:
        """Take all background rows as donors."""
        return SharedDonors(self.name, context.background, context.weights, self.measured)
