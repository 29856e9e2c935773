"""Which models are asked in larger batches: a guess from what they are made of, never from a clock.

A clock would choose another batch size each time, and with it the last bits of a matrix product.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

_TREES = ("sklearn.ensemble", "sklearn.tree", "xgboost", "lightgbm", "catboost")
_DEEPEST = 3  # a function that calls a wrapper that holds a pipeline
_OPAQUE = (type, ModuleType, np.ndarray, np.generic, str, bytes, int, float, bool, type(None))


def has_dear_calls(model: Any) -> bool:
    """Whether a call costs much besides its rows and needs little memory per row, as trees do.

    Args:
        model: An estimator, a booster, or a callable: what a function refers to counts as well, so that
            `lambda rows: forest.predict_proba(rows)[:, 1]` is known for a forest.

    Returns:
        True where trees are found, False where none are or nothing can be known.
    """
    return any(_of_trees(part) for part in _parts(model, _DEEPEST))


def _of_trees(part: Any) -> bool:
    modules = [str(base.__module__) for base in type(part).__mro__]
    return any(module == name or module.startswith(f"{name}.") for module in modules for name in _TREES)


def _parts(whole: Any, depth: int) -> Iterator[Any]:
    """The object, and what it refers to by name, down to some depth."""
    if isinstance(whole, _OPAQUE):
        return
    yield whole
    if depth:
        for part in _referred(whole):
            yield from _parts(part, depth - 1)


def _referred(whole: Any) -> list[Any]:
    if isinstance(whole, MethodType):
        return [whole.__self__]
    if isinstance(whole, partial):
        return [whole.func, *whole.args, *whole.keywords.values()]
    if isinstance(whole, FunctionType):
        named = (whole.__globals__.get(name) for name in whole.__code__.co_names)
        return [*named, *_enclosed(whole), *(whole.__defaults__ or ()), *(whole.__kwdefaults__ or {}).values()]
    held = getattr(whole, "__dict__", {})
    steps = held.get("steps")  # of a pipeline: only the last may be costly
    last = [steps[-1][-1]] if isinstance(steps, list) and steps and isinstance(steps[-1], tuple) else []
    return [*held.values(), *last]


def _enclosed(function: FunctionType) -> list[Any]:
    found = []
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            continue
    return found
