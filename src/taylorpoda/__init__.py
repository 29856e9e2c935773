"""taylorpoda: feature attributions that are exact, add up, and are the best admissible ones for your own utility."""

from __future__ import annotations

from taylorpoda import methods, plots
from taylorpoda._version import __version__
from taylorpoda.allocation import Allocation, allocate
from taylorpoda.dividends.dense import harsanyi, values_from
from taylorpoda.explainer import Explainer
from taylorpoda.explanation import Explanation, load
from taylorpoda.games import masking
from taylorpoda.games.table import TableGame
from taylorpoda.games.tabulate import tabulate
from taylorpoda.postulates import audit
from taylorpoda.utilities import Utility, score

__all__ = [
    "Allocation",
    "Explainer",
    "Explanation",
    "TableGame",
    "Utility",
    "__version__",
    "allocate",
    "audit",
    "harsanyi",
    "load",
    "masking",
    "methods",
    "plots",
    "score",
    "tabulate",
    "values_from",
]
