"""Explainer: the front door."""

from __future__ import annotations

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from taylorpoda._support.choices import check_choice, unknown_choice
from taylorpoda._support.integers import whole_number
from taylorpoda._support.memory import parse_memory
from taylorpoda._support.seeds import resolve_seed
from taylorpoda._version import __version__
from taylorpoda.allocation import POLICIES
from taylorpoda.allocation.options import Options
from taylorpoda.engines.base import Problem
from taylorpoda.engines.choice import ENGINES, choose_engine
from taylorpoda.engines.no_background import NoBackground
from taylorpoda.explanation.build import build
from taylorpoda.explanation.subject import Subject
from taylorpoda.games.masking import resolve_masking
from taylorpoda.games.models import bind_model
from taylorpoda.games.models.labels import LabelRule, read_labels
from taylorpoda.games.players import Players
from taylorpoda.games.tables import frame_kind, read_background
from taylorpoda.games.tables.base import Table
from taylorpoda.utilities import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taylorpoda.engines.base import Engine
    from taylorpoda.explanation.core import Explanation
    from taylorpoda.games.masking.base import Masking
    from taylorpoda.games.models.base import BoundModel
    from taylorpoda.utilities import Utility

EngineName = Literal["auto", "exact", "trees"]


class Explainer:
    """Explains single predictions of a trained model.

    Args:
        model: An estimator with `predict` (classifiers: `predict_proba`), or any callable rows -> numbers.
        background: Rows that stand for the population, in the container the model reads: all of them are
            used. None, for tree ensembles only: an absent feature follows both branches of a split, in proportion
            to the training rows that took each.
        utility: What the explanation is for: a name or a `taylorpoda.Utility`.
        policy: "optimal", "dirichlet" or "shapley".
        masking: What stands in for an absent feature: "marginal", "baseline", ... or your own rule.
        output: Which output is explained: None for all, a class, a name or an index; "raw" for the margin of
            a boosted ensemble.
        groups: Columns that enter and leave together: {player: [columns]}, or one label per column.
        output_names: Names for the outputs, e.g. for the classes 0, 1, 2 of an XGBClassifier; None for the
            model's own.
        link: None, or "logit" to explain logit(model).
        engine: How games are solved: "trees" in closed form where what is explained is a sum of leaves; "exact" by
            all coalitions; "auto" is the first of them that can.
        budget: Model rows an approximation may use; without one none is ever chosen. Every engine so far answers
            exactly, so none spends it.
        order: The largest set size an approximation keeps; likewise without effect on exact answers.
        random_state: None takes fresh entropy and records the seed.
        n_jobs: Threads across explained rows; None calls the model from the caller's thread only.
        max_memory: Bytes (or "2GiB") our arrays may take; None is a quarter of what is free.
        candidates: How many splits policy="dirichlet" tries.
        alpha: Concentration of its draws.
        draws: "shared" or "independent" draws.
        margin: Relative margin between neighbors of a ranking for policy="optimal".
        node_limit: How many prefixes policy="optimal" may visit per row.
        time_limit: Seconds it may take per row.

    Raises:
        ValueError: If an option is not allowed; the message names it, what came and what is allowed.
        TypeError: If a model or table is of a kind that cannot be read.

    Example:
        >>> import numpy as np
        >>> background = np.random.default_rng(0).normal(size=(50, 3))
        >>> explainer = Explainer(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], background)
        >>> explanation = explainer([[1.0, 2.0, 3.0]])
        >>> explanation.values.shape
        (1, 3)
    """

    def __init__(
        self,
        model: Any,
        background: Any,
        *,
        utility: str | Utility = "inclusion_aup",
        policy: str = "optimal",
        masking: str | Masking = "marginal",
        output: Any = None,
        output_names: Sequence[str] | None = None,
        groups: Any = None,
        link: Literal["logit"] | None = None,
        engine: EngineName = "auto",
        budget: int | None = None,
        order: int = 2,
        random_state: Any = None,
        n_jobs: int | None = None,
        max_memory: int | str | None = None,
        **options: Any,
    ) -> None:
        self._utility = resolve(utility)
        self._policy = check_choice("policy", policy, POLICIES)
        check_choice("engine", engine, ENGINES)
        self._budget = None if budget is None else _positive("budget", budget)
        self._order = _positive("order", order, optional=False)
        self._n_jobs = None if n_jobs is None else _positive("n_jobs", n_jobs)
        self._max_memory = parse_memory(max_memory)
        self._seed = resolve_seed(random_state)
        self._options = {**check_options(options, self._policy), "random_state": self._seed}
        rule = resolve_masking(masking)
        self._model = bind_model(model, output=output, link=link, output_names=output_names)
        self._background: Table | NoBackground
        table: Table | None = None
        weights = None
        if background is None:
            self._background = NoBackground(model, self._model)
        else:
            table, weights = read_background(background, self._model.quantity.feature_names)
            self._background = table
        self._players = Players.from_groups(self._background.names, groups)
        self._counted = 0
        problem = Problem(
            estimator=model,
            model=self._model,
            output=output,
            link=link,
            masking=rule,
            background=table,
            weights=weights,
            players=self._players,
            seed=self._seed,
            max_memory=self._max_memory,
            n_jobs=self._n_jobs,
        )
        self._engine = choose_engine(engine, problem)

    def __call__(self, X: Any, y: Any = None) -> Explanation:
        """Explain rows.

        Args:
            X: Rows with the background's columns, reordered by name where names are known; one row may be
                one-dimensional; zero rows give an empty explanation.
            y: Their labels, for utilities that compare with them.

        Returns:
            The explanation.

        Raises:
            ValueError: If columns, cells or labels do not fit, or the model answers something that cannot be
                explained.
        """
        rows = self._background.read(X, "X").copy()  # the result keeps them, whatever becomes of X
        if y is None and self._utility.needs_target:
            msg = f"utility={self._utility.name!r} compares with the labels: pass y, e.g. explainer(X, y)."
            raise ValueError(msg)
        given = read_labels(y, rows.n_rows)
        try:
            solution = self._engine.solve(rows)
        except BaseException:  # what a failed or interrupted call has asked of the model is not the next one's
            self._counted = self._model.rows_evaluated + self._engine.rows_besides
            raise
        labels = LabelRule.of(self._model)
        subject = Subject(
            rows=rows,
            feature_names=self._players.names,
            player_of_column=self._players.player_of_column,
            output_names=self._model.output_names,
            single=self._model.single,
            target=labels.encode(given, rows.n_rows),
            labels=labels,
            model=self._model.name,
            container=frame_kind(X, self._background if isinstance(self._background, Table) else rows),
        )
        return build(
            solution.games,
            subject,
            policy=self._policy,
            utility=self._utility,
            options=self._options,
            provenance=self._provenance(rows, solution.engine),
            rounding=solution.rounding,
        )

    def _provenance(self, rows: Table, engine: Engine) -> Mapping[str, Any]:
        counted = self._model.rows_evaluated + self._engine.rows_besides
        evaluated = counted - self._counted
        self._counted = counted
        return {
            "engine": engine.name,
            "engine_reason": engine.reason,
            "model": self._model.name,
            "link": self._model.link,
            **engine.describe(),
            "container": rows.kind,
            "background_rows": self._background.n_rows,
            "explained_rows": rows.n_rows,
            "model_rows_evaluated": evaluated,
            "seed": self._seed,
            "versions": versions(self._model),
        }

    def cost(self, n_rows: int = 1) -> int:
        """Model rows that explaining `n_rows` rows takes at most; equal hybrid rows are evaluated once and save some.

        Example:
            >>> Explainer(lambda rows: rows.sum(axis=1), [[0.0, 1.0], [2.0, 3.0]]).cost(10)
            80
        """
        return self._engine.rows_per_row() * _positive("n_rows", n_rows, least=0, optional=False)

    def __repr__(self) -> str:
        return (
            f"Explainer({self._model.name}, {self._players.n_players} players, {self._background.n_rows} "
            f"background rows, engine={self._engine.name!r}, policy={self._policy!r}, "
            f"utility={self._utility.name!r})"
        )


