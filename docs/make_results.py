"""Writes docs/results.md, docs/results/*.md and its pictures: `python docs/make_results.py`.

Everything is run by `taylorpoda.paper.reproduce`; what is in the user's cache is not run again. From an empty cache it
takes about half an hour on two cores, most of it for training the paper's surrogates.
"""  # noqa: INP001 - a script

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from worked_example import worked_example

import taylorpoda as tp
from taylorpoda.datasets import load
from taylorpoda.paper import Cell, Reproduction, Settings, reproduce, summarize
from taylorpoda.paper.figures import ceiling_shares, discrepancy_violins, drawn
from taylorpoda.paper.pipeline import weights
from taylorpoda.paper.progress import Display
from taylorpoda.paper.sample import sample
from taylorpoda.paper.settings import DATA, METHODS, MODELS, PRINTED_METHODS, UTILITY_TITLES
from taylorpoda.paper.summary import OPTIMAL
from taylorpoda.paper.task_models import restore, train
from taylorpoda.paper.texts import markdown
from taylorpoda.postulates import paper_postulates

if TYPE_CHECKING:
    from taylorpoda.paper import Summary

DOCS = Path(__file__).parent
RETRAIN = 5
# What else could have been chosen, surrogate by surrogate.
OTHERS: dict[str, dict[str, dict[str, Any]]] = {
    "paper": {
        "networks as in the research code": {"networks": "code"},
        "the same, AUC against the model's own labels": {"networks": "code", "label": "model"},
        "AUC against the model's own labels": {"label": "model"},
        "seed 2025, other rows": {"seed": 2025},
    },
    "ours": {
        "networks as in the research code": {"networks": "code"},
        "AUC against the model's own labels": {"label": "model"},
        "seed 2025, other rows": {"seed": 2025},
        "seed 2026, other rows": {"seed": 2026},
    },
}
DPI = 110
_PRINTED_ZERO = 0.05  # no share of it can be told
TITLES = {"paper": "the paper's surrogate", "ours": "our surrogate"}
VERDICTS: dict[object, str] = {True: "yes", False: "no", None: "-", "partial": "partial"}
REPORTED = (("cancer", "mlp_relu"), ("concrete", "xgboost"))


def run(settings: Settings, jobs: int) -> Reproduction:
    """One reproduction, with its progress in sight."""
    with Display(weights(settings)) as display:
        return reproduce(settings, jobs=jobs, listen=display)


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """A table in Markdown."""
    return [
        f"| {' | '.join(heads)} |",
        "|---" * len(heads) + "|",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]


def in_short(found: dict[str, Reproduction]) -> list[str]:
    """The summaries of both surrogates side by side."""
    summaries = {name: summarize(one.cells) for name, one in found.items()}

    def line(title: str, text: object) -> list[str]:
        return [title, *(str(text(summaries[name], found[name])) for name in found)]  # type: ignore[operator]

    rows = [
        line("Intervals that overlap the paper's at printed precision", lambda one, _: one.overlap["all"]),
        line("Intervals that overlap the paper's, ours as computed", lambda one, _: one.overlap_unrounded),
        *(
            line(f"At printed precision, of {method}'s 72", lambda one, _, method=method: one.overlap[method])  # type: ignore[misc]
            for method in PRINTED_METHODS
        ),
        line("Best of the paper's methods the same, of 72", lambda one, _: one.same_best),
        line("Pairs of methods in the paper's order", lambda one, _: one.same_order),
        *(
            line(
                f"Mean rank of {method} (the paper's: {summaries['paper'].mean_rank[method][1]:.2f})",
                lambda one, _, method=method: f"{one.mean_rank[method][0]:.2f}",  # type: ignore[misc]
            )
            for method in PRINTED_METHODS
        ),
        *(
            line(
                f"TaylorPODA-optimal at least as good as {method}, of 72",
                lambda one, _, method=method: one.optimal_ahead[method],  # type: ignore[misc]
            )
            for method in PRINTED_METHODS
        ),
        line("Rows whose optimum is certified", lambda _, one: f"{certified(one):.2%}"),
        line("Largest discrepancy of TaylorPODA-optimal", lambda _, one: f"{discrepancy(one):.1e}"),
    ]
    return table(["", *(TITLES[name] for name in found)], rows)


def certified(found: Reproduction) -> float:
    """The share of rows and utilities whose optimum is certified."""
    return float(np.mean([pair.certified_fraction for pair in found.pairs]))


def discrepancy(found: Reproduction) -> float:
    """The largest discrepancy of the optimal allocation."""
    return max(pair.max_discrepancy(OPTIMAL) for pair in found.pairs)


