"""The one engine under every value function: coalitions of a row in, values out, in batches cut by bytes."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.memory import human_bytes
from taylorpoda._support.progress import ProgressBar
from taylorpoda.games.coalitions import all_coalitions, describe
from taylorpoda.games.hybrids import SharedDonorTables, listed_values
from taylorpoda.games.masking.base import DirectMasking, HybridMasking
from taylorpoda.games.masking.baseline import SharedDonors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from taylorpoda.games.hybrids import Values
    from taylorpoda.games.models.base import BoundModel
    from taylorpoda.games.players import Players
    from taylorpoda.games.tables.base import Table

# Small enough that a network's layers stay near the processor; calls of trees pay only for many more rows.
_BATCH_BYTES = 2**20
_DEAR_BATCH_BYTES = 2**23
_FEWEST_ROWS = 2048
# Every part of the engine gets at most this share of max_memory for what is not the result itself.
_WORKING_SHARE = 4
# Sums in float32 that threads add in another order may differ by this much of an answer.
_ROUNDING = 1e-6


class Evaluator:
    """Values coalitions of explained rows under one model and one fitted masking rule.

    Args:
        model: The bound model.
        masking: The fitted rule.
        players: How columns make players.
        sample: A row the model can be asked about when there is none to explain.
        max_memory: Bytes our arrays may take.
        n_jobs: Threads across explained rows; None calls the model from the caller's thread only.
    """

    def __init__(
        self,
        model: BoundModel,
        masking: HybridMasking | DirectMasking,
        players: Players,
        sample: Table,
        *,
        max_memory: int,
        n_jobs: int | None = None,
    ) -> None:
        self._model = model
        self._masking = masking
        self._players = players
        self._sample = sample
        self._checked = False
        self._max_memory = max_memory
        self._n_jobs = n_jobs
        self._shared: SharedDonorTables | None = None

    def rows_per_row(self) -> int:
        """Model rows that all coalitions of one explained row cost at most."""
        per = self._masking.rows_per_coalition() if isinstance(self._masking, HybridMasking) else 1
        return per << self._players.n_players

    def batch_rows(self, row_bytes: int) -> int:
        """How many hybrid rows go into one model call."""
        within = max(1, self._max_memory // (_WORKING_SHARE * max(row_bytes, 1) * (self._n_jobs or 1)))
        wanted = _DEAR_BATCH_BYTES if self._model.quantity.dear_calls else _BATCH_BYTES
        return min(max(wanted // max(row_bytes, 1), _FEWEST_ROWS), within)

    def predictions(self, rows: Table) -> NDArray[np.float64]:
        """The model's own answer on the explained rows, from one call.

        The first time, the same rows are sent twice: a model that answers differently cannot be explained.

        Raises:
            ValueError: If it does.
        """
        if rows.n_rows == 0:
            if not self._model.called:
                self._model(self._sample.copy().native(), self._sample.n_rows, lambda row: f"background row {row}")
            return np.empty((0, self._model.n_outputs))

        def where(row: int) -> str:
            return f"explained row {row} (coalition of all players)"

        predictions = self._model(rows.copy().native(), rows.n_rows, where)
        if not self._checked:
            again = self._model(rows.copy().native(), rows.n_rows, where)
            check_same_answers(predictions, again, self._model.name)
            self._checked = True
        return predictions

    def tables(self, rows: Table, predictions: NDArray[np.float64]) -> NDArray[np.float64]:
        """All 2**n values of every row.

        Args:
            rows: The explained rows.
            predictions: Shape (rows, outputs): the model's own answer, which is v(N).

        Returns:
            Shape (rows, outputs, 2**n).

        Raises:
            ValueError: If the tables do not fit `max_memory`.
        """
        n = self._players.n_players
        # With the tables of few players the rows themselves count: stacked, copied for the model, and as codes.
        each = (8 * predictions.shape[1] << n) + 2 * rows.row_bytes + 8 * n
        bound = self._max_memory // _WORKING_SHARE  # allocating takes a few times as much as the tables
        if rows.n_rows * each > bound:
            msg = (
                f"the values of {rows.n_rows} rows x {predictions.shape[1]} outputs x 2**{n} coalitions take, with the "
                f"rows, {human_bytes(rows.n_rows * each)}, more than a quarter of "
                f"max_memory={human_bytes(self._max_memory)}; explain at most {bound // each} rows at a time, raise "
                "max_memory, or group features."
            )
            raise ValueError(msg)
        tables = np.empty((*predictions.shape, 1 << n))
        per_row, finished = self.rows_per_row(), 0
        with ProgressBar("explaining: model rows", per_row * rows.n_rows) as bar, self._model.heard_by(bar.advance):
            for positions, values in self._run(self._tasks(rows, predictions)):
                tables[positions] = values
                finished += len(positions)
                bar.reach(finished * per_row)
        tables[:, :, -1] = predictions
        return tables

    def _tasks(self, rows: Table, predictions: NDArray[np.float64]) -> Iterable[Callable[[], Values]]:
        if rows.n_rows == 0:
            return []
        if isinstance(self._masking, DirectMasking):
            return self._direct_tasks(rows, self._masking)
        if isinstance(self._masking, SharedDonors):
            if self._shared is None:
                working = self._max_memory // (_WORKING_SHARE * (self._n_jobs or 1))
                self._shared = SharedDonorTables(self._model, self._masking, self._players, working)
            return self._shared.tasks(rows, predictions, self.batch_rows(_read_bytes(rows)))
        return self._listed_tasks(rows, self._masking)

    def _direct_tasks(self, rows: Table, masking: DirectMasking) -> Iterator[Callable[[], Values]]:
        coalitions = all_coalitions(self._players.n_players)
        step = max(1, self.batch_rows(_read_bytes(rows) + self._players.n_players) * 8 // len(coalitions))

        def task(positions: NDArray[np.intp]) -> Values:
            values = masking.values(rows.take(positions), coalitions)
            return positions, np.moveaxis(values, 1, 2)

        for start in range(0, rows.n_rows, step):
            positions = np.arange(start, min(start + step, rows.n_rows))
            yield lambda positions=positions: task(positions)  # type: ignore[misc]

    def _listed_tasks(self, rows: Table, masking: HybridMasking) -> Iterator[Callable[[], Values]]:
        coalitions = all_coalitions(self._players.n_players)

        def task(row: int) -> Values:
            values = listed_values(
                self._model,
                masking,
                rows,
                row,
                self._players.columns_of(coalitions),
                batch=self.batch_rows(_read_bytes(rows)),
                where=lambda coalition: self.place(row, coalitions[coalition]),
            )
            return np.array([row]), values.T[None]

        for row in range(rows.n_rows):
            yield lambda row=row: task(row)  # type: ignore[misc]

    def _run(self, tasks: Iterable[Callable[[], Values]]) -> Iterator[Values]:
        if self._n_jobs is None or self._n_jobs == 1:
            for task in tasks:
                yield task()
            return
        pool = ThreadPoolExecutor(max_workers=self._n_jobs)
        waiting: deque[Future[Values]] = deque()
        try:
            for task in tasks:
                waiting.append(pool.submit(task))
                if len(waiting) > 2 * self._n_jobs:  # a window, so that finished tables do not pile up
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            # Also on Ctrl-C or an error: what has not started never will, and nothing half done is returned.
            pool.shutdown(wait=True, cancel_futures=True)

    def place(self, row: int, coalition: NDArray[np.bool_]) -> str:
        """Names an explained row and a coalition for messages."""
        return f"explained row {row} with coalition {describe(coalition, self._players.names)}"


def _read_bytes(rows: Table) -> int:
    """Bytes of a row as models read it: most turn narrow cells into float64."""
    return max(rows.row_bytes, 8 * rows.n_columns)


def check_same_answers(first: NDArray[np.float64], second: NDArray[np.float64], name: str) -> None:
    """Refuse a model that answers the same rows differently; rounding of parallel sums is forgiven."""
    own, largest = np.abs(first), float(np.max(np.abs(first), initial=0.0))
    excess = np.abs(first - second) - _ROUNDING * own - _ROUNDING**2 * largest
    if float(np.max(excess, initial=0.0)) > 0:
        row = int(np.argmax(excess.max(axis=1)))
        msg = (
            f"the model {name} answers differently on the same rows: {first[row].tolist()} and then "
            f"{second[row].tolist()} for explained row {row}. Fix its seed, or switch dropout and sampling "
            "off."
        )
        raise ValueError(msg)
