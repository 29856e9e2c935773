"""The paper's table of postulates as lines of text that fit a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taylorpoda.postulates import PostulateRow, Verdict

_HEADS = ("precision", "federation", "zero-discrepancy", "adaptation")
_VERDICTS: dict[object, str] = {True: "yes", False: "no", None: "-", "partial": "partial"}
_LEGEND = "-: the postulates do not apply; LIME's weights are no allocation of the dividends."
_NARROWEST = 20


def postulate_lines(rows: Sequence[PostulateRow], width: int) -> list[str]:
    """The table and its remarks.

    Args:
        rows: What `paper_postulates` found.
        width: Columns of the terminal. A table too wide for it gets two lines a row where a cell has two parts,
            which 58 columns suffice for; words are wrapped.
    """
    # A cell is its parts: beside each other where there is room, else below each other.
    table = [[("",), *(_parts(head, "-") for head in _HEADS)]]
    table += [[(row.method,), *map(_both, row.computed, row.printed)] for row in rows]
    lines = _beside(table)
    if max(map(len, lines)) > width:
        lines = _below(table)
    wide = max(width, _NARROWEST)
    for remark in (_LEGEND, *(f"{row.method}: {row.remark}" for row in rows if row.remark)):
        lines += ["", *textwrap.wrap(remark, wide)]
    return lines


def _parts(text: str, mark: str) -> tuple[str, ...]:
    first, found, second = text.partition(mark)
    return (first + found, second) if found else (text,)


def _both(ours: Verdict, printed: Verdict) -> tuple[str, ...]:
    return (_VERDICTS[ours],) if ours == printed else (_VERDICTS[ours], f" (paper: {_VERDICTS[printed]})")


def _beside(table: Sequence[Sequence[tuple[str, ...]]]) -> list[str]:
    return _aligned([["".join(cell) for cell in line] for line in table], gap=2)


def _below(table: Sequence[Sequence[tuple[str, ...]]]) -> list[str]:
    lines = []
    for line in table:
        height = max(map(len, line))
        lines += [[cell[k].strip() if k < len(cell) else "" for cell in line] for k in range(height)]
    return _aligned(lines, gap=1)


def _aligned(lines: Sequence[Sequence[str]], *, gap: int) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        (" " * gap).join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
    ]
