"""The trees engine: games in closed form wherever what is explained is a sum of leaves.

The sum is rebuilt from the model's own trees. Before it is believed, it is rebuilt a second time in the library's own
arithmetic and compared with what the library predicts, bit for bit, on the background and on every explained row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.memory import human_bytes
from taylorpoda.dividends.trees import UnsupportedTreesError
from taylorpoda.engines.base import Engine, Solution
from taylorpoda.engines.tree_games import Forest, TreeGames
from taylorpoda.engines.tree_quantity import NotLeavesError, leaves_of, owner_of, reading_of, without_threads
from taylorpoda.games.models import bind_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from taylorpoda.engines.base import Problem
    from taylorpoda.engines.tree_quantity import Reading
    from taylorpoda.games.models.base import BoundModel
    from taylorpoda.games.tables.base import Table

_LEAST = 2**20  # bytes that attributions may always take
_CHECKED_SHARE = 16  # of max_memory that checking a block of rows may take


class TreeEngine(Engine):
    """Reads the trees once; a row then costs one prediction, which is checked.

    Args:
        problem: What the explainer was asked.
        otherwise: Makes the engine that answers where the check fails on explained rows; None to raise instead.

    Raises:
        NotLeavesError: If the closed form does not hold; the message is a clause that says why.
    """

    name = "trees"

    def __init__(self, problem: Problem, otherwise: Callable[[Exception], Engine] | None = None) -> None:
        self._problem = problem
        self._model = problem.model
        self._otherwise = otherwise
        self._ensemble = leaves_of(problem)
        self._margin = None if problem.link is None else bind_model(owner_of(problem.estimator), output="raw")
        alone = without_threads(problem.estimator)
        self._serial = None if alone is None else bind_model(alone, output=problem.output, link=problem.link)
        background = None if problem.background is None else self._checked(problem.background, "background row")[0]
        self._forest = Forest(
            ensemble=self._ensemble,
            player_of_feature=np.asarray(problem.players.player_of_column, dtype=np.int64),
            background=background,
            weights=_unequal(problem.weights),
            max_memory=problem.max_memory,
            n_jobs=problem.n_jobs,
        )
        try:
            self._forest.game  # noqa: B018 - laid out now, so that trees that cannot be are refused now
        except UnsupportedTreesError as error:
            raise NotLeavesError(str(error)) from error
        self.reason = (
            f"{problem.model.name} is a sum of leaves ({self._ensemble.source}), so every game is known in closed form"
        )

    def solve(self, rows: Table) -> Solution:
        """The games of these rows; the model is asked once, and what it says must be what the trees say.

        Raises:
            ValueError: If it is not, and no other engine was allowed.
        """
        try:
            columns, predictions, reading = self._checked(rows, "explained row")
        except NotLeavesError as error:
            if self._otherwise is None:
                msg = f'engine="trees" cannot explain these rows: {error}'
                raise ValueError(msg) from error
            return self._otherwise(error).solve(rows)
        self._check_memory(rows.n_rows, len(columns))
        games = TreeGames(self._forest, columns, reading, self._model.threshold, self._model.competing)
        return Solution(games, predictions[:, reading.explained] - games.full, self)

    def _check_memory(self, rows: int, columns: int) -> None:
        """Refuse rows whose attributions do not fit; tables and dividends are bounded where they are made."""
        limit = self._problem.max_memory
        each = 8 * (columns + 2 * self._ensemble.n_outputs * self._problem.players.n_players)
        if each * rows > max(limit, _LEAST):
            msg = (
                f"the attributions of {rows:,} rows x {self._ensemble.n_outputs} outputs x "
                f"{self._problem.players.n_players} players take {human_bytes(each * rows)}, more than "
                f"max_memory={human_bytes(limit)}; explain at most {max(limit // each, 1):,} rows at a time, or raise "
                "max_memory."
            )
            raise ValueError(msg)

    def _checked(self, rows: Table, called: str) -> tuple[NDArray[np.float64], NDArray[np.float64], Reading]:
        """Rows as the trees read them, the model's answer, and what it means; refused unless both agree."""
        if not rows.n_rows:
            return self._none_of(rows)
        columns = self._encoded(rows)
        predictions = self._model(rows.copy().native(), rows.n_rows, lambda row: f"{called} {row}")
        reading = reading_of(self._ensemble, self._model)
        # A margin that is asked for beside a probability is the library's raw score, which it may divide first.
        checked = self._ensemble if self._margin is None else self._ensemble.raw or self._ensemble
        step = max(1, self._problem.max_memory // (_CHECKED_SHARE * 4 * max(1, self._ensemble.n_trees)))
        for start in range(0, rows.n_rows, step):
            block = np.arange(start, min(start + step, rows.n_rows))
            part = rows if len(block) == rows.n_rows else rows.take(block)
            own = checked.own_sum(part.native(), np.ascontiguousarray(columns[:, block]))
            if self._margin is None:
                rebuilt, said = reading.columns(own), predictions[block]
            else:
                rebuilt, said = np.asarray(own, dtype=np.float64), self._ask(self._margin, part)
            if np.array_equal(rebuilt, said):
                continue
            if self._serial is None or not np.array_equal(rebuilt, self._ask(self._serial, part)):
                raise NotLeavesError(_difference(self._ensemble.source, called, start, rebuilt, said))
        return columns, predictions, reading

    def _ask(self, model: BoundModel, rows: Table) -> NDArray[np.float64]:
        """What another form of the model answers; counted."""
        self.rows_besides += rows.n_rows
        return model(rows.copy().native(), rows.n_rows)

    def _encoded(self, rows: Table) -> NDArray[np.float64]:
        if rows.kind.startswith("scipy"):
            msg = "sparse rows leave open whether a cell that is not stored is zero or missing; pass a dense array."
            raise NotLeavesError(msg)
        try:
            return np.ascontiguousarray(self._ensemble.encoder.encode(rows.native()), dtype=np.float64)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            msg = f"the rows could not be read as the trees read them ({type(error).__name__}: {error})."
            raise NotLeavesError(msg) from error

    def _none_of(self, rows: Table) -> tuple[NDArray[np.float64], NDArray[np.float64], Reading]:
        if not self._model.called:
            msg = (
                "X has no rows, and with background=None there is none the model could be asked about to learn how "
                "many outputs it has; pass at least one row."
            )
            raise ValueError(msg)
        del rows
        columns = np.empty((len(self._ensemble.feature_of_column), 0))
        return columns, np.empty((0, self._model.n_outputs)), reading_of(self._ensemble, self._model)

    def describe(self) -> dict[str, Any]:
        """The value function, and what the trees were read from."""
        marginal = self._problem.background is not None
        measured = getattr(self._problem.masking, "measured", None) if marginal else None
        return {
            "masking": self._problem.masking.name if marginal else "path-dependent",
            **({} if measured is None else measured.describe()),
            "trees": f"{self._ensemble.n_trees} trees of {self._ensemble.source}",
        }


def _unequal(weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Weights that are not all the same; counting rows is exact."""
    if weights is None or bool((weights == weights[0]).all()):
        return None
    return weights


def _difference(source: str, called: str, start: int, rebuilt: NDArray[np.float64], said: NDArray[np.float64]) -> str:
    if rebuilt.shape != said.shape:
        return f"{source} gives {said.shape[1]} outputs, but its trees add up to {rebuilt.shape[1]}."
    row, output = (int(axis[0]) for axis in np.nonzero(rebuilt != said))
    return (
        f"for {called} {start + row} {source} predicts {float(said[row, output])!r}, but its trees as read here give "
        f"{float(rebuilt[row, output])!r}; nothing is explained that is not rebuilt to the last bit."
    )
