"""The command line: explain and compare models from files, the demo, and the paper's tables."""

from __future__ import annotations

from taylorpoda.cli.app import main

__all__ = ["main"]
