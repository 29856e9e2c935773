"""The report as one HTML page that needs nothing beside it."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING

from taylorpoda.paper import contests
from taylorpoda.paper.layout import TASK_TITLES, PrintedCell, PrintedRow, printed_rows
from taylorpoda.paper.settings import MODELS, UTILITIES, UTILITY_TITLES
from taylorpoda.paper.summary import summarize
from taylorpoda.paper.texts import (
    CAPTION_WITH_PAPER,
    ERRORS,
    SPREAD_HEADS,
    heading,
    spread_note,
    spread_rows,
    spread_title,
    summary_lines,
    unit_text,
)
from taylorpoda.postulates import paper_postulates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taylorpoda.paper.pipeline import Reproduction
    from taylorpoda.postulates import Verdict

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #1b1f24;
       background: #fff; }
h1, h2 { line-height: 1.25; } h2 { margin-top: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid #1b1f24; } tbody tr.first td { border-top: 1px solid #c8cdd3; }
tr.new { background: #fff5ec; }
.paper, .note { color: #57606a; font-size: 12px; display: block; }
figure { margin: 1.5rem 0; } img { max-width: 100%; height: auto; }
code { background: #f3f4f6; padding: .1em .3em; border-radius: 3px; }
"""
_VERDICTS: dict[object, str] = {True: "yes", False: "no", None: "n/a", "partial": "partial"}


def page(found: Reproduction, pictures: Mapping[str, bytes]) -> str:
    """The page.

    Args:
        found: The reproduction.
        pictures: {caption: SVG bytes}.
    """
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>TaylorPODA: the paper's tables, reproduced</title><style>{_STYLE}</style></head><body>",
        "<h1>The paper's tables, reproduced</h1>",
        f"<p>{escape(heading(found))}</p>",
        "<ul>",
        *(f"<li>{escape(line)}</li>" for line in summary_lines(found, summarize(found.cells))),
        "</ul>",
    ]
    for caption, svg in pictures.items():
        encoded = base64.b64encode(svg).decode()
        parts.append(
            f"<figure><img alt='{escape(caption, quote=True)}' src='data:image/svg+xml;base64,{encoded}'>"
            f"<figcaption class='note'>{escape(caption)}</figcaption></figure>"
        )
    for task, title in TASK_TITLES.items():
        rows = printed_rows(found.cells, task)
        if rows:
            parts.append(_table(task, title, rows))
    parts += [_contests(found), _errors(found)]
    if found.settings.retrain > 1:
        parts.append(_spread(found))
    parts += [_postulates(), _versions(found), "</body></html>\n"]
    return "\n".join(parts)


def _table(task: str, title: str, rows: Sequence[PrintedRow]) -> str:
    heads = "".join(f"<th>{UTILITY_TITLES[one]} ({unit_text(one)})</th>" for one in UTILITIES[task])
    lines = [
        f"<h2>{title}</h2><p class='note'>{escape(CAPTION_WITH_PAPER)}</p><div class='wide'><table>",
        f"<thead><tr><th>Model</th><th>Data</th><th>Method</th>{heads}</tr></thead><tbody>",
    ]
    before: tuple[str, str] | None = None
    for row in rows:
        first = (row.model, row.data) != before
        before = (row.model, row.data)
        kind = " ".join(
            name for name, holds in (("first", first), ("new", row.method == "TaylorPODA-optimal")) if holds
        )
        model, data = (escape(MODELS[row.model]), escape(row.data)) if first else ("", "")
        cells = "".join(f"<td>{_cell(cell)}</td>" for cell in row.cells)
        lines.append(f"<tr class='{kind}'><td>{model}</td><td>{data}</td><td>{escape(row.method)}</td>{cells}</tr>")
    return "".join([*lines, "</tbody></table></div>"])


def _cell(cell: PrintedCell) -> str:
    mean = f"<b>{cell.mean}</b>" if cell.bold else cell.mean
    paper = cell.paper.replace(cell.paper_mean, f"<b>{cell.paper_mean}</b>", 1) if cell.paper_bold else cell.paper
    return f"{mean} {cell.interval}" + (f"<span class='paper'>paper {paper}</span>" if cell.paper else "")


def _contests(found: Reproduction) -> str:
    rows = [contest.texts() for contest in contests.contests(found.cells)]
    return _plain_table(contests.TITLE, contests.CAPTION, contests.HEADS, rows)


def _spread(found: Reproduction) -> str:
    return _plain_table(spread_title(found), spread_note(found), SPREAD_HEADS, spread_rows(found))


def _plain_table(title: str, note: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    lines = [f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows]
    return (
        f"<h2>{escape(title)}</h2><p class='note'>{escape(note)}</p><div class='wide'><table>"
        f"<thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _errors(found: Reproduction) -> str:
    most = max(len(pair.error_by_size) for pair in found.pairs)
    heads = "".join(f"<th>{size}</th>" for size in range(most))
    lines = []
    for pair in found.pairs:
        numbers = "".join(f"<td>{error:.2e}</td>" for error in pair.error_by_size)
        lines.append(f"<tr><td>{escape(pair.data)}</td><td>{escape(MODELS[pair.model])}</td>{numbers}</tr>")
    return (
        f"<h2>How good the value function is</h2><p>{escape(ERRORS)}</p><div class='wide'><table><thead><tr>"
        f"<th>Data</th><th>Model</th>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _postulates() -> str:
    lines = []
    for row in paper_postulates():
        cells = "".join(
            f"<td>{_verdict(ours)}{_differs(ours, papers)}</td>"
            for ours, papers in zip(row.computed, row.printed, strict=True)
        )
        lines.append(f"<tr><td>{escape(row.method)}</td>{cells}<td class='note'>{escape(row.remark)}</td></tr>")
    return (
        "<h2>Postulates, computed</h2><div class='wide'><table><thead><tr><th>Method</th><th>Precision</th>"
        "<th>Federation</th><th>Zero-discrepancy</th><th>Adaptation</th><th></th></tr></thead><tbody>"
        + "".join(lines)
        + "</tbody></table></div>"
    )


def _verdict(verdict: Verdict) -> str:
    return _VERDICTS[verdict]


def _differs(ours: Verdict, papers: Verdict) -> str:
    return "" if ours == papers else f"<span class='paper'>paper: {_verdict(papers)}</span>"


def _versions(found: Reproduction) -> str:
    listed = ", ".join(f"{escape(name)} {escape(number)}" for name, number in found.versions.items())
    return f"<h2>Made with</h2><p>{listed}</p>"
