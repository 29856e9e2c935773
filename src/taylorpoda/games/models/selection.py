"""Which output the user means by `output=`: a class, a name, or an index."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.choices import unknown_choice

if TYPE_CHECKING:
    from collections.abc import Sequence


def find_output(output: Any, *known: Sequence[Any] | None) -> int:
    """The position of the output the user means.

    A class or name wins over an index: with the classes 1, 2, 3 `output=1` is the first of them.

    Args:
        output: What the user wrote.
        *known: The classes, the names: each None where there are none. Those given have one length.

    Returns:
        A position from 0.

    Raises:
        ValueError: If it is neither; the message lists what is allowed.
    """
    lists = [names for names in known if names is not None]
    for names in lists:
        for position, name in enumerate(names):
            if type(name) is type(output) and name == output:
                return position
    for names in lists:
        alike = _alike(output, names)
        if alike is not None:
            return alike
    width = len(lists[0])
    number = _index(output)
    if number is not None and -width <= number < width:
        return number % width
    texts = dict.fromkeys(str(name) for names in lists for name in names)
    error = unknown_choice("output", output, [*texts, *(str(k) for k in range(width) if str(k) not in texts)])
    if isinstance(output, str) and all(text.isdigit() for text in texts):
        msg = f"{error} Numbered outputs get names by output_names=[...], one for each of the {width} in order."
        raise ValueError(msg)
    raise error


def _index(output: Any) -> int | None:
    """A whole number that is no truth value; None for anything else."""
    if isinstance(output, bool | np.bool_):
        return None
    try:
        return operator.index(output)
    except TypeError:
        return None


def _alike(output: Any, names: Sequence[Any]) -> int | None:
    """The name that is the same number or the same text: 1 for the class 1.0, "1" for the class 1."""
    truth = isinstance(output, bool | np.bool_)
    for position, name in enumerate(names):
        numbers = isinstance(output, int | float | np.number) and isinstance(name, int | float | np.number)
        if numbers and truth == isinstance(name, bool | np.bool_) and bool(name == output):
            return position
    texts = [str(name) for name in names]
    return texts.index(str(output)) if str(output) in texts else None


def check_names(names: Any) -> tuple[str, ...]:
    """The user's `output_names`, as text.

    Raises:
        TypeError: If it is no sequence of names.
        ValueError: If there are none, or two are the same.
    """
    unordered = isinstance(names, str | bytes | AbstractSet | Mapping)
    if unordered or not hasattr(names, "__len__") or not hasattr(names, "__iter__"):
        msg = f"output_names has type {type(names).__name__}; allowed: None or one name per output, e.g. a list."
        raise TypeError(msg)
    texts = tuple(str(name) for name in names)
    if not texts or len(set(texts)) != len(texts):
        msg = f"output_names={list(texts)} is not allowed; allowed: one name per output, all different."
        raise ValueError(msg)
    return texts
