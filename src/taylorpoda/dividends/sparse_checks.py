"""What is asked of sparse dividends, checked: nothing is rounded, cast or clipped without a word."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def whole_numbers(given: Any, parameter: str, what: str = "the indices of players") -> NDArray[np.int64]:
    """Players in a line, or what else is counted.

    Raises:
        TypeError: If they are no whole numbers.
        ValueError: If they are in no line.
    """
    array = np.asarray(given)
    if array.size and array.dtype.kind not in "iu":
        msg = f"{parameter}={given!r} holds {array.dtype}; allowed: whole numbers, {what}."
        raise TypeError(msg)
    if array.ndim != 1:
        msg = f"{parameter} has shape {array.shape}; expected one axis."
        raise ValueError(msg)
    return array.astype(np.int64)


def positions(given: Any, count: int) -> NDArray[np.int64]:
    """Which of `count` entries are chosen: by index, negative ones from the end, or one True or False for each.

    Raises:
        TypeError: If they are no whole numbers.
        ValueError: If they are in no line, or a mask has another length.
        IndexError: If one is out of range.
    """
    array = np.asarray(given)
    if array.dtype == np.bool_:
        if array.shape != (count,):
            msg = f"chosen has shape {array.shape}; expected one True or False for each of {count} dividends."
            raise ValueError(msg)
        return np.flatnonzero(array)
    indices = whole_numbers(array, "chosen", "the indices of dividends")
    outside = indices[(indices < -count) | (indices >= count)]
    if len(outside):
        msg = f"chosen names {int(outside[0])}, which is out of range; there are {count} dividends."
        raise IndexError(msg)
    return indices % max(count, 1)


def player_index(given: Any) -> int:
    """One player.

    Raises:
        TypeError: If it is no whole number.
    """
    try:
        return operator.index(given)
    except TypeError:
        msg = f"a coalition names {given!r}; allowed: whole numbers, the indices of players."
        raise TypeError(msg) from None


def membership(given: Any, n_players: int) -> NDArray[np.bool_]:
    """Coalitions as rows of True and False, (m, players) or (players,).

    Raises:
        ValueError: If the shape is another, or if an entry is neither 0 nor 1.
    """
    masks = np.asarray(given)
    if masks.shape[-1:] != (n_players,) or masks.ndim > 2:
        msg = f"coalitions has shape {masks.shape}; expected (m, {n_players})."
        raise ValueError(msg)
    if masks.dtype != np.bool_ and not ((masks == 0) | (masks == 1)).all():
        msg = f"coalitions={given!r}: an entry is neither True nor False; each row says of every player if it is in."
        raise ValueError(msg)
    return masks.astype(np.bool_)


def tolerance_of(given: Any, parameter: str = "tolerance") -> float:
    """A number from 0 on.

    Raises:
        ValueError: If it is negative or NaN.
    """
    number = float(given)
    if not number >= 0:
        msg = f"{parameter}={given!r}; allowed: a number from 0 on."
        raise ValueError(msg)
    return number


def finite(given: Any, parameter: str) -> NDArray[np.float64]:
    """Finite numbers.

    Raises:
        ValueError: If one is not.
    """
    array = np.asarray(given, dtype=np.float64)
    if not np.isfinite(array).all():
        msg = f"{parameter} holds NaN or infinity; every dividend is a finite number."
        raise ValueError(msg)
    return array


def finite_factor(given: Any) -> float:
    """A finite number to multiply with.

    Raises:
        ValueError: If it is not.
    """
    number = float(given)
    if not math.isfinite(number):
        msg = f"a game cannot be multiplied with {given!r}; allowed: a finite number."
        raise ValueError(msg)
    return number
