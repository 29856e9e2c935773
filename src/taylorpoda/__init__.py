"""taylorpoda: feature attributions that are exact, add up, and are the best admissible ones for your own utility."""

from __future__ import annotations

from taylorpoda import datasets, methods, plots
from taylorpoda._version import __version__
from taylorpoda.allocation import Allocation, allocate, project
from taylorpoda.dividends.dense import harsanyi, values_from
from taylorpoda.explainer import Explainer
from taylorpoda.explanation import Explanation, load
from taylorpoda.games import masking
from taylorpoda.games.background import Background, background
from taylorpoda.games.table import TableGame
from taylorpoda.games.tabulate import tabulate
from taylorpoda.games.value_report import value_function_report
from taylorpoda.postulates import audit
from taylorpoda.utilities import Utility, score

__all__ = [
    "Allocation",
    "Background",
    "Explainer",
    "Explanation",
    "TableGame",
    "Utility",
    "__version__",
    "allocate",
    "audit",
    "background",
    "datasets",
    "harsanyi",
    "load",
    "masking",
    "methods",
    "plots",
    "project",
    "score",
    "tabulate",
    "value_function_report",
    "values_from",
]
