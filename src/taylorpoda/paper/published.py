"""The paper's own numbers, as printed."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files


@dataclass(frozen=True)
class PublishedCell:
    """One printed cell: improvement over the Shapley value, in printed units.

    Attributes:
        mean: The mean improvement.
        low: Lower end of the printed 95 % interval.
        high: Upper end.
        bold: Whether it is printed bold.
    """

    mean: float
    low: float
    high: float
    bold: bool


Key = tuple[str, str, str, str]


@lru_cache(maxsize=1)
def published() -> dict[Key, PublishedCell]:
    """The 288 printed cells by (data, model, method, utility)."""
    text = files("taylorpoda.paper").joinpath("data/tables.csv").read_text(encoding="utf-8")
    return {
        (line["data"], line["model"], line["method"], line["utility"]): PublishedCell(
            mean=float(line["gain"]),
            low=float(line["ci_low"]),
            high=float(line["ci_high"]),
            bold=line["bold"] == "1",
        )
        for line in csv.DictReader(text.splitlines())
    }
