"""The words of the page: its head, its legends, and how to read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.display import one_line, percent
from taylorpoda._version import __version__
from taylorpoda.plots.scores import share_of_gain
from taylorpoda.report.markup import Markup, join, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taylorpoda.explanation import Explanation

TABLE = tag(
    "p",
    "A utility says what an explanation is for. A policy that adapts is allocated anew for each column, without "
    "another call of the model; the best of each column is bold with a dot.",
    class_="note",
)
IMPORTANCE = tag("p", "The mean absolute attribution of each feature over all rows.", class_="note")

_TERMS = {
    "attribution": (
        "What a feature adds to the prediction. The attributions of a row add up, from what the model gives "
        "on average to what it gives here."
    ),
    "interaction": (
        "What features earn only by acting together. It may be shared among them in any proportion: the "
        "Shapley value splits it evenly, an adaptive policy in the way that serves the utility."
    ),
    "admissible interval": (
        "Every value that some valid way of sharing the interactions gives the feature. Where it excludes "
        "zero the sign is certain: no choice of shares can flip it."
    ),
    "utility": (
        "What makes a ranking of features good. For inclusion, how soon the features of largest "
        "attribution, taken alone, bring the prediction back; for exclusion, how fast it is lost without "
        "them."
    ),
    "proven optimal": "No admissible way of sharing the interactions has a better utility; proven, not sampled.",
    "ceiling": "The best utility any ranking of the features could have, whether an attribution gives it or not.",
}


def header(title: str, description: str | None, explanation: Explanation) -> Markup:
    """The title, one sentence on what is below, and the figures worth seeing first."""
    rows, features = len(explanation), len(explanation.feature_names)
    outputs = explanation.output_names or ()
    of_outputs = f" and {len(outputs)} outputs" if explanation.values.ndim == 3 else ""
    lead = (
        f"{_count(rows, 'prediction')} of {one_line(explanation.subject.model, 80)}, explained over "
        f"{_count(features, 'feature')}{of_outputs} by the policy {explanation.policy!r} for the utility "
        f"{one_line(explanation.utility.name)!r}."
    )
    return tag(
        "header",
        tag("p", "taylorpoda \N{MIDDLE DOT} explanation", class_="overline"),
        tag("h1", one_line(title, 200)),
        tag("p", lead, class_="lead"),
        None if description is None else tag("p", description),
        tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in _tiles(explanation)),
            class_="tiles"),
    )  # fmt: skip


def _tiles(explanation: Explanation) -> Sequence[tuple[str, str]]:
    tiles = [
        ("predictions", f"{len(explanation):,}"),
        ("features", f"{len(explanation.feature_names):,}"),
        ("engine", explanation.engine),
    ]
    if explanation.policy == "optimal":
        certified, whole = int(np.count_nonzero(explanation.certified)), int(np.size(explanation.certified))
        tiles.append(("proven optimal", f"{certified:,} of {whole:,}"))
    share = share_of_gain(
        *(np.ravel(part) for part in (explanation.score, explanation.shapley_score, explanation.ceiling))
    )
    if not np.isnan(share):
        tiles.append(("of the possible gain", percent(share)))
    worst = float(np.max(np.abs(explanation.discrepancy), initial=0.0))
    tiles.append(("largest discrepancy", "0" if worst == 0 else f"{worst:.0e}".replace("e-", "e\N{MINUS SIGN}")))
    return tiles


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def sentence(text: str) -> str:
    """A phrase as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


def cards(shown: int, total: int) -> Markup:
    """How many rows have a card."""
    which = f"All {total:,} rows" if shown == total else f"{shown:,} of {total:,} rows"
    return tag("p", f"{which}, each with the largest attribution first.", class_="note")


def gain(utility: str, *, higher: bool) -> Markup:
    """What the picture of all rows shows."""
    way = "higher" if higher else "lower"
    return tag("p", f"{utility} of every row ({way} is better), the worst Shapley value first.", class_="note")


def footer() -> Markup:
    """What made the page."""
    text = (
        f"Made by taylorpoda {__version__}. This page is one file: it runs no script and loads nothing. The "
        "method is TaylorPODA (Tang, Esnaola, Panoutsos)."
    )
    return tag("footer", tag("p", text))


def reading() -> Markup:
    """The terms of the page."""
    return tag(
        "dl", *(part for term, text in _TERMS.items() for part in (tag("dt", term), tag("dd", text))), class_="terms"
    )


def _sample(*shapes: Markup) -> Markup:
    return tag("svg", *shapes, viewBox="0 0 30 14", aria_hidden="true")


def _rect(kind: str, height: int) -> Markup:
    return tag("rect", x=1, y=7 - height / 2, width=28, height=height, class_=kind)


def _caps(kind: str) -> list[Markup]:
    return [tag("line", x1=x, y1=1, x2=x, y2=13, class_=f"{kind} cap") for x in (2, 28)]


def _mark(kind: str) -> Markup:
    if kind == "diamond":
        return tag("path", d="M15 1l6 6l-6 6l-6 -6z", class_="shapley")
    return tag("circle", cx=15, cy=7, r=4, class_=kind)


def _legend(*entries: tuple[Markup, str]) -> Markup:
    return tag("ul", *(tag("li", sample, meaning) for sample, meaning in entries), class_="legend")


def row_legend() -> Markup:
    """The marks of a card."""
    certain = _sample(_rect("pos-line", 6), *_caps("pos-line")), _sample(_rect("neg-line", 6), *_caps("neg-line"))
    return _legend(
        (_sample(_rect("pos", 12)), "raises the output"),
        (_sample(_rect("neg", 12)), "lowers it"),
        (join(certain), "admissible interval, sign certain: no split of the interactions can flip it"),
        (_sample(_rect("open-line", 6)), "admissible interval, sign open"),
        (_sample(_mark("dot")), "attribution"),
        (_sample(_mark("diamond")), "Shapley value"),
    )


def importance_legend() -> Markup:
    """The marks of the picture of features."""
    return _legend((_sample(_rect("neg", 12)), "attributions"), (_sample(_mark("diamond")), "Shapley values"))


def gain_legend() -> Markup:
    """The marks of the picture of all rows."""
    ceiling = tag("line", x1=7, y1=7, x2=23, y2=7, class_="ceiling")
    return _legend(
        (_sample(_mark("shapley")), "Shapley value"),
        (_sample(_mark("score")), "these attributions"),
        (_sample(ceiling), "ceiling: the best any ranking could have"),
    )