def shares(found: dict[str, Reproduction]) -> list[str]:
    """What each method reaches of the ceiling's gain: mean over the cells, and the smallest of the optimal one's."""
    rows = []
    for name, one in found.items():
        summary = summarize(one.cells)
        for utility, title in UTILITY_TITLES.items():
            means = [f"{summary.mean_share[method][utility]:.2f}" for method in METHODS[:-1]]
            best = f"**{summary.mean_share[OPTIMAL][utility]:.3f}** ({summary.least_share[utility]:.3f})"
            rows.append([TITLES[name] if utility == "inclusion_aup" else "", title, *means, best])
    return table(["", "Utility", *METHODS[:-1], f"{OPTIMAL} (smallest)"], rows)


def missed(found: Reproduction) -> list[str]:
    """How many of the 16 cells of each pair miss the paper's interval."""
    rows = []
    for data in DATA:
        texts = []
        for model in MODELS:
            cells = [cell for cell in found.cells if (cell.data, cell.model) == (data, model)]
            out = [cell.method for cell in cells if cell.overlaps is False]
            named = ", ".join(f"{method} {out.count(method)}" for method in dict.fromkeys(out))
            texts.append(f"{len(out)}: {named}" if out else "0")
        rows.append([data, *texts])
    return table(["", *MODELS.values()], rows)


def errors(found: dict[str, Reproduction]) -> tuple[list[str], float, float]:
    """Mean held-out error of both surrogates, pair by pair; the least and the most that ours saves."""
    rows, ratios = [], []
    for papers, ours in zip(found["paper"].pairs, found["ours"].pairs, strict=True):
        one, other = (float(np.mean(pair.error_by_size[1:-1])) for pair in (papers, ours))
        ratios.append(other / one)
        rows.append([papers.data, MODELS[papers.model], f"{one:.2e}", f"{other:.2e}", f"{other / one:.2f}"])
    lines = table(["Data", "Model", "the paper's", "ours", "ours / the paper's"], rows)
    return lines, 1 - max(ratios), 1 - min(ratios)


def reports(settings: Settings) -> list[str]:
    """The value-function report for two pairs."""
    lines = []
    seed = settings.seed
    for data, model in REPORTED:
        dataset = load(data)
        made = sample(dataset, rows=settings.rows, seed=settings.explaining_seed)
        network = settings.network(data, model)
        arrays = train(network, dataset.task, made["train"], made["train_y"], seed=seed)
        loss = "kl" if dataset.task == "classification" else "squared"
        report = tp.value_function_report(
            restore(network, arrays, dataset.task),
            made["train"],
            made["rows"],
            maskings={
                "the paper's": tp.masking.Conditional("paper", backend="numpy", loss=loss, seed=seed),
                "ours": tp.masking.Conditional("ours", backend="numpy", loss=loss, seed=seed),
                "marginal": "marginal",
            },
            random_state=seed,
        )
        lines += [f"`{data}` on {MODELS[model]}:", "", "```", repr(report), "```", ""]
    return lines


def spread(cells: tuple[Cell, ...]) -> list[str]:
    """How far the means of one method move when the surrogate is trained again: medians over its cells."""
    rows = []
    for method in METHODS:
        moves, outside = [], 0
        of_method = [cell for cell in cells if cell.method == method]
        for cell in of_method:
            middle = float(np.mean(cell.retrained))
            if abs(middle) > _PRINTED_ZERO:
                moves.append(np.ptp(cell.retrained) / abs(middle))
            outside += any(not cell.low <= mean <= cell.high for mean in cell.retrained)
        count = f"{outside} of {len(of_method)}"
        rows.append([method, f"{np.median(moves):.0%}", f"{np.quantile(moves, 0.9):.0%}", count])
    heads = ["Method", "least to most, share of the mean: median", "90 % of the cells stay below"]
    return table([*heads, "cells with a mean outside the first interval"], rows)


def postulates() -> list[str]:
    """The paper's table of postulates, computed."""
    rows = []
    for row in paper_postulates():
        texts = [
            VERDICTS[ours] + ("" if ours == papers else f" (paper: {VERDICTS[papers]})")
            for ours, papers in zip(row.computed, row.printed, strict=True)
        ]
        rows.append([row.method, *texts])
    return table(["", "precision", "federation", "zero-discrepancy", "adaptation"], rows)


def lead(found: Reproduction) -> tuple[float, float]:
    """Median and least share by which TaylorPODA-optimal gains more than WeightedSHAP, over the cells."""
    place = {(cell.data, cell.model, cell.utility, cell.method): cell.mean for cell in found.cells}
    ratios = [
        (mean - place[*key, "WeightedSHAP"]) / mean for (*key, method), mean in place.items() if method == OPTIMAL
    ]
    return float(np.median(ratios)), float(min(ratios))


