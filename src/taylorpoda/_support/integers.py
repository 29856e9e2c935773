"""Options that are whole numbers: one rule and one message for all of them."""

from __future__ import annotations

import operator


def whole_number(parameter: str, value: object, *, least: int, allowed: str = "") -> int:
    """The value as an integer of at least `least`.

    Args:
        parameter: The parameter as the user wrote it.
        value: What came; True and False are no numbers.
        least: The smallest allowed.
        allowed: What is allowed, in words, where there is more to say than the smallest.

    Raises:
        TypeError: If it is no integer.
        ValueError: If it is too small.
    """
    words = allowed or f"an integer >= {least}"
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        msg = f"{parameter}={value!r} has type {type(value).__name__}; allowed: {words}."
        raise TypeError(msg)
    if number < least:
        msg = f"{parameter}={number} is not allowed; allowed: {words}."
        raise ValueError(msg)
    return number
