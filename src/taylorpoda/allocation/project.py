"""`project`: the admissible attribution nearest to any reference vector."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.arrays import as_table, to_numpy
from taylorpoda.allocation.admissible import AdmissibleSet
from taylorpoda.allocation.game import Games, double, flat_row
from taylorpoda.allocation.options import Options
from taylorpoda.allocation.result import Allocation, kind_of
from taylorpoda.allocation.yardstick import Yardstick
from taylorpoda.utilities import Context, make_context, resolve, score_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.result import ShareView
    from taylorpoda.utilities import Utility

_INSIDE = 1e-12  # relative to the scale: a reference this near to the set is its own projection
_PROVEN = 1e-9  # relative to the distance and to the smaller of distance and set: squared distances closer are equal
_ROUNDING = 1e-15  # of a product of the distance and a vertex, per player


def project(
    values: Any,
    reference: Any,
    utility: str | Utility | None = None,
    target: Any = None,
    *,
    threshold: float = 0.5,
    labels: Any = None,
) -> Allocation:
    """Make any attribution admissible with the least change.

    The projection keeps what the postulates demand: interactions go to their members only, in shares from 0 to 1, and
    the sum is v(N) - v(empty).

    Args:
        values: Shape (..., 2**n), numpy or torch: v of every coalition.
        reference: Shape (..., n), leading axes that broadcast to those of `values`: where it should be near to, in
            Euclidean distance. For instance the answer of another method, or what a domain expert expects.
        utility: What `score`, `bound` and the like of the result refer to; without one they raise.
        target: The labels y, for the AUC utilities.
        threshold: Values above it are labeled 1.
        labels: The class predicted from each coalition, where several outputs compete.

    Returns:
        An `Allocation` with policy "project"; `nearest_certified` says whether the projection is proven. `shares`
        come from the vertices that the projection is made of.

    Raises:
        ValueError: If a table or the reference is not allowed.
        TypeError: If something has the wrong type.

    Example:
        >>> import numpy as np
        >>> project(np.array([0.0, 1.0, 2.0, 5.0]), np.array([0.0, 5.0])).attributions
        array([1., 4.])
    """
    if utility is None:
        known = None
        context = Context(as_table(values)[1])
    else:
        known = resolve(utility)
        context = make_context(values, known, target, threshold=threshold, labels=labels)
    games = Games(double(context))
    points = _references(games, reference)
    rows = to_numpy(games.values).reshape(prod(games.lead), 1 << games.n_players)
    result, proven = np.empty_like(points), np.empty(len(rows), dtype=np.bool_)
    for row, table in enumerate(rows):
        result[row], proven[row] = _nearest(AdmissibleSet(table), points[row])
    attributions = kind_of(games.values, result.reshape(*games.lead, games.n_players))
    proof = ProjectedProof(games, known, attributions, proven)
    name = None if known is None else known.name
    return Allocation(attributions, games.context.base_value, "project", name, proof)


def _nearest(admissible: AdmissibleSet, point: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]:
    if admissible.contains(point, tolerance=_INSIDE):
        return point, True
    corral = admissible.corral(point)
    # The squared distance could still come down by at most twice the gap; both are in units of about the scale.
    width = float(np.max(admissible.upper - admissible.lower, initial=0.0)) / (admissible.scale or 1.0)
    largest = float(np.max(abs(corral.member), initial=0.0)) + width
    distance = float(np.linalg.norm(corral.point))
    near = min(distance, largest)  # from far away all members are about as near: the difference is what counts
    rounding = _ROUNDING * admissible.n_players * largest * max(distance, largest)
    return admissible.closed(corral), corral.gap <= max(_PROVEN * distance * near, rounding)


def _references(games: Games, reference: Any) -> NDArray[np.float64]:
    given = np.asarray(to_numpy(reference))
    shape = (*games.lead, games.n_players)
    if given.dtype.kind not in "fiub":
        msg = f"reference has dtype {given.dtype}; allowed: real numbers."
        raise TypeError(msg)
    try:
        spread = np.broadcast_to(given, shape)
    except ValueError:
        msg = f"reference has shape {given.shape}; it must broadcast to {shape}, one vector of n players per row."
        raise ValueError(msg) from None
    if not np.all(np.isfinite(given)):
        msg = "reference holds NaN or infinity."
        raise ValueError(msg)
    return spread.astype(np.float64).reshape(prod(games.lead), games.n_players)


@dataclass(frozen=True, eq=False)
class ProjectedProof:
    """What can be said about a projection.

    Attributes:
        games: The games.
        utility: What judges it, or None.
        attributions: The projection, of the kind of the table.
        proven: Shape (rows,): whether it is proven nearest to the reference.
    """

    games: Games
    utility: Utility | None
    attributions: Any
    proven: NDArray[np.bool_]

    def _judge(self) -> Utility:
        if self.utility is None:
            msg = "this projection was made for no utility; give project a utility= (and target=) to score it."
            raise ValueError(msg)
        return self.utility

    @cached_property
    def _yardstick(self) -> Yardstick:
        return Yardstick(self.games, self._judge(), Options(), self.attributions)

    def score(self) -> Any:
        """By the public rule."""
        return score_in(self.games.context, self._judge(), self.attributions)

    def shapley_score(self) -> Any:
        """By the public rule."""
        return score_in(self.games.context, self._judge(), self.games.shapley)

    def bound(self) -> Any:
        """By the search of policy="optimal", run now."""
        return self._yardstick.bound()

    def ceiling(self) -> Any:
        """By the lattice alone."""
        return self._yardstick.ceiling()

    def certified(self) -> Any:
        """By the search of policy="optimal", run now."""
        return self._yardstick.certified()

    def nearest_certified(self) -> Any:
        """Whether no member is nearer to the reference, shape (...)."""
        return kind_of(self.games.values, self.proven.reshape(self.games.lead))

    def intervals(self) -> tuple[Any, Any]:
        """In closed form."""
        return self.games.intervals

    def shares(self, row: int) -> ShareView:
        """From vertices whose convex combination the projection is."""
        table = flat_row(to_numpy(self.games.values), row)
        return AdmissibleSet(table).shares(flat_row(to_numpy(self.attributions), row))
