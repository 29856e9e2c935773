"""The version, read by the build and by provenance."""

from __future__ import annotations

__version__ = "0.1.0"
