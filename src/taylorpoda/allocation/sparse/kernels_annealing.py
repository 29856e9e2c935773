"""The steps of the annealing as one compiled loop; imported only where numba is installed.

It does what `annealing.walk` does with numpy, addition by addition in the same order, so that both give the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.dividends.trees.compiling import compiled, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SQUARES = 1
_LABELS = 2


@inlined
def _cost(value: float, price: Any) -> float:
    """What `Objective.guided` says of one value; `price` is that of `Objective.price`."""
    kind, sign, full, threshold, wanted, toward, reach, weight = price
    if kind == _LABELS:
        hit = 1.0 if (value > threshold) == wanted else 0.0
        return sign * hit + weight * min(max((value - threshold) * toward / reach, 0.0), 1.0)
    away = abs(value - full)
    return sign * (away * away) if kind == _SQUARES else sign * away


@compiled
def walk(  # noqa: C901, PLR0912 - one loop, so that nothing is handed over between steps
    players: NDArray[np.int64],
    places: NDArray[np.int64],
    reached: NDArray[np.float64],
    best: NDArray[np.int64],
    rivals: Any,
    waits: Any,
    price: Any,
    draws: Any,
    near: int,
) -> None:
    """Take steps, in place; see `annealing.walk` for the arguments."""
    single, first, values, ends, others = rivals
    starts_before, before, starts_after, after = waits
    spots, heats, offsets, noise = draws
    count = len(players)
    gain = np.empty(count + 1)
    balance, lowest = 0.0, 0.0
    for step in range(len(spots)):
        place, heat, offset = spots[step], heats[step], offsets[step]
        player = players[place]
        low, high = max(place - near, 0), min(place + near, count - 1)
        for entry in range(starts_before[player], starts_before[player + 1]):
            low = max(low, places[before[entry]] + 1)
        for entry in range(starts_after[player], starts_after[player + 1]):
            high = min(high, places[after[entry]] - 1)
        gain[: high + 1] = 0.0
        gain[0] = single[player]
        for coalition in range(first[player], first[player + 1]):
            last = -1
            for entry in range(ends[coalition], ends[coalition + 1]):
                last = max(last, places[others[entry]])
            if last < place:
                last += 1
            if last <= high:
                gain[last] += values[coalition]
        for size in range(1, high + 1):
            gain[size] += gain[size - 1]
        chosen, least, change = place, -(heat * noise[offset + near]), 0.0
        total = 0.0
        for to in range(place - 1, low - 1, -1):
            total += _cost(reached[to] + gain[to], price) - _cost(reached[to + 1], price)
            judged = total - heat * noise[offset + near + (to - place)]
            if judged < least:
                chosen, least, change = to, judged, total
        total = 0.0
        for to in range(place + 1, high + 1):
            total += _cost(reached[to + 1] - gain[to], price) - _cost(reached[to], price)
            judged = total - heat * noise[offset + near + (to - place)]
            if judged < least:
                chosen, least, change = to, judged, total
        if chosen == place:
            continue
        if chosen < place:
            for to in range(place, chosen, -1):
                reached[to] = reached[to - 1] + gain[to - 1]
                players[to] = players[to - 1]
                places[players[to]] = to
        else:
            for to in range(place, chosen):
                reached[to + 1] = reached[to + 2] - gain[to + 1]
                players[to] = players[to + 1]
                places[players[to]] = to
        players[chosen], places[player] = player, chosen
        balance += change
        if balance < lowest:
            lowest = balance
            best[:] = players
