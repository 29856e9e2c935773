"""Which engine answers: the closed form where it holds, else every coalition, never an approximation unasked."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from taylorpoda._support.choices import check_choice
from taylorpoda._support.memory import human_bytes
from taylorpoda.engines.exact import ExactEngine
from taylorpoda.engines.tree_quantity import NotLeavesError
from taylorpoda.engines.trees import TreeEngine
from taylorpoda.games.evaluation import Evaluator
from taylorpoda.games.masking import Baseline, Marginal
from taylorpoda.games.masking.base import MaskingContext

if TYPE_CHECKING:
    from taylorpoda.engines.base import Engine, Problem

ENGINES = ("auto", "exact", "trees")
# Exact enumeration is chosen unasked only up to this many model rows for one explained row.
AUTO_ROWS = 2**24
_SPELLED = 40  # players up to which their number of coalitions is written out


def choose_engine(name: str, problem: Problem) -> Engine:
    """The engine of this name, or with "auto" the first that can answer exactly.

    Args:
        name: One of `ENGINES`.
        problem: What the explainer was asked.

    Returns:
        An engine ready to solve rows.

    Raises:
        ValueError: If the engine cannot answer; the message says why, and the ways out.
    """
    check_choice("engine", name, ENGINES)
    if name == "exact":
        return _exact(name, problem, refusal=None)
    if name == "trees":
        try:
            return TreeEngine(problem)
        except NotLeavesError as error:
            ways = "; ".join(filter(None, [error.way, 'engine="auto" or engine="exact"']))
            msg = f'engine="trees" does not apply: {error} Ways out: {ways}.'
            raise ValueError(msg) from error
    try:
        return TreeEngine(problem, partial(_exact, name, problem))
    except (NotLeavesError, ImportError) as error:
        return _exact(name, problem, error)


def _exact(name: str, problem: Problem, refusal: Exception | None) -> Engine:
    if problem.background is None or problem.weights is None:
        msg = "background is None; pass rows of the training data (an array, a DataFrame), or one baseline row."
        raise TypeError(msg if refusal is None else f"{msg} Trees in closed form need none, but: {refusal}")
    n = problem.players.n_players
    if 4 * (8 << n) > problem.max_memory:
        # A rule that must be trained is not trained only to be refused.
        shared = isinstance(problem.masking, Baseline | Marginal)
        rows = _model_rows(problem.background.n_rows if shared else 1, n)
        raise ValueError(_too_large(name, problem, f"{'' if shared else 'at least '}{rows}", refusal))
    context = MaskingContext(
        problem.background, problem.weights, problem.model, problem.players, problem.seed, problem.max_memory
    )
    fitted = problem.masking.fit(context)
    evaluator = Evaluator(
        problem.model,
        fitted,
        problem.players,
        problem.background.take(np.arange(1)),
        max_memory=problem.max_memory,
        n_jobs=problem.n_jobs,
    )
    each = evaluator.rows_per_row()
    if name == "auto" and each > AUTO_ROWS:
        raise ValueError(_too_large(name, problem, f"{each:,} model rows", refusal))
    engine = ExactEngine(problem.model, fitted, evaluator)
    why = "as asked for" if refusal is None else f"for trees in closed form do not apply: {refusal}"
    engine.reason = f"every coalition is evaluated, {why}"
    return engine


def _too_large(name: str, problem: Problem, cost: str, refusal: Exception | None) -> str:
    n = problem.players.n_players
    table = 8 << n
    fits = 4 * table <= problem.max_memory
    way = getattr(refusal, "way", "")
    ways = [way] if way else []
    ways.append("group features with groups= so that fewer players remain")
    if fits and 1 << n <= AUTO_ROWS:
        ways.append("pass fewer background rows, e.g. a weighted summary made by taylorpoda.background")
    if fits:
        ways.append('ask for it with engine="exact"')
    closed = "" if refusal is None else f" The trees engine does not apply: {refusal}"
    return (
        f"engine={name!r}: exact enumeration of {n} players needs {cost} and a table of {human_bytes(table)} for each "
        f"explained row and output (max_memory is {human_bytes(problem.max_memory)}; engine='auto' goes to "
        f"{AUTO_ROWS:,} model rows).{closed} Ways out: {'; '.join(ways)}."
    )


def _model_rows(each: int, n: int) -> str:
    """How many model rows 2**n coalitions of so many rows each are, in words."""
    return f"{each << n:,} model rows" if n <= _SPELLED else f"{each:,} x 2**{n} model rows"
