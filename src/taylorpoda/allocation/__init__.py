"""From dividends and a utility to attributions: who gets how much of what was earned together."""

from __future__ import annotations

from taylorpoda.allocation.admissible import AdmissibleSet
from taylorpoda.allocation.front import POLICIES, allocate
from taylorpoda.allocation.intervals import admissible_intervals
from taylorpoda.allocation.project import project
from taylorpoda.allocation.result import Allocation, Proof, ShareView

__all__ = [
    "POLICIES",
    "AdmissibleSet",
    "Allocation",
    "Proof",
    "ShareView",
    "admissible_intervals",
    "allocate",
    "project",
]
