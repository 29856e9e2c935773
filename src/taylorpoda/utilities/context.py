"""Bring a table, its labels and its target into one checked Context."""

from __future__ import annotations

import contextlib
from typing import Any

import array_api_compat
import numpy as np

from taylorpoda._support.arrays import as_table, to_numpy
from taylorpoda.utilities.base import Context, Utility


def make_context(
    values: Any, utility: Utility, target: Any = None, *, threshold: float = 0.5, labels: Any = None
) -> Context:
    """Check everything a utility reads.

    Args:
        values: Real array of shape (..., 2**n), numpy or torch.
        utility: What will read it.
        target: The labels y: 0 or 1 (booleans, integers or floats), or class indices where `labels` are
            given. Its axes are matched with the leading axes of `values` from the left, so a label per row
            serves all outputs of that row; a single label serves every row.
        threshold: Values above it are labeled 1.
        labels: Predicted class of every coalition, shape (..., 2**n), leading axes matched from the left.

    Returns:
        The context, target and labels of the kind of `values` and with all its leading axes.

    Raises:
        ValueError: If the utility reads labels and none came, or they have a wrong shape or wrong values.
        TypeError: If something is no real number.
    """
    xp, table, _ = as_table(values)
    lead = tuple(table.shape[:-1])
    if isinstance(threshold, bool) or not isinstance(threshold, int | float | np.number) or not np.isfinite(threshold):
        msg = f"threshold={threshold!r} is not a finite number."
        raise ValueError(msg)
    if utility.needs_target and target is None:
        msg = (
            f"utility={utility.name!r} compares with the labels: give target= (in an explainer, y=): "
            "0 or 1 per row, or a class index per row where several outputs compete."
        )
        raise ValueError(msg)
    if labels is not None:
        labels = _matched(xp, _whole(labels, "labels"), (*lead, table.shape[-1]), "labels", table, last=True)
    if target is not None:
        read = _whole(target, "target", binary=labels is None) if utility.needs_target else _numbers(target, "target")
        target = _matched(xp, read, lead, "target", table)
    return Context(table, target, float(threshold), labels)


def _numbers(array: Any, parameter: str) -> Any:
    """Labels as numpy numbers, whatever container they came in."""
    plain = to_numpy(array)
    if plain.dtype == object:
        with contextlib.suppress(TypeError, ValueError):
            plain = plain.astype(np.float64)
    if plain.dtype.kind not in "biuf":
        msg = f"{parameter} has dtype {plain.dtype}; allowed: booleans or numbers (0 and 1, or class indices)."
        raise TypeError(msg)
    return plain


def _whole(array: Any, parameter: str, *, binary: bool = False) -> Any:
    plain = _numbers(array, parameter).astype(np.float64)
    bad = ~np.isin(plain, (0.0, 1.0)) if binary else (plain != np.floor(plain)) | (plain < 0) | ~np.isfinite(plain)
    if np.any(bad):
        first = float(plain[bad].ravel()[0])
        allowed = "0 and 1" if binary else "class indices 0, 1, 2, ..."
        msg = f"{parameter} holds {first!r}; allowed: {allowed}."
        raise ValueError(msg)
    return plain.astype(np.int64)


def _matched(xp: Any, array: Any, shape: tuple[int, ...], parameter: str, table: Any, *, last: bool = False) -> Any:
    """Broadcast with the axes matched from the left (and the last one from the right when `last`)."""
    tail = array.shape[-1:] if last else ()
    head = array.shape[: array.ndim - len(tail)]
    wanted = shape[: len(shape) - len(tail)]
    spread = (*head, *(1,) * (len(wanted) - len(head)), *tail)
    try:
        if len(spread) != len(shape):
            raise ValueError  # noqa: TRY301 - one message for every wrong shape
        array = np.broadcast_to(array.reshape(spread), shape)
    except ValueError:
        msg = (
            f"{parameter} has shape {tuple(array.shape)}, which does not match the leading axes {wanted} of "
            f"the values{f' and their {shape[-1]} coalitions' if last else ''}."
        )
        raise ValueError(msg) from None
    if isinstance(table, np.ndarray):
        return array
    return xp.asarray(array.copy(), device=array_api_compat.device(table))
