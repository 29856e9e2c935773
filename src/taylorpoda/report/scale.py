"""From numbers to positions in a picture, and the round numbers worth a tick."""

from __future__ import annotations

import math
from dataclasses import dataclass

from taylorpoda._support.display import NumberFormat


@dataclass(frozen=True)
class Scale:
    """A linear map from low..high to left..right.

    Attributes:
        low: The number at the left end.
        high: The number at the right end; a larger one.
        left: The position of the left end.
        right: The position of the right end.
    """

    low: float
    high: float
    left: float
    right: float

    @classmethod
    def over(cls, *values: float, left: float, right: float) -> Scale:
        """The scale that just holds all values; a single value lands in the middle."""
        low, high = min(values), max(values)
        if not high > low:
            half = max(abs(low), 1.0) / 2
            low, high = low - half, high + half
        return cls(low, high, left, right)

    def __call__(self, value: float) -> float:
        """The position of a value, to a hundredth."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.left + share * (self.right - self.left), 2)

    def ticks(self, count: int = 4) -> list[tuple[float, str]]:
        """About `count` round numbers between the ends, and how to write them."""
        raw = (self.high - self.low) / count
        power = math.floor(math.log10(raw))
        step = next(10.0**power * factor for factor in (1, 2, 5, 10) if 10.0**power * factor >= raw * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        number = NumberFormat(max(0, -math.floor(math.log10(step) + 1e-9)))
        if not 1e-4 <= step < 1e7:
            number = NumberFormat(1, scientific=True)
        ticks = [(k * step, number(k * step)) for k in range(first, last + 1)]
        return ticks if len(ticks) > 1 else self.ticks(2 * count)
