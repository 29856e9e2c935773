"""The tables and figures of the paper, and what they look like with the best that is possible beside them."""

from __future__ import annotations

from taylorpoda.paper.cells import Cell
from taylorpoda.paper.pipeline import Pair, Reproduction, reproduce
from taylorpoda.paper.published import PublishedCell, published
from taylorpoda.paper.settings import Settings
from taylorpoda.paper.store import Store
from taylorpoda.paper.summary import Summary, summarize

__all__ = [
    "Cell",
    "Pair",
    "PublishedCell",
    "Reproduction",
    "Settings",
    "Store",
    "Summary",
    "published",
    "reproduce",
    "summarize",
]
