"""Games of tree ensembles: attributions from tables, dividends of a row made when somebody asks."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from taylorpoda._support.memory import human_bytes, parse_memory
from taylorpoda._support.seeds import resolve_seed
from taylorpoda.allocation.options import Options
from taylorpoda.allocation.sparse import allocate_sparse, score_sparse
from taylorpoda.dividends.trees import make_game
from taylorpoda.dividends.trees.ensemble import FunctionEncoder
from taylorpoda.engines.base import SolvedGames
from taylorpoda.engines.tree_quantity import Reading
from taylorpoda.engines.tree_storage import ANSWERS, adds_up, answers_of_arrays, arrays_of_forest, forest_of_arrays

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from taylorpoda.allocation.result import Allocation
    from taylorpoda.dividends.sparse import SparseDividends
    from taylorpoda.dividends.trees import Ensemble, TreeGame
    from taylorpoda.utilities import Utility

_CACHED_SHARE = 16  # of max_memory that the dividends of rows may take while they are at hand
_ANSWERS = {"base", "full", "shapley"}  # what a file holds beside the trees, and a part of the games keeps


@dataclass(frozen=True, eq=False)
class Forest:
    """An ensemble bound to players and to what stands in for absent ones; everything an explained row is put into.

    Attributes:
        ensemble: The trees.
        player_of_feature: Shape (features,).
        background: Columns of the background rows, (columns, background rows), or None for path-dependent.
        weights: Shape (background rows,), or None for equal ones.
        max_memory: Bytes that tables may take.
        n_jobs: Threads for rows.
    """

    ensemble: Ensemble
    player_of_feature: NDArray[np.int64]
    background: NDArray[np.float64] | None
    weights: NDArray[np.float64] | None
    max_memory: int
    n_jobs: int | None = None

    @cached_property
    def game(self) -> TreeGame:
        """The games in closed form; its tables are made when first needed.

        Raises:
            UnsupportedTreesError: If too many players meet on a path.
            ValueError: If the game is path-dependent and the model does not store its training weights.
        """
        encoded = replace(self.ensemble, encoder=FunctionEncoder(lambda columns: columns))
        return make_game(
            encoded,
            self.player_of_feature,
            self.background,
            self.weights,
            max_memory=self.max_memory,
            n_jobs=self.n_jobs,
        )


@dataclass(frozen=True, eq=False)
class TreeGames(SolvedGames):
    """Games of some rows under one ensemble; nothing is computed before it is asked for.

    Attributes:
        forest: The trees and their background.
        columns: Shape (columns, rows): the explained rows as the trees read them.
        reading: Which sums are explained.
        threshold: Values above it are labeled 1 by the AUC utilities.
        competing: Whether the columns of a call are classes that compete for the label.
        stored: Whether they come out of a file, whose parts may contradict each other.
    """

    engine: ClassVar[str] = "trees"
    forest: Forest
    columns: NDArray[np.float64]
    reading: Reading
    threshold: float = 0.5
    competing: bool = False
    stored: bool = False
    _kept: OrderedDict[int, list[SparseDividends]] = field(default_factory=OrderedDict, init=False, repr=False)

    @cached_property
    def n_players(self) -> int:  # type: ignore[override]
        """Players of every game."""
        return int(self.forest.player_of_feature.max(initial=-1)) + 1

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return int(self.columns.shape[1])

    @cached_property
    def _sums(self) -> NDArray[np.intp]:
        return self.reading.sums[self.reading.explained]

    @cached_property
    def _signs(self) -> NDArray[np.float64]:
        return self.reading.signs[self.reading.explained]

    @cached_property
    def full(self) -> NDArray[np.float64]:
        """v(N): the float64 sum of the leaves."""
        return self.forest.game.full(self.columns)[:, self._sums] * self._signs

    @cached_property
    def base(self) -> NDArray[np.float64]:
        """v(empty)."""
        return np.tile(self.forest.game.empty[self._sums] * self._signs, (self.n_rows, 1))

    @cached_property
    def shapley(self) -> NDArray[np.float64]:
        """The Shapley values, shape (rows, outputs, n)."""
        found = self.forest.game.attributions(self.columns)
        if np.array_equal(self._sums, np.arange(found.shape[1])) and bool(np.all(self._signs == 1)):
            return found
        return found[:, self._sums] * self._signs[:, None]

    def dividends(self, row: int, output: int) -> SparseDividends:
        """The dividends of one game that are not zero, and v(empty)."""
        return self._signed(self._row(row)[self._sums[output]], self._signs[output])

    def rivals(self, row: int) -> list[SparseDividends]:
        """The games of all classes of a row, in the order of the columns of a call."""
        found = self._row(row)
        return [self._signed(found[k], sign) for k, sign in zip(self.reading.sums, self.reading.signs, strict=True)]

    @staticmethod
    def _signed(dividends: SparseDividends, sign: float) -> SparseDividends:
        return dividends if sign == 1 else dividends * float(sign)

    def _row(self, row: int) -> list[SparseDividends]:
        """The dividends of all sums of a row; the latest rows stay at hand within a share of the memory."""
        kept = self._kept.pop(row, None)
        if kept is None:
            kept = self.forest.game.dividends(self.columns, row)
            if self.stored:
                self._check_stored(row, kept)
            room = self.forest.max_memory // _CACHED_SHARE
            while self._kept and (len(self._kept) + 1) * _bytes_of(kept) > room:
                self._kept.popitem(last=False)
        self._kept[row] = kept
        return kept

    def _check_stored(self, row: int, found: list[SparseDividends]) -> None:
        """Refuse trees whose dividends add up to something else than the v(N) of the same file."""
        games = [self._signed(found[k], sign) for k, sign in zip(self._sums, self._signs, strict=True)]
        for game, full in zip(games, self.full[row], strict=True):
            if not adds_up(game.values.sum(), full, game.values):
                msg = f"the stored trees give row {row} another prediction than the one stored beside them."
                raise ValueError(msg)

    def allocate(
        self,
        *,
        policy: str,
        utility: str | Utility,
        target: NDArray[np.float64] | None,
        options: Mapping[str, Any],
    ) -> Allocation:
        """Allocate every game from its dividends."""
        given = dict(options)
        seed = resolve_seed(given.pop("random_state", None))
        return allocate_sparse(FlatGames(self), utility, policy, target, Options(**given, seed=seed))

    def score(
        self, attributions: NDArray[np.float64], utility: str | Utility, target: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Score attributions from the dividends."""
        return score_sparse(attributions, FlatGames(self), utility, target)

    def interactions(self, order: int) -> NDArray[np.float64]:
        """Dividends by up to `order` players; indices that repeat name the smaller set.

        Raises:
            ValueError: If the array does not fit the memory.
        """
        n, outputs = self.n_players, len(self._sums)
        each = 8.0 * outputs * float(n) ** order
        if each * self.n_rows > self.forest.max_memory:
            most = int(self.forest.max_memory // each)
            way = f"take at most {most} rows at a time, explanation[:{most}]" if most else "choose a smaller order"
            msg = (
                f"order={order}: the interactions of {self.n_rows} rows x {outputs} outputs x {n} players take "
                f"{human_bytes(each * self.n_rows)}, more than max_memory={human_bytes(self.forest.max_memory)}; "
                f"{way}, or read dividends(row), which lists only those that are not zero."
            )
            raise ValueError(msg)
        result = np.zeros((self.n_rows, outputs, *(n,) * order))
        for row, output in itertools.product(range(self.n_rows), range(outputs)):
            _scatter(self.dividends(row, output), order, result[row, output])
        return result

    def take(self, rows: Any, outputs: Any) -> TreeGames:
        """Some rows and outputs; what is known of them stays known."""
        reading = replace(self.reading, explained=self.reading.explained[outputs])
        taken = replace(self, columns=np.ascontiguousarray(self.columns[:, rows]), reading=reading)
        for name in _ANSWERS & self.__dict__.keys():
            taken.__dict__[name] = self.__dict__[name][rows][:, outputs]
        return taken

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The trees, the background and the rows: from them every dividend is found again, to the bit.

        What is read most, v(N), v(empty) and the Shapley values, stands beside them.
        """
        forest = self.forest
        return {
            **arrays_of_forest(forest.ensemble, forest.player_of_feature, forest.background, forest.weights),
            **{f"{ANSWERS}{name}": np.ascontiguousarray(getattr(self, name)) for name in sorted(_ANSWERS)},
            "columns": self.columns,
            "sums": self.reading.sums.astype(np.int64),
            "signs": self.reading.signs,
            "explained": self.reading.explained.astype(np.int64),
            "label_above": np.array(self.threshold),
            "competing": np.array(self.competing),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> TreeGames:
        """Rebuild from `to_arrays`, checked: the arrays may come out of any file."""
        ensemble, players, background, weights, columns = forest_of_arrays(arrays)
        reading = Reading(
            arrays["sums"].astype(np.intp), arrays["signs"].astype(np.float64), arrays["explained"].astype(np.intp)
        )
        places = len(reading.sums)
        if (
            any(part.ndim != 1 for part in (reading.sums, reading.signs, reading.explained))
            or reading.signs.shape != reading.sums.shape
            or not np.isfinite(reading.signs).all()
            or not ((reading.sums >= 0) & (reading.sums < ensemble.n_outputs)).all()
            or not ((reading.explained >= 0) & (reading.explained < places)).all()
        ):
            msg = "the outputs of the games do not belong to their trees"
            raise ValueError(msg)
        forest = Forest(ensemble, players, background, weights, parse_memory(None))
        above, competing = float(arrays["label_above"]), bool(arrays["competing"])
        games = cls(forest, columns, reading, above, competing, stored=True)
        known = answers_of_arrays(arrays, games.n_rows, len(reading.explained), games.n_players)
        games.__dict__.update(known)
        return games


@dataclass(frozen=True, eq=False)
class FlatGames:
    """Tree games as policies on sparse dividends ask for them: rows counted over (rows, outputs), outputs fastest."""

    games: TreeGames

    @property
    def lead(self) -> tuple[int, ...]:
        """(rows, outputs)."""
        return self.games.n_rows, len(self.games.reading.explained)

    @property
    def n_players(self) -> int:
        """Players of every game."""
        return self.games.n_players

    @property
    def base(self) -> NDArray[np.float64]:
        """v(empty), shape (rows, outputs)."""
        return self.games.base

    @property
    def full(self) -> NDArray[np.float64]:
        """v(N), shape (rows, outputs)."""
        return self.games.full

    @property
    def shapley(self) -> NDArray[np.float64]:
        """Shape (rows, outputs, n)."""
        return self.games.shapley

    @property
    def threshold(self) -> float:
        """Values above it are labeled 1."""
        return self.games.threshold

    @property
    def competing(self) -> bool:
        """Whether classes compete for the label."""
        return self.games.competing

    def dividends(self, row: int) -> SparseDividends:
        """The dividends of one game."""
        return self.games.dividends(*divmod(row, self.lead[1]))

    def rivals(self, row: int) -> Sequence[SparseDividends]:
        """The games of all classes of the row that game `row` explains."""
        return self.games.rivals(row // self.lead[1])


def _bytes_of(games: list[SparseDividends]) -> int:
    """Roughly what the dividends of a row take, with the bitsets that are made on first use."""
    return sum(
        game.values.nbytes + game.coalitions.members.nbytes * 3 + game.coalitions.indptr.nbytes * 2 for game in games
    )


def _scatter(dividends: SparseDividends, order: int, result: NDArray[np.float64]) -> None:
    """Write each dividend of up to `order` players at every index that names its players."""
    coalitions = dividends.coalitions
    for size in range(1, order + 1):
        listed = np.flatnonzero(coalitions.sizes == size)
        members = coalitions.members[coalitions.indptr[listed][:, None] + np.arange(size)]
        for places in itertools.product(range(size), repeat=order):
            if len(set(places)) == size:
                result[tuple(members[:, place] for place in places)] = dividends.values[listed]