def moved(found: dict[str, Reproduction]) -> dict[str, str]:
    """What our surrogate changes: gains as multiples of those with the paper's, and who is ahead."""
    gains = {
        name: {(cell.data, cell.model, cell.utility, cell.method): cell.mean for cell in one.cells}
        for name, one in found.items()
    }
    ours, papers = gains["ours"], gains["paper"]

    def ratio(method: str) -> str:
        ratios = [ours[key] / papers[key] for key in ours if key[3] == method and papers[key] > _PRINTED_ZERO]
        return f"{np.median(ratios):.1f}"

    wins = sum(ours[*key[:3], "TaylorPODA"] > mean for key, mean in ours.items() if key[3] == "WeightedSHAP")
    lower = sum(ours[key] < papers[key] for key in ours if key[3] == "OCC-1")
    return {
        "ratio_taylorpoda": ratio("TaylorPODA"),
        "ratio_weighted": ratio("WeightedSHAP"),
        "ratio_optimal": ratio(OPTIMAL),
        "taylorpoda_wins": str(wins),
        "occlusion_lower": str(lower),
    }


def page(found: dict[str, Reproduction], others: list[str], summaries: dict[tuple[str, str], Summary]) -> str:
    """The page."""
    labeled = summaries["paper", "AUC against the model's own labels"]
    coded = summaries["paper", "networks as in the research code"]
    errors_table, least, most = errors(found)
    text = (DOCS / "results.md.in").read_text(encoding="utf-8")
    summary = summarize(found["paper"].cells)
    example, told = worked_example(found["paper"].settings)
    auc = [share for utility, share in labeled.mean_share[OPTIMAL].items() if utility.endswith("auc")]
    parts = {
        "in_short": in_short(found),
        "shares": shares(found),
        "missed": missed(found["paper"]),
        "errors": errors_table,
        "reports": reports(found["paper"].settings),
        "spread_paper": spread(found["paper"].cells),
        "spread_ours": spread(found["ours"].cells),
        "postulates": postulates(),
        "others": others,
        "example": table(
            ["Feature", "v of it alone", "its admissible attributions", "most by which it can lead"], example
        ),
    }
    values = {
        "least": f"{least:.0%}",
        "most": f"{most:.0%}",
        "overlap": str(summary.overlap["all"]),
        "overlap_unrounded": str(summary.overlap_unrounded),
        "smallest_auc": f"{min(least for name, least in summary.least_share.items() if name.endswith('auc')):.3f}",
        "overlap_labeled": str(labeled.overlap["all"]),
        "overlap_coded": str(coded.overlap["all"]),
        "overlap_coded_taylorpoda": str(coded.overlap["TaylorPODA"]),
        "mean_overlap": f"{np.mean(found['paper'].overlaps):.0f}",
        "mean_overlap_share": f"{np.mean(found['paper'].overlaps) / summary.overlap['all'].total:.1%}",
        "auc_labeled": f"{min(auc):.2f}",
        "trainings_paper": ", ".join(map(str, found["paper"].overlaps)),
        "trainings_ours": ", ".join(map(str, found["ours"].overlaps)),
    }
    values |= moved(found) | told
    for name, one in found.items():
        values[f"lead_{name}"], values[f"least_lead_{name}"] = (f"{share:.0%}" for share in lead(one))
    for key, lines in parts.items():
        text = text.replace(f"<!-- {key} -->\n", "\n".join(lines))
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", value)
    left = re.findall(r"<!-- \w+ -->|\{\w\w+\}", text)
    if left:
        msg = f"docs/results.md.in asks for {left}, which nothing here gives."
        raise RuntimeError(msg)
    return text


def other_runs(settings: Settings, jobs: int) -> tuple[list[str], dict[tuple[str, str], Summary]]:
    """Overlaps for other networks, seeds and labels: lines of a table, and the summaries by surrogate and title."""
    rows, summaries = [], {}
    for surrogate, changes in OTHERS.items():
        for title, changed in changes.items():
            found = summarize(run(replace(settings, surrogate=surrogate, retrain=1, **changed), jobs).cells)
            summaries[surrogate, title] = found
            mine = [str(found.overlap["all"]), str(found.overlap["TaylorPODA"]), str(found.same_best)]
            rows.append([TITLES[surrogate], title, *mine, str(found.optimal_ahead["WeightedSHAP"])])
    heads = ["", "", "overlap", "of TaylorPODA's", "best the same", "TaylorPODA-optimal at least WeightedSHAP"]
    return table(heads, rows), summaries


def main() -> None:
    """Run everything and write everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--jobs", type=int, default=2)
    jobs = parser.parse_args().jobs
    settings = Settings(retrain=RETRAIN)
    found = {name: run(replace(settings, surrogate=name), jobs) for name in TITLES}
    others = other_runs(settings, jobs)
    (DOCS / "results").mkdir(exist_ok=True)
    for name, one in found.items():
        (DOCS / "results" / f"{name}.md").write_text(markdown(one), encoding="utf-8")
        picture = drawn(lambda one=one: ceiling_shares(one), dpi=DPI)["png"]  # type: ignore[misc]
        (DOCS / "images" / f"ceiling_{name}.png").write_bytes(picture)
    picture = drawn(lambda: discrepancy_violins(found["paper"]), dpi=DPI)["png"]
    (DOCS / "images" / "discrepancy.png").write_bytes(picture)
    (DOCS / "results.md").write_text(page(found, *others), encoding="utf-8")


if __name__ == "__main__":
    main()
