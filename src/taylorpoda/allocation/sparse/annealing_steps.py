"""The steps of the annealing with numpy, for where numba is not installed; the compiled ones do the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def walk(
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
    """Take steps, in place.

    What a player adds where it stands is the step of the values there; in another place it adds that much less, or
    more, than the dividends of those of its coalitions whose last other member is in between.

    Args:
        players: Shape (k,): the order.
        places: Shape (k,): the place of every player.
        reached: Shape (k + 1,): the values along the order.
        best: Shape (k,): receives the best order met.
        rivals: Of `annealing.coalitions_of_players`.
        waits: Of `annealing.neighbors`.
        price: Of `Objective.price`.
        draws: Places, heats and where to begin in the noise, each (steps,), and the noise.
        near: How far a step looks.

    Returns:
        How much less the best order costs than the first, 0 or negative.
    """
    first, values, ends, others = rivals
    starts_before, before, starts_after, after = waits
    noise = draws[3]
    count = len(players)
    paid = _costs(reached, price)
    balance = lowest = 0.0
    for place, heat, offset in zip(*(part.tolist() for part in draws[:3]), strict=True):
        player = int(players[place])
        low, high = max(place - near, 0), min(place + near, count - 1)
        low = int(np.max(places[before[starts_before[player] : starts_before[player + 1]]] + 1, initial=low))
        high = int(np.min(places[after[starts_after[player] : starts_after[player + 1]]] - 1, initial=high))
        own = slice(first[player], first[player + 1])
        begins = ends[own]
        step_at: NDArray[np.float64] = np.zeros(high - low + 1)
        if len(begins):
            last = np.maximum.reduceat(places[others[begins[0] : ends[own.stop]]], begins - begins[0])
            seen = (last >= low) & (last <= high)
            step_at = np.bincount(last[seen] - low, values[own][seen], high - low + 1).astype(np.float64)
        here = reached[place + 1] - reached[place]
        earlier, later = np.arange(low, place)[::-1], np.arange(place + 1, high + 1)
        up = np.cumsum(np.append(here, -step_at[earlier - low]))[1:]
        down = np.cumsum(np.append(here, step_at[later - low]))[1:]
        fewer = _costs(reached[earlier] + up, price) - paid[earlier + 1]
        more = _costs(reached[later + 1] - down, price) - paid[later]
        to = np.concatenate([[place], earlier, later])
        totals = np.concatenate([[0.0], np.cumsum(fewer), np.cumsum(more)])
        choice = int(np.argmin(totals - heat * noise[offset + near + (to - place)]))
        chosen = int(to[choice])
        if chosen == place:
            continue
        if chosen < place:
            # The value before a place is read before it is written: one step of the loop feeds none of the others.
            reached[chosen + 1 : place + 1] = reached[chosen:place] + up[: place - chosen][::-1]
            players[chosen + 1 : place + 1] = players[chosen:place].copy()
        else:
            reached[place + 1 : chosen + 1] = reached[place + 2 : chosen + 2] - down[: chosen - place]
            players[place:chosen] = players[place + 1 : chosen + 1].copy()
        changed = slice(min(place, chosen) + 1, max(place, chosen) + 1)
        paid[changed] = _costs(reached[changed], price)
        players[chosen] = player
        places[players] = np.arange(count)
        balance += float(totals[choice])
        if balance < lowest:
            lowest = balance
            best[:] = players
    return lowest


def _costs(values: NDArray[np.float64], price: Any) -> NDArray[np.float64]:
    """`Objective.guided` of the values of one game, operation by operation as the compiled steps have it."""
    kind, sign, full, threshold, wanted, toward, reach, weight = price
    if kind == 2:
        hint = np.minimum(np.maximum((values - threshold) * toward / reach, 0.0), 1.0)
        return np.asarray(sign * ((values > threshold) == wanted) + weight * hint)
    away = abs(values - full)
    return np.asarray(sign * (away * away) if kind == 1 else sign * away)
