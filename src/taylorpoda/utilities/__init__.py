"""What "good" means: utilities of a ranking or of the attributions themselves."""

from __future__ import annotations

from taylorpoda.utilities.base import Context, Utility
from taylorpoda.utilities.context import make_context
from taylorpoda.utilities.ranking import prefix_masks, ranking
from taylorpoda.utilities.registry import REGISTRY, resolve
from taylorpoda.utilities.scoring import score, score_candidates, score_in, stage_table

__all__ = [
    "REGISTRY",
    "Context",
    "Utility",
    "make_context",
    "prefix_masks",
    "ranking",
    "resolve",
    "score",
    "score_candidates",
    "score_in",
    "stage_table",
]
