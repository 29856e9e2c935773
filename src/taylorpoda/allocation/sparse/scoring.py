"""Score attributions of sparse games: the public rule, with values from the dividends instead of a table."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from taylorpoda.allocation.sparse.context import SparseContext
from taylorpoda.utilities import ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.dividends.sparse import SparseDividends
    from taylorpoda.utilities import Context, Utility

MOST_STAGED = 20  # players of a game whose stage table is made


def check_utility(context: SparseContext, utility: Utility) -> None:
    """Refuse a user's own stage where there is no table for it.

    Raises:
        ValueError: If there are too many players.
    """
    if utility.stage is not None and utility.pointwise is None and context.n_players > MOST_STAGED:
        msg = (
            f"utility {utility.name!r} is defined by stage=, a table over 2**n coalitions, and there are "
            f"{context.n_players} players (at most {MOST_STAGED} here); define it by evaluate=, which may ask "
            "context.value_of(coalitions), or group features with groups=."
        )
        raise ValueError(msg)


class RowTerms:
    """What the coalitions along the rankings of one game add to an additive utility.

    `table` holds the terms of all coalitions where the utility is a user's own stage, else None.

    Args:
        context: The context of the games.
        utility: An additive utility.
        row: Which game.
        dividends: Its dividends, if the caller has them already.
    """

    def __init__(
        self, context: SparseContext, utility: Utility, row: int, dividends: SparseDividends | None = None
    ) -> None:
        games = context.games
        self.utility = utility
        self.full = float(np.reshape(games.full, -1)[row])
        self.base = float(np.reshape(games.base, -1)[row])
        self.target: Any = None if context.target is None else np.reshape(context.target, -1)[row]
        self.threshold = games.threshold
        self.dividends = games.dividends(row) if dividends is None else dividends
        self.competing = games.competing and utility.needs_target and utility.pointwise is not None
        self.rivals = list(games.rivals(row)) if self.competing else []
        self.table: NDArray[np.float64] | None = None
        if utility.pointwise is None:
            single = SparseContext(games, self.target, row)
            assert utility.stage is not None  # noqa: S101 - additive
            table = np.asarray(utility.stage(cast("Context", single)), dtype=np.float64)
            if table.shape != (1 << games.n_players,) or not np.all(np.isfinite(table)):
                msg = (
                    f"stage of utility {utility.name!r} returned shape {table.shape} for one game of "
                    f"{games.n_players} players; expected {(1 << games.n_players,)}, all finite."
                )
                raise ValueError(msg)
            self.table = table

    def of_values(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The terms of coalitions with these values: (..., m) -> (..., m), or (classes, m) -> (m,)."""
        if self.competing:
            return np.asarray(np.argmax(values, axis=0) == self.target, dtype=np.float64)
        assert self.utility.pointwise is not None  # noqa: S101 - the callers have asked
        full = np.float64(self.full)
        return np.asarray(self.utility.pointwise(values, full, self.target, self.threshold), dtype=np.float64)

    def along(self, order: NDArray[Any]) -> NDArray[np.float64]:
        """The terms of I(1), ..., I(n) of a ranking, shape (n,)."""
        if self.table is not None:
            return np.asarray(self.table[np.cumsum(np.left_shift(1, np.asarray(order, dtype=np.int64)))])
        exclusion = self.utility.side == "exclusion"

        def values(game: SparseDividends) -> NDArray[np.float64]:
            return (game.suffix_values(order) if exclusion else game.prefix_values(order))[1:]

        if self.competing:
            return self.of_values(np.array([values(game) for game in self.rivals]))
        reached = values(self.dividends)
        if len(reached):  # the last coalition is the one both are known of without a sum
            reached[-1] = self.base if exclusion else self.full
        return self.of_values(reached)

    def score(self, attributions: NDArray[np.float64]) -> float:
        """The utility of attributions, shape (n,), by the public rule for ties."""
        return float(np.sum(self.along(ranking(attributions))))


def score_rows(context: SparseContext, utility: Utility, attributions: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score of every game: (..., n) -> (...)."""
    check_utility(context, utility)
    lead, n_players = context.games.lead, context.n_players
    whole = np.broadcast_to(attributions, (*lead, n_players))
    if utility.evaluate is not None:
        return evaluated(context, utility, whole)
    flat = whole.reshape(-1, n_players)
    scores = [RowTerms(context, utility, row).score(flat[row]) for row in range(prod(lead))]
    return np.array(scores, dtype=np.float64).reshape(lead)


def evaluated(context: SparseContext, utility: Utility, attributions: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a user's own function says of attributions (..., n), checked: shape (...)."""
    assert utility.evaluate is not None  # noqa: S101 - the callers have asked
    result = np.asarray(utility.evaluate(attributions, cast("Context", context)), dtype=np.float64)
    if result.shape != attributions.shape[:-1]:
        msg = f"evaluate of utility {utility.name!r} returned shape {result.shape}; expected {attributions.shape[:-1]}."
        raise ValueError(msg)
    if np.any(np.isnan(result)):
        msg = f"evaluate of utility {utility.name!r} returned NaN."
        raise ValueError(msg)
    return result


def checked_attributions(attributions: Any, context: SparseContext) -> NDArray[np.float64]:
    """Finite attributions with n entries and leading axes that fit the games."""
    given = np.asarray(attributions)
    if given.dtype.kind not in "fiub":
        msg = f"attributions have dtype {given.dtype}; allowed: real numbers."
        raise TypeError(msg)
    if given.shape[-1:] != (context.n_players,):
        msg = f"attributions have shape {given.shape}; the last axis must hold {context.n_players} players."
        raise ValueError(msg)
    try:
        np.broadcast_to(given[..., 0] if context.n_players else np.zeros(given.shape[:-1]), context.games.lead)
    except ValueError:
        lead = context.games.lead
        msg = f"attributions have shape {given.shape}; the leading axes must match {lead}, those of the games."
        raise ValueError(msg) from None
    if not np.all(np.isfinite(given)):
        msg = "attributions hold NaN or infinity; only finite attributions can be ranked."
        raise ValueError(msg)
    return given.astype(np.float64)
