"""Names, cells and numbers as people read them: bounded, on one line, safe to draw anywhere."""

from __future__ import annotations

import datetime as dt
import math
import numbers
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MINUS = "\N{MINUS SIGN}"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
MISSING = "missing"

# Marks that reorder the text around them: a name holding one could make a picture say something else.
_BIDI = dict.fromkeys([0x200E, 0x200F, 0x061C, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
_SMALLEST_FIXED, _LARGEST_FIXED = 1e-4, 1e7
_NOISE = 1e-13


def one_line(text: object, limit: int = 40) -> str:
    r"""Any object as one bounded line of printable text.

    White space runs become one space, control and text-reordering characters disappear, lone surrogates
    become "?", and the middle of a long text becomes an ellipsis, so that names differing only at their
    end stay apart.

    Args:
        text: Anything `str` accepts.
        limit: The most characters to keep, at least 3.

    Returns:
        The text; "(empty)" when nothing printable is left.

    Example:
        >>> one_line("two\nlines")
        'two lines'
        >>> one_line("abcdefghijklmnopqrstuvwxyz", limit=9)
        'abcde…xyz'
    """
    clean = str(text).encode("utf-8", "replace").decode("utf-8").translate(_BIDI)
    clean = " ".join(clean.split())
    clean = "".join(mark for mark in clean if unicodedata.category(mark) != "Cc")
    if not clean:
        return "(empty)"
    if len(clean) <= limit:
        return clean
    tail = max((limit - 1) * 2 // 5, 1)
    return f"{clean[: limit - 1 - tail].rstrip()}{ELLIPSIS}{clean[-tail:].lstrip()}"


def is_missing(value: object) -> bool:
    """Whether a cell holds no value: None, NaN, NaT or a library's own NA."""
    if value is None or type(value).__name__ in {"NAType", "NaTType", "NullScalar"}:
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, numbers.Real) and math.isnan(value)


def cell(value: object, limit: int = 24) -> str:
    """One cell of the user's table as text: numbers to four digits, midnight dropped from dates, gaps named.

    Example:
        >>> cell(3.14159265), cell(float("nan")), cell("blue"), cell(np.datetime64("2024-02-01T06:30"))
        ('3.142', 'missing', 'blue', '2024-02-01 06:30')
    """
    if is_missing(value):
        return MISSING
    if isinstance(value, np.datetime64 | np.timedelta64):
        value = value.astype("datetime64[us]").item() if isinstance(value, np.datetime64) else value.item()
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, numbers.Integral):
        return str(int(value)).replace("-", MINUS) if abs(int(value)) < 10**15 else _minus(f"{float(value):.4g}")
    if isinstance(value, numbers.Real):
        return _real(float(value))
    if isinstance(value, dt.date | dt.time):
        stamp = value.isoformat().replace("T", " ", 1)
        if getattr(value, "tzinfo", None) is None:
            stamp = stamp.removesuffix(" 00:00:00").removesuffix(":00")
        return stamp
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return one_line(value, limit)


def _real(value: float) -> str:
    if value.is_integer() and abs(value) < 10**7:
        return str(int(value)).replace("-", MINUS)
    return _minus(f"{value:.4g}")


def _minus(text: str) -> str:
    """Typographic minus signs; exponents without the padding zero."""
    return text.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e").replace("-", MINUS)


def percent(share: float) -> str:
    """A share as a percentage; only what is whole, up to rounding of floats, reads 100 %, and zero has no sign.

    Example:
        >>> percent(0.123), percent(-1e-17), percent(0.9996), percent(1.0)
        ('12%', '0%', '99.9%', '100%')
    """
    if 0.99 < share < 1 - 1e-9:
        return f"{math.floor(1000 * share) / 10:.1f}%"
    return _minus(f"{round(100 * float(share)) + 0}%")


@dataclass(frozen=True)
class NumberFormat:
    """One number format for all numbers of a picture, so that what is printed can be added up.

    Attributes:
        decimals: Digits after the point.
        scientific: Whether the quantities are too small or large for fixed notation.
        noise: Numbers up to this size are rounding noise, and printed as 0.
    """

    decimals: int
    scientific: bool = False
    noise: float = 0.0

    @classmethod
    def of(cls, *values: ArrayLike) -> NumberFormat:
        """The format that gives the largest of the values three significant digits.

        Example:
            >>> shown = NumberFormat.of([0.5, -0.0123])
            >>> shown(0.5), shown(0.0123, signed=True)
            ('0.500', '+0.012')
        """
        flat = np.abs(np.concatenate([np.ravel(np.asarray(value, dtype=float)) for value in values]))
        flat = flat[np.isfinite(flat)]
        largest = float(flat.max()) if flat.size else 0.0
        if largest == 0.0:
            return cls(0)
        if not _SMALLEST_FIXED <= largest < _LARGEST_FIXED:
            return cls(2, scientific=True, noise=_NOISE * largest)
        decimals = max(2 - math.floor(math.log10(largest)), 0 if largest >= 1000 else 1)
        return cls(decimals, noise=_NOISE * largest)

    def __call__(self, value: float, *, signed: bool = False) -> str:
        """The number as text; a value that would round to zero keeps one digit of its own."""
        value = float(value)
        if math.isnan(value):
            return "n/a"
        sign = "+" if signed and value > 0 else ""
        if math.isinf(value):
            return f"{sign}{value}".replace("-", MINUS)
        if abs(value) <= self.noise:
            return "0"
        if self.scientific:
            return sign + _minus(f"{value:.{self.decimals}e}")
        if abs(value) < 0.5 * 10.0**-self.decimals:
            return sign + _minus(f"{value:.0e}" if abs(value) < _SMALLEST_FIXED else f"{value:.1g}")
        return sign + _minus(f"{value:,.{self.decimals}f}")
