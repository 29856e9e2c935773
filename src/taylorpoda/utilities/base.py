"""What a utility is, and what it is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import array_api_compat

if TYPE_CHECKING:
    from collections.abc import Callable

Side = Literal["inclusion", "exclusion"]


class Pointwise(Protocol):
    """What one coalition adds to a built-in utility, elementwise and with broadcasting."""

    def __call__(self, value: Any, full_value: Any, target: Any, threshold: float) -> Any:
        """The term of a coalition with this value.

        Args:
            value: v of the coalition; for a utility that classifies several outputs, the predicted class.
            full_value: f(x).
            target: The label y, or None for utilities that do not read it.
            threshold: Values above it are labeled 1.

        Returns:
            The terms, same shape as `value`.
        """
        ...


@dataclass(frozen=True, eq=False)
class Context:
    """What a utility may know about the game it judges.

    Attributes:
        values: Shape (..., 2**n): v of every coalition; bit j of the last index is player j.
        target: Shape (...): the label of each row, or None.
        threshold: Values above it are labeled 1: 0.5, or 0.0 where margins or log-odds are explained.
        labels: Shape (..., 2**n): the class predicted from each coalition where several outputs compete, or
            None. The target is then a class index.
    """

    values: Any
    target: Any = None
    threshold: float = 0.5
    labels: Any = None

    @property
    def n_players(self) -> int:
        """How many players the game has."""
        return int(self.values.shape[-1]).bit_length() - 1

    @property
    def full_value(self) -> Any:
        """f(x), the value of the coalition of all players, shape (...)."""
        return self.values[..., self.values.shape[-1] - 1]

    @property
    def base_value(self) -> Any:
        """The value of the empty coalition, shape (...)."""
        return self.values[..., 0]

    def value_of(self, coalitions: Any) -> Any:
        """The values of coalitions given as membership rows.

        Args:
            coalitions: Boolean array of shape (..., m, n) that broadcasts against the leading axes.

        Returns:
            Array of shape (..., m).
        """
        xp = array_api_compat.array_namespace(self.values)
        present = xp.asarray(coalitions, device=array_api_compat.device(self.values))
        bits = xp.asarray([1 << player for player in range(self.n_players)], dtype=xp.int64)
        bits = array_api_compat.to_device(bits, array_api_compat.device(self.values))
        return take(self.values, xp.sum(xp.astype(present, xp.int64) * bits, axis=-1))


@dataclass(frozen=True, eq=False)
class Utility:
    """What "good" means: a number for every attribution of a game.

    Give either `stage` or `evaluate`. A `stage` utility is a sum along the ranking, sum over m of c(I(m))
    with I(m) the m features of largest absolute attribution: allocations can then be optimized and proven
    optimal. An `evaluate` utility is any function of the attributions; say `convex=True` (and give
    `gradient`) when it is convex where lower is better, or concave where higher is better, and the optimum
    is proven too. Otherwise it is searched.

    Attributes:
        name: How messages and results call it.
        stage: f(context) -> (..., 2**n), the table c.
        evaluate: f(attributions, context) -> (...), with attributions of shape (..., n).
        higher_is_better: The direction.
        gradient: f(attributions, context) -> (..., n), a (super- or sub-)gradient of `evaluate`.
        convex: Whether `evaluate` is convex (concave where higher is better) in the attributions.
        needs_target: Whether it reads the labels y.
        side: For the built-in six, whether coalitions or their complements are valued.
        pointwise: For the built-in six, what one coalition adds.

    Example:
        >>> import numpy as np
        >>> worst = Utility("first", stage=lambda context: abs(context.values), higher_is_better=False)
        >>> worst.additive
        True
    """

    name: str
    stage: Callable[[Context], Any] | None = field(default=None, kw_only=True)
    evaluate: Callable[[Any, Context], Any] | None = field(default=None, kw_only=True)
    higher_is_better: bool = field(default=True, kw_only=True)
    gradient: Callable[[Any, Context], Any] | None = field(default=None, kw_only=True)
    convex: bool = field(default=False, kw_only=True)
    needs_target: bool = field(default=False, kw_only=True)
    side: Side | None = field(default=None, kw_only=True)
    pointwise: Pointwise | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse a definition that cannot be evaluated."""
        if not isinstance(self.name, str):
            got = type(self.name).__name__
            msg = f"name={self.name!r} has type {got}; a utility needs a name, e.g. Utility('mine', ...)."
            raise TypeError(msg)
        if (self.stage is None) == (self.evaluate is None):
            msg = f"utility {self.name!r} needs exactly one of stage= and evaluate=."
            raise ValueError(msg)
        for parameter in ("stage", "evaluate", "gradient"):
            given = getattr(self, parameter)
            if given is not None and not callable(given):
                msg = f"{parameter}={given!r} of utility {self.name!r} is not callable."
                raise TypeError(msg)
        for parameter in ("higher_is_better", "convex", "needs_target"):
            given = getattr(self, parameter)
            if not isinstance(given, bool):
                msg = f"{parameter}={given!r} of utility {self.name!r} has type {type(given).__name__}; allowed: bool."
                raise TypeError(msg)
        if self.convex and (self.evaluate is None or self.gradient is None):
            msg = f"utility {self.name!r} says convex=True; it then needs evaluate= and gradient=."
            raise ValueError(msg)

    @property
    def additive(self) -> bool:
        """Whether it is a sum along the ranking."""
        return self.stage is not None

    def __repr__(self) -> str:
        """The name and what is known about it."""
        kind = "additive" if self.additive else "convex" if self.convex else "any function"
        better = "higher" if self.higher_is_better else "lower"
        return f"Utility({self.name!r}, {kind}, {better} is better)"


def take(table: Any, indices: Any) -> Any:
    """Entries of a table by subset index, leading axes broadcast: (..., 2**n), (..., m) -> (..., m)."""
    xp = array_api_compat.array_namespace(table)
    if table.ndim < indices.ndim:
        table = xp.reshape(table, (*(1,) * (indices.ndim - table.ndim), *table.shape))
    elif indices.ndim < table.ndim:
        indices = xp.reshape(indices, (*(1,) * (table.ndim - indices.ndim), *indices.shape))
    return xp.take_along_axis(table, indices, axis=-1)
