"""All 2**n values of any game, in chunks."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.integers import whole_number
from taylorpoda._support.memory import human_bytes, parse_memory
from taylorpoda._support.progress import ProgressBar
from taylorpoda.games.coalitions import all_coalitions, describe, members
from taylorpoda.games.models.output import GameError, as_outputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.base import Game

_CHUNK_BYTES = 2**20
_MOST_PLAYERS = 40


def tabulate(game: Game, n_players: int, *, chunk: int | None = None, max_memory: object = None) -> NDArray[np.float64]:
    """Evaluate a game on every coalition.

    Args:
        game: Any callable v(bool[m, n]) -> (m,) or (m, outputs).
        n_players: n >= 0.
        chunk: Coalitions per call; None cuts them by bytes.
        max_memory: Bytes (or "2GiB") the table may take; None is a quarter of what is free.

    Returns:
        Shape (2**n,), or (outputs, 2**n) for a game with an outputs axis. Bit j of an index is player j.

    Raises:
        ValueError: If the table does not fit, or the game gives a wrong shape, NaN or infinity.

    Example:
        >>> tabulate(lambda coalitions: coalitions.sum(axis=1), 2)
        array([0., 1., 1., 2.])
    """
    n, bound = _checked(game, n_players, max_memory)
    total = 1 << n
    step = (
        max(1, min(total, _CHUNK_BYTES // max(n, 1)))
        if chunk is None
        else whole_number(
            "chunk", chunk, least=1, allowed="None, or the number of coalitions per call, an integer >= 1"
        )
    )
    table: NDArray[np.float64] | None = None
    flat = False
    with ProgressBar("valuing coalitions", total) as bar:
        for start in range(0, total, step):
            stop = min(start + step, total)
            coalitions = all_coalitions(n, start, stop)
            values, is_flat = _call(game, coalitions, start, n)
            if table is None:
                flat = is_flat
                if 8 * total * values.shape[1] > bound:
                    msg = (
                        f"the table of {values.shape[1]} outputs x 2**{n} coalitions takes "
                        f"{human_bytes(8.0 * total * values.shape[1])}, and max_memory is "
                        f"{human_bytes(bound)}."
                    )
                    raise ValueError(msg)
                table = np.empty((values.shape[1], total))
            if values.shape[1] != table.shape[0] or is_flat != flat:
                msg = f"the game gave {values.shape[1]} outputs for coalitions {start}.. but {table.shape[0]} before."
                raise ValueError(msg)
            table[:, start:stop] = values.T
            bar.advance(stop - start)
    assert table is not None  # noqa: S101 - there is at least the empty coalition
    return table[0] if flat else table


def _checked(game: object, n_players: object, max_memory: object) -> tuple[int, int]:
    try:
        n = operator.index(n_players)  # type: ignore[arg-type]
    except TypeError:
        msg = f"n_players={n_players!r} has type {type(n_players).__name__}; it must be an integer >= 0."
        raise TypeError(msg) from None
    if n < 0:
        msg = f"n_players={n} is negative; it must be an integer >= 0."
        raise ValueError(msg)
    if not callable(game):
        msg = f"game has type {type(game).__name__}; it must be a callable v(bool[m, n]) -> (m,) or (m, outputs)."
        raise TypeError(msg)
    bound = parse_memory(max_memory)
    if n > _MOST_PLAYERS or 8 * 2**n > bound:
        msg = (
            f"n_players={n} needs 2**{n} values, at least {human_bytes(8.0 * 2**n)}, "
            f"and max_memory is {human_bytes(bound)}; use fewer players or groups of players."
        )
        raise ValueError(msg)
    return n, bound


def _call(game: Game, coalitions: NDArray[np.bool_], start: int, n: int) -> tuple[NDArray[np.float64], bool]:
    try:
        raw: Any = game(coalitions)
    except Exception as error:
        first = describe(coalitions[0])
        msg = f"the game raised {type(error).__name__} on {len(coalitions)} coalitions starting at {first}: {error}"
        raise GameError(msg) from error
    values, ndim = as_outputs(raw, len(coalitions), "the game")
    bad = ~np.isfinite(values).all(axis=1)
    if bad.any():
        where = describe(members(np.array([start + int(np.argmax(bad))]), n)[0])
        msg = f"the game gave NaN or infinity for coalition {where}; every coalition needs a finite value."
        raise ValueError(msg)
    return values, ndim == 1