def check_options(options: Mapping[str, Any], policy: str) -> dict[str, Any]:
    """Options of the policies that came as keywords: their names, with the nearest known one, and their values."""
    known = ("candidates", "alpha", "draws", "margin", "node_limit", "time_limit", "shares")
    for name in options:
        if name not in known:
            error = unknown_choice("option", name, (*known, *(Explainer.__init__.__kwdefaults__ or ())))
            raise error
    Options(**options)
    if (policy == "shares") != (options.get("shares") is not None):
        msg = (
            f"policy={policy!r} with shares={type(options.get('shares')).__name__}: policy='shares' needs shares=, and "
            "no other policy takes them."
        )
        raise ValueError(msg)
    return dict(options)


def _positive(parameter: str, value: Any, *, least: int = 1, optional: bool = True) -> int:
    return whole_number(parameter, value, least=least, allowed=f"{'None or ' if optional else ''}an integer >= {least}")


def versions(model: BoundModel) -> dict[str, str]:
    """The versions behind the numbers: ours, Python's, numpy's and that of the model's library."""
    found = {"taylorpoda": __version__, "python": platform.python_version(), "numpy": np.__version__}
    module = getattr(getattr(model.quantity.predict, "func", model.quantity.predict), "__module__", None) or ""
    module = model.quantity.library or module
    package = {"sklearn": "scikit-learn"}.get(module.split(".")[0], module.split(".")[0])
    with suppress(PackageNotFoundError, ValueError):  # the model may come from no installed package
        found[package] = version(package)
    return found
