"""The result: a frozen value with its proof and where it came from."""

from __future__ import annotations

from taylorpoda.explanation.core import DiscrepancyError, Explanation
from taylorpoda.explanation.storage import StorageError, load

__all__ = ["DiscrepancyError", "Explanation", "StorageError", "load"]
