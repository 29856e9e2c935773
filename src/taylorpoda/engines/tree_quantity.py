"""Whether what is explained is a sum of leaves, and which one; if not, why not, in words."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.dividends.trees import UnsupportedTreesError, read_ensemble
from taylorpoda.games.masking import Baseline, Marginal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.dividends.trees import Ensemble
    from taylorpoda.engines.base import Problem
    from taylorpoda.games.models.base import BoundModel

_METHODS = ("predict", "predict_proba", "decision_function")
_FORESTS = ("RandomForestRegressor", "ExtraTreesRegressor", "RandomForestClassifier", "ExtraTreesClassifier")
_INSTEAD = {
    "logistic": 'explain the sum of leaves, with output="raw" or link="logit"',
    "softmax": 'explain the sums of leaves, with output="raw"',
    "exp": 'explain the sum of leaves, with output="raw"',
    "ordering": 'explain the sums of leaves, with output="raw"',
}
_LINKS = {
    "exp": "the exponential function of a sum of leaves, not the sum itself",
    "square": "the square of a sum of leaves, not the sum itself",
    "argmax": "the class of the largest of its sums of leaves, not a sum itself",
    "step": "a step function of a sum of leaves, not the sum itself",
    "ordering": "its sums of leaves put in order, not the sums themselves",
    "unknown": "not known to be a sum of leaves: what is done to the sum is not known for this loss",
}


class NotLeavesError(ValueError):
    """Why the closed form does not hold for what is explained: a sentence that follows a colon.

    Attributes:
        way: What would make it hold, "" if nothing is known to.
    """

    def __init__(self, message: str, way: str = "") -> None:
        super().__init__(message)
        self.way = way


@dataclass(frozen=True, eq=False)
class Reading:
    """What a model call gives in terms of the ensemble's sums.

    Attributes:
        sums: Shape (columns of a call,): which sum each column is.
        signs: Shape (columns of a call,): what it is multiplied with.
        explained: Shape (outputs,): which columns are explained.
    """

    sums: NDArray[np.intp]
    signs: NDArray[np.float64]
    explained: NDArray[np.intp]

    def columns(self, sums: NDArray[Any]) -> NDArray[np.float64]:
        """Sums (rows, sums) as the columns of a call, (rows, columns)."""
        return np.asarray(sums[:, self.sums], dtype=np.float64) * self.signs


def wants_margin(output: Any) -> bool:
    """Whether the user asked for the margin."""
    return isinstance(output, str) and output == "raw"


def owner_of(estimator: Any) -> Any:
    """The estimator whose bound method was passed as a model; else the model itself."""
    owner, name = getattr(estimator, "__self__", None), getattr(estimator, "__name__", "")
    # Any function can be bound to any object: it must be the one found there under its name.
    own = owner is not None and name in _METHODS and getattr(owner, name, None) == estimator
    return owner if own else estimator


def without_threads(estimator: Any) -> Any:
    """A forest of scikit-learn that adds up its trees in their order; None if the model is none.

    In threads it adds them in the order they happen to finish, so that its last bits differ from call to call.
    """
    owner = owner_of(estimator)
    model = getattr(owner, "best_estimator_", owner)
    alone = None
    if isinstance(getattr(model, "steps", None), list):
        *before, (name, last) = model.steps
        inner = without_threads(last)
        if inner is not None:
            alone = copy.copy(model)
            alone.steps = [*before, (name, inner)]
    elif type(model).__module__.startswith("sklearn.") and type(model).__name__ in _FORESTS:
        alone = copy.copy(model)
        alone.n_jobs = 1
    return alone if alone is None or owner is estimator else getattr(alone, estimator.__name__)


def leaves_of(problem: Problem) -> Ensemble:
    """The trees whose leaves add up to what is explained.

    Raises:
        NotLeavesError: If they do not, or this is not known.
    """
    ensemble = _read(problem)
    _check_masking(problem)
    _check_quantity(ensemble, problem)
    columns = len(problem.players.player_of_column)
    if ensemble.n_features != columns:
        msg = f"its trees read {ensemble.n_features} features, but the rows have {columns} columns."
        raise NotLeavesError(msg)
    return ensemble.raw if wants_margin(problem.output) and ensemble.raw is not None else ensemble


def _read(problem: Problem) -> Ensemble:
    owner = owner_of(problem.estimator)
    try:
        return read_ensemble(owner)
    except UnsupportedTreesError as error:
        raise NotLeavesError(
            f"{type(owner).__name__}: {error}" if owner is not problem.estimator else str(error)
        ) from error


def _check_masking(problem: Problem) -> None:
    if isinstance(problem.masking, Marginal):
        return
    if isinstance(problem.masking, Baseline) and problem.background is not None and problem.background.n_rows == 1:
        return
    msg = (
        f"masking={problem.masking.name!r} does not average over all rows of the background; the closed form holds for "
        'masking="marginal", and for masking="baseline" with one row.'
    )
    raise NotLeavesError(msg)


def _check_quantity(ensemble: Ensemble, problem: Problem) -> None:
    quantity = problem.model.quantity
    raw = wants_margin(problem.output) or quantity.kind == "margin"
    if problem.link == "logit":
        if raw or ensemble.probabilities or ensemble.link != "logistic" or ensemble.n_outputs != 1:
            msg = f"logit({quantity.name}) is a sum of leaves for binary boosters only, and this is {ensemble.source}."
            raise NotLeavesError(msg)
        return
    if raw or (ensemble.probabilities and quantity.kind == "probability"):
        return
    if ensemble.probabilities:
        msg = f"{quantity.name} of {ensemble.source} is no average of what its trees hold; its predict_proba is."
        raise NotLeavesError(msg)
    if ensemble.link != "identity":
        how = _LINKS.get(ensemble.link, f"the {ensemble.link} function of a sum of leaves, not the sum itself")
        msg = f"{quantity.name} of {ensemble.source} is {how}."
        raise NotLeavesError(msg, _INSTEAD.get(ensemble.link, ""))


def reading_of(ensemble: Ensemble, model: BoundModel) -> Reading:
    """What a call of a model that has answered once gives.

    Raises:
        NotLeavesError: If it gives another number of columns than the trees have sums.
    """
    picked = None if model.competing else model.selected
    if model.link == "logit":
        both = model.n_outputs == 2
        signs = np.array([-1.0, 1.0] if both else [-1.0 if picked == 0 else 1.0]) * ensemble.slope
        return Reading(np.zeros(len(signs), dtype=np.intp), signs, model.explained)
    sums = np.arange(ensemble.n_outputs) if picked is None or ensemble.n_outputs == 1 else np.array([picked])
    if len(sums) != model.n_outputs or sums.max(initial=0) >= ensemble.n_outputs:
        msg = f"{model.name} gives {model.n_outputs} outputs, but its trees add up to {ensemble.n_outputs}."
        raise NotLeavesError(msg)
    return Reading(sums, np.ones(len(sums)), model.explained)
