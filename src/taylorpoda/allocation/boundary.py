"""The submodular function g whose base polytope is the set of all admissible attributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda.allocation.intervals import interaction_parts
from taylorpoda.dividends.dense import harsanyi, shapley_of, values_from

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIXED = 2.0  # a player whose interval is at most this many margins wide is fixed
NULL = 1e-12  # a player without any dividend above this share of the scale is null
_RIGID = 1e-11  # in units of the game: an interval no wider is a number
_PRODUCT = 1e-15  # per player: of a sum over g
_SAME = 1e-12  # in units of the game: numbers of rigid players that agree so far are the same


def boundary(values: NDArray[np.float64], dividends: NDArray[np.float64]) -> NDArray[np.float64]:
    """g(T) = v(T) - v(empty) + the sum of H+(S) over the interactions S that T cuts in two.

    Equal to the sum over i in T of H({i}), plus H+(S) over |S| > 1 that meet T, minus H-(S) over |S| > 1 inside T: an
    interaction inside T is worth H(S) to T in all, one outside nothing, and one that T cuts in two can give T all of
    H+(S) and none of -H-(S).

    Args:
        values: Shape (..., 2**n).
        dividends: Their Harsanyi dividends.

    Returns:
        Shape (..., 2**n); zero at 0 and v(N) - v(empty) at the last entry.
    """
    gains, _ = interaction_parts(dividends)
    within = values_from(gains)
    cut = within[..., -1:] - within
    cut -= within[..., ::-1]
    # Rounding must not make g smaller than what it is at the ends, where nothing is cut.
    cut[..., 0] = 0.0
    cut[..., -1] = 0.0
    cut += values
    cut -= values[..., :1]
    return cut


def rounding_of(boundary: NDArray[np.float64]) -> NDArray[np.float64]:
    """More than what rounding does to g, for games in units of about their scale: (..., 2**n) -> (...).

    The first term is for sums of large dividends. The second is for those of small ones: a dividend of k players adds
    up 2**k values, whose rounding is about the root of that, and over all coalitions this comes to (1 + sqrt(2))**n.
    """
    n_players = boundary.shape[-1].bit_length() - 1
    size: NDArray[np.float64] = np.max(abs(boundary), axis=-1)
    small = float(np.finfo(np.float64).eps) * float(1.0 + np.sqrt(2.0)) ** n_players
    rounding: NDArray[np.float64] = _PRODUCT * n_players * size + small
    return rounding


@dataclass(frozen=True, eq=False)
class Polytopes:
    """The admissible sets of several games, in units of about their scales.

    Attributes:
        unit: Shape (rows,): a power of two, so that scaling is exact, at least the scale and less than twice.
        scale: Shape (rows,): max |v - v(empty)| in these units, from 0.5 to 1, or 0.
        boundary: Shape (rows, 2**n): g.
        shapley: Shape (rows, n).
        lower: Shape (rows, n).
        upper: Shape (rows, n).
        null: Shape (rows, n): who has no dividend to speak of.
        rigid: Shape (rows, n): whose attribution is a number; sizes that differ by rounding only are made equal in
            `shapley`, so that such ties go by index.
        tolerance: Shape (rows,): how far rounding may carry a sum of attributions over g.
        rounding: Shape (rows,): more than what rounding does to g itself.
    """

    unit: NDArray[np.float64]
    scale: NDArray[np.float64]
    boundary: NDArray[np.float64]
    shapley: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    null: NDArray[np.bool_]
    rigid: NDArray[np.bool_]
    tolerance: NDArray[np.float64]
    rounding: NDArray[np.float64]

    @property
    def total(self) -> NDArray[np.float64]:
        """v(N) - v(empty), shape (rows,)."""
        return self.boundary[:, -1]

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Polytopes:
        """The admissible sets of a table of shape (rows, 2**n)."""
        n_players = values.shape[1].bit_length() - 1
        moved = values - values[:, :1]
        largest = np.max(abs(moved), axis=1)
        unit = np.where(largest > 0, np.ldexp(1.0, np.frexp(largest)[1]), 1.0)
        moved /= unit[:, None]
        scale = largest / unit
        dividends = harsanyi(moved)
        g = boundary(moved, dividends)
        single = np.left_shift(1, np.arange(n_players))
        lower = g[:, -1:] - g[:, (1 << n_players) - 1 - single]
        upper = g[:, single]
        rigid = upper - lower <= _RIGID
        shapley = _with_ties(shapley_of(moved), rigid)
        null = _null_players(dividends, upper - lower, scale)
        rounding = rounding_of(g)
        tolerance = 1e-10 + _PRODUCT * n_players * np.max(abs(g), axis=1)
        # A player with nothing to share has exactly one admissible attribution, and it lies in its interval.
        lower = np.minimum(lower, shapley)
        upper = np.maximum(upper, shapley)
        return cls(unit, scale, g, shapley, lower, upper, null, rigid, tolerance, rounding)


def _with_ties(values: NDArray[np.float64], rigid: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Sizes of rigid players that differ by rounding only, made equal."""
    n_players = values.shape[1]
    tied = np.flatnonzero(np.sum(rigid, axis=1) > 1)
    if not len(tied):
        return values
    size = np.where(rigid[tied], abs(values[tied]), -1.0)
    order = np.argsort(-size, axis=1, kind="stable")
    ranked = np.take_along_axis(size, order, axis=1)
    leads = np.zeros(ranked.shape, dtype=np.intp)
    leads[:, 1:] = np.where(ranked[:, 1:] < ranked[:, :-1] - _SAME, np.arange(1, n_players), 0)
    ranked = np.take_along_axis(ranked, np.maximum.accumulate(leads, axis=1), axis=1)
    np.put_along_axis(size, order, ranked, axis=1)
    values[tied] = np.where(rigid[tied], np.copysign(size, values[tied]), values[tied])
    return values


def _null_players(
    dividends: NDArray[np.float64], width: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.bool_]:
    length = dividends.shape[1]
    n_players = width.shape[1]
    limit = NULL * scale
    null = np.zeros(width.shape, dtype=np.bool_)
    # Nobody without a dividend has a wide interval: most players are ruled out without a pass over the table.
    candidates = width <= limit[:, None] * length
    for player in range(n_players):
        rows = np.flatnonzero(candidates[:, player])
        if len(rows):
            halves = dividends[rows].reshape(len(rows), length >> (player + 1), 2, 1 << player)
            null[rows, player] = np.max(abs(halves[:, :, 1, :]), axis=(1, 2)) <= limit[rows]
    return null
