"""The steps of the annealing as one compiled loop; imported only where numba is installed.

It does what `annealing_steps.walk` does with numpy, addition by addition in the same order: both give the same bits.
Most of the time goes to finding where each coalition's last other member is. Three things keep that short: indices are
unsigned, so that no negative ones are looked for; a player's coalitions come by size, so that the inner loop has the
same length again and again; and what is out of sight is added up in turns in several places, for one sum would have to
wait for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.dividends.trees.compiling import compiled, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SQUARES = 1
_LABELS = 2
_OUT_OF_SIGHT = 8  # sums for what is out of sight; a power of two


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
def walk(  # noqa: C901, PLR0912, PLR0915 - one loop, so that nothing is handed over between steps
    players: NDArray[np.int64],
    places: NDArray[np.int64],
    reached: NDArray[np.float64],
    best: NDArray[np.int64],
    rivals: Any,
    waits: Any,
    price: Any,
    draws: Any,
    near: int,
) -> float:
    """Take steps, in place; see `annealing_steps.walk` for the arguments."""
    first, values, ends, others = rivals
    starts_before, before, starts_after, after = waits
    spots, heats, offsets, noise = draws
    count = len(players)
    one, turn = np.uintp(1), np.uintp(_OUT_OF_SIGHT - 1)
    step_at = np.empty(min(2 * near + 1, count) + _OUT_OF_SIGHT)
    gain = np.empty(min(2 * near + 1, count))
    paid = np.empty(count + 1)
    for size in range(count + 1):
        paid[size] = _cost(reached[size], price)
    balance, lowest = 0.0, 0.0
    for step in range(len(spots)):
        place, heat, offset = spots[step], heats[step], offsets[step]
        player = players[place]
        low, high = max(place - near, 0), min(place + near, count - 1)
        for wait in range(starts_before[player], starts_before[player + 1]):
            low = max(low, places[before[wait]] + 1)
        for wait in range(starts_after[player], starts_after[player + 1]):
            high = min(high, places[after[wait]] - 1)
        sight = np.uintp(high - low)
        step_at[: high - low + 1] = 0.0
        coalition, stop = np.uintp(first[player]), np.uintp(first[player + 1])
        entry = np.uintp(ends[coalition])
        while coalition < stop:
            end = np.uintp(ends[coalition + one])
            last = places[others[entry]]
            entry += one
            while entry < end:
                last = max(last, places[others[entry]])
                entry += one
            at = np.uintp(last - low)
            if at > sight:
                at = sight + one + (coalition & turn)
            step_at[at] += values[coalition]
            coalition += one
        here = reached[place + 1] - reached[place]
        chosen, least, change = place, -(heat * noise[offset + near]), 0.0
        total, value = 0.0, here
        for to in range(place - 1, low - 1, -1):
            value -= step_at[to - low]
            gain[to - low] = value
            total += _cost(reached[to] + value, price) - paid[to + 1]
            judged = total - heat * noise[offset + near + (to - place)]
            if judged < least:
                chosen, least, change = to, judged, total
        total, value = 0.0, here
        for to in range(place + 1, high + 1):
            value += step_at[to - low]
            gain[to - low] = value
            total += _cost(reached[to + 1] - value, price) - paid[to]
            judged = total - heat * noise[offset + near + (to - place)]
            if judged < least:
                chosen, least, change = to, judged, total
        if chosen == place:
            continue
        if chosen < place:
            for to in range(place, chosen, -1):
                reached[to] = reached[to - 1] + gain[to - 1 - low]
                paid[to] = _cost(reached[to], price)
                players[to] = players[to - 1]
                places[players[to]] = to
        else:
            for to in range(place, chosen):
                reached[to + 1] = reached[to + 2] - gain[to + 1 - low]
                paid[to + 1] = _cost(reached[to + 1], price)
                players[to] = players[to + 1]
                places[players[to]] = to
        players[chosen], places[player] = player, chosen
        balance += change
        if balance < lowest:
            lowest = balance
            best[:] = players
    return lowest
