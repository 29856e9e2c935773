"""Which trees get tables: the cheap ones first, as long as the memory lasts; the others go pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.memory import human_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.dividends.trees.layout import Layout, Units

_LARGEST = 2**28  # bytes that tables may take by default: they are written once, at about 1 GB/s
_DEEPEST = 24  # players on a path that a table index can hold comfortably


def table_bytes(layout: Layout, units: Units) -> NDArray[np.float64]:
    """Bytes of all tables of each tree: background patterns, attributions, dividends and their numbers."""
    width = layout.width
    leaf = layout.leaves
    patterns = np.where(leaf, 8.0 * np.exp2(layout.above), 0.0)
    others = layout.above - layout.repeat
    splits = np.where(leaf, 0.0, (16.0 * width + 4.0) * np.exp2(others))
    result = layout.per_tree(np.add, patterns + splits)
    lookups = 8.0 * width * np.diff(units.start) * np.exp2(units.bits.astype(np.float64))
    np.add.at(result, units.tree, lookups)
    result[layout.per_tree(np.maximum, layout.above) > _DEEPEST] = np.inf
    return result


def choose_tabled(sizes: NDArray[np.float64], max_memory: int) -> NDArray[np.bool_]:
    """The trees that get tables: by size, smallest first, within half of the memory and never above a default."""
    order = np.argsort(sizes, kind="stable")
    allowed = _allowed(max_memory)
    chosen = np.zeros(len(sizes), dtype=np.bool_)
    chosen[order] = np.cumsum(sizes[order]) <= allowed
    return chosen


def why_not_tabled(layout: Layout, units: Units, max_memory: int) -> str:
    """Why some trees get no tables, in words, and what would give them some: more memory only where it would."""
    sizes = table_bytes(layout, units)
    deepest, needed = int(layout.above.max(initial=0)), float(sizes.sum())
    if deepest > _DEEPEST:
        return f"{deepest} players meet on a path, and tables take at most {_DEEPEST}, whatever max_memory is"
    if needed > _LARGEST:
        return (
            f"their tables take {human_bytes(needed)}, and at most {human_bytes(_LARGEST)} are made, whatever "
            "max_memory is"
        )
    return (
        f"their tables take {human_bytes(needed)}, and half of max_memory={human_bytes(max_memory)} is for them; "
        f"with more than {human_bytes(2 * needed)} they are made"
    )


def _allowed(max_memory: int) -> float:
    return min(max_memory / 2, _LARGEST)
