"""Explanation: one number per feature, the proof that comes with it, and the stored game to allocate anew."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.choices import check_choice
from taylorpoda.explanation import accessors, export
from taylorpoda.explanation.html import explanation_html
from taylorpoda.explanation.slicing import sliced
from taylorpoda.explanation.subject import row_positions
from taylorpoda.utilities import REGISTRY

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from taylorpoda.allocation.result import Allocation
    from taylorpoda.engines.base import SolvedGames
    from taylorpoda.explanation.subject import Subject
    from taylorpoda.utilities import Utility

_TOLERANCE = 1e-9


class DiscrepancyError(ArithmeticError):
    """Attributions that do not add up although their policy promises that they do."""


def _whole(parameter: str, value: object) -> int:
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        msg = f"{parameter}={value!r} has type {type(value).__name__}; allowed: an integer."
        raise TypeError(msg) from None


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to: the table behind it serves every later question."""
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The attributions of some predictions.

    Axes: rows first, features second, outputs last and only where several are explained.

    Attributes:
        games: The solved games everything is computed from.
        allocation: The attributions and their proof, axes (rows, outputs, n).
        subject: The rows, features, outputs and labels.
        policy: How interactions were split.
        utility: What the split serves.
        provenance: Where the numbers come from: engine, value function, model rows evaluated, seed, versions.
        options: The policy's options, reused by `reallocate`.
        rounding: The model's own answer minus v(N), shape (rows[, outputs]); zero for the exact engine.
    """

    games: SolvedGames
    allocation: Allocation
    subject: Subject
    policy: str
    utility: Utility
    provenance: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    gap_to_model: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "provenance", MappingProxyType(dict(self.provenance)))
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        worst = float(np.max(np.abs(self._excess), initial=0.0))
        if worst > 0:
            scale = np.maximum(np.abs(self.games.full), np.abs(self.games.base))
            scale = np.maximum(scale, np.abs(np.asarray(self.allocation.attributions)).max(axis=-1, initial=0.0))
            if bool((np.abs(self._excess) > _TOLERANCE * scale).any()):
                msg = f"policy={self.policy!r} promises base + attributions = prediction, but {worst:g} is left over."
                raise DiscrepancyError(msg)

    @property
    def _excess(self) -> NDArray[np.float64]:
        attributions = np.asarray(self.allocation.attributions)
        return np.asarray(self.games.base + attributions.sum(axis=-1) - self.games.full)

    def _public(self, array: Any) -> NDArray[Any]:
        """(rows, outputs) to (rows[, outputs])."""
        whole = np.asarray(array)
        return _read_only(whole[:, 0] if self.subject.single else whole)

    def _public_features(self, array: Any) -> NDArray[Any]:
        """(rows, outputs, n) to (rows, n[, outputs])."""
        whole = np.asarray(array)
        return _read_only(whole[:, 0] if self.subject.single else np.moveaxis(whole, 1, 2))

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The attributions, shape (rows, n[, outputs])."""
        return self._public_features(self.allocation.attributions)

    @property
    def base_values(self) -> NDArray[np.float64]:
        """v(empty), shape (rows[, outputs])."""
        return self._public(self.games.base)

    @property
    def predictions(self) -> NDArray[np.float64]:
        """v(N), what the attributions and the base add up to, shape (rows[, outputs])."""
        return self._public(self.games.full)

    @property
    def data(self) -> Any:
        """The explained rows, in the container they came in."""
        return self.subject.rows.native()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name per feature (or group)."""
        return self.subject.feature_names

    @property
    def output_names(self) -> tuple[str, ...] | None:
        """One name per output, or None where a single output has none."""
        return self.subject.output_names

    @property
    def engine(self) -> str:
        """How the games were solved."""
        return self.games.engine

    @cached_property
    def lower(self) -> NDArray[np.float64]:
        """The smallest attribution any admissible split can give, shape (rows, n[, outputs])."""
        return self._public_features(self.allocation.lower)

    @cached_property
    def upper(self) -> NDArray[np.float64]:
        """The largest attribution any admissible split can give, shape (rows, n[, outputs])."""
        return self._public_features(self.allocation.upper)

    @cached_property
    def score(self) -> NDArray[np.float64]:
        """The utility of these attributions, shape (rows[, outputs])."""
        return self._public(self.allocation.score)

    @cached_property
    def shapley_score(self) -> NDArray[np.float64]:
        """The utility of the Shapley values, shape (rows[, outputs])."""
        return self._public(self.allocation.shapley_score)

    @cached_property
    def bound(self) -> NDArray[np.float64]:
        """The best utility any admissible attribution can have, as far as proven, shape (rows[, outputs])."""
        return self._public(self.allocation.bound)

    @cached_property
    def ceiling(self) -> NDArray[np.float64]:
        """The best utility any ranking at all could have, shape (rows[, outputs])."""
        return self._public(self.allocation.ceiling)

    @cached_property
    def certified(self) -> NDArray[np.bool_]:
        """Whether the score is proven best among all admissible attributions, shape (rows[, outputs])."""
        return self._public(self.allocation.certified)

    @cached_property
    def nearest_certified(self) -> NDArray[np.bool_]:
        """Whether the answer is proven nearest to Shapley among the best, shape (rows[, outputs])."""
        return self._public(self.allocation.nearest_certified)

    @property
    def discrepancy(self) -> NDArray[np.float64]:
        """Base plus sum of attributions minus prediction, shape (rows[, outputs]): zero but for rounding."""
        return self._public(self._excess)

    @property
    def rounding(self) -> NDArray[np.float64]:
        """The model's own answer minus `predictions`, shape (rows[, outputs])."""
        if self.gap_to_model is None:
            return _read_only(np.zeros(self.predictions.shape))
        return self._public(self.gap_to_model)

    def _one(self, row: int, output: object) -> tuple[int, int]:
        position = int(row_positions(_whole("row", row), len(self))[0])
        if output is None:
            if not self.subject.single and len(self.output_names or ()) > 1:
                names = self.output_names or ()
                msg = f"output=None, but {len(names)} outputs are explained; allowed: {list(names)}."
                raise ValueError(msg)
            return position, 0
        return position, self.subject.output_index(output)

    def dividends(self, row: int = 0, output: object = None) -> Any:
        """The Harsanyi dividends of one row (and output): shape (2**n,), or sparse from the trees engine."""
        return self.games.dividends(*self._one(row, output))

    def shares(self, row: int = 0, output: object = None) -> Mapping[int, NDArray[np.float64]]:
        """The shares behind one row: {subset index: one share per feature}, for subsets with a dividend."""
        position, k = self._one(row, output)
        return self.allocation.shares(position * self.games.full.shape[1] + k)

    def interactions(self, order: int = 2) -> NDArray[np.float64]:
        """The dividends of small sets: what features earn only together.

        Args:
            order: Largest set size.

        Returns:
            Shape (rows, n, ..., n[, outputs]) with `order` axes of n. Entry (i, j) is the dividend of {i, j}; repeated
            indices name the smaller set, so the diagonal holds what each feature earns alone.

        Raises:
            ValueError: If `order` is not between 1 and n.
        """
        wanted = _whole("order", order)
        if not 1 <= wanted <= self.games.n_players:
            msg = f"order={order!r} is out of range; allowed: 1 to {self.games.n_players}."
            raise ValueError(msg)
        sets = self.games.interactions(wanted)
        return sets[:, 0] if self.subject.single else np.moveaxis(sets, 1, -1)

    def scores(self, utility: str | Utility | None = None, y: Any = None) -> NDArray[np.float64]:
        """Score these attributions by any utility, from the stored game, without a model call.

        Args:
            utility: A name or a `Utility`; None is the one that was served.
            y: Labels, if the utility reads them and none were given before.

        Returns:
            Shape (rows[, outputs]).
        """
        chosen = self.utility if utility is None else utility
        target = self._target(y)
        return self._public(self.games.score(np.asarray(self.allocation.attributions), chosen, target))

    def _target(self, y: Any) -> NDArray[np.float64] | None:
        if y is None:
            return self.subject.target
        return self.subject.labels.encode(y, len(self))

    def reallocate(
        self, policy: str | None = None, utility: str | Utility | None = None, y: Any = None, **options: Any
    ) -> Explanation:
        """Split the stored dividends anew, without a model call.

        Args:
            policy: None keeps the policy.
            utility: None keeps the utility.
            y: Labels, if the utility reads them and none were given before.
            **options: What `taylorpoda.allocate` takes: candidates, alpha, draws, shares, margin, node_limit,
                time_limit, random_state. Others stay as they were.

        Returns:
            A new explanation of the same rows.
        """
        from taylorpoda.explanation.build import build

        known = ("candidates", "alpha", "draws", "shares", "margin", "node_limit", "time_limit", "random_state")
        for name in options:
            check_choice("option", name, known)
        kept = {name: value for name, value in self.options.items() if policy is None or name != "shares"}
        return build(
            self.games,
            self.subject.with_target(self._target(y)),
            policy=self.policy if policy is None else policy,
            utility=self.utility if utility is None else utility,
            options={**kept, **options},
            provenance=self.provenance,
            rounding=self.gap_to_model,
        )

    def __len__(self) -> int:
        return int(self.games.full.shape[0])

    def __getitem__(self, key: Any) -> Explanation:
        if isinstance(key, tuple) and len(key) != 2:
            msg = f"an explanation is sliced as [rows] or [rows, output], got {len(key)} subscripts."
            raise IndexError(msg)
        rows_key, output_key = key if isinstance(key, tuple) else (key, slice(None))
        rows = row_positions(rows_key, len(self))
        n_outputs = self.games.full.shape[1]
        if isinstance(output_key, slice) or output_key is Ellipsis:
            outputs = np.arange(n_outputs)[output_key if isinstance(output_key, slice) else slice(None)]
            single = self.subject.single
        elif isinstance(output_key, list | np.ndarray):
            outputs, single = self.subject.output_positions(output_key), False
        else:
            outputs, single = np.array([self.subject.output_index(output_key)]), True
        gap = None if self.gap_to_model is None else self.gap_to_model[np.ix_(rows, outputs)]
        return Explanation(
            games=self.games.take(rows, outputs),
            allocation=sliced(self.allocation, rows, outputs),
            subject=self.subject.take(rows, outputs, single=single),
            policy=self.policy,
            utility=self.utility,
            provenance=self.provenance,
            options=self.options,
            gap_to_model=gap,
        )

    def to_frame(self, output: object = None) -> Any:
        """The attributions as a DataFrame, one row per explained row, in the kind of container that came in."""
        return export.to_frame(self, output)

    def to_shap(self) -> Any:
        """A `shap.Explanation` with the same values, base values, data and names."""
        return export.to_shap(self)

    def to_shapiq(self, row: int = 0, output: object = None, *, order: int | None = None) -> Any:
        """The Harsanyi dividends of one row as `shapiq.InteractionValues` with index "Moebius".

        Args:
            row: Which row.
            output: Which of several outputs.
            order: The largest set size; None for all.
        """
        return export.to_shapiq(self, row, output, order)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, under exactly this name; `taylorpoda.load` reads it without the model.

        Args:
            path: The file; nothing is appended. An existing file is replaced once the new one is whole.

        Raises:
            TypeError: If the rows hold something that cannot be stored.
        """
        from taylorpoda.explanation.storage import save

        save(self, path)

    def __reduce__(self) -> tuple[Any, ...]:
        from taylorpoda.explanation.storage import dumps, loads

        builtin = self.utility.name in REGISTRY and REGISTRY[self.utility.name] is self.utility
        return loads, (dumps(self), None if builtin else self.utility)

    def __copy__(self) -> Explanation:
        return self

    def __deepcopy__(self, memo: Any) -> Explanation:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if hasattr(type(self), name):
            # A property raised an AttributeError of its own: run it again, so that its message is the one that shows.
            return getattr(type(self), name).__get__(self)
        return accessors.resolve(name, self)

    def __repr__(self) -> str:
        return export.describe(self)

    def _repr_html_(self) -> str:
        return explanation_html(self)
