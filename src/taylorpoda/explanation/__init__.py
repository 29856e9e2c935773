"""The result: a frozen value with its proof and where it came from."""

from __future__ import annotations

from taylorpoda.explanation.core import DiscrepancyError, Explanation

__all__ = ["DiscrepancyError", "Explanation"]
