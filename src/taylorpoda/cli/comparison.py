"""All methods on the games of one explanation, judged by all utilities; only LIME asks the model again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.methods.weighted_shap import WEIGHTED_SHAP_CANDIDATES, weighted_shap_candidates
from taylorpoda.utilities import REGISTRY, Utility, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from taylorpoda.cli.local_weights import LocalWeights
    from taylorpoda.engines.base import SolvedGames
    from taylorpoda.explanation import Explanation

_POLICIES = (("shapley", "SHAP"), ("dirichlet", "TaylorPODA"), ("optimal", "TaylorPODA-optimal"))


@dataclass(frozen=True, eq=False)
class MethodTable:
    """Mean utilities of several methods on the same rows.

    Attributes:
        names: The methods.
        titles: How they are printed.
        utilities: The utilities.
        higher_is_better: One direction per utility.
        means: Shape (methods, utilities).
        ceilings: Shape (utilities,): the mean of the best any ranking could have.
        discrepancy: Shape (methods,): the largest |base + attributions - prediction|.
        tolerance: What counts as rounding there.
        left_out: Methods without a row: LIME where it does not apply.
        reasons: Why, and which utilities have no column, a sentence each.
        model_rows: {what: model rows it took}.
    """

    names: tuple[str, ...]
    titles: tuple[str, ...]
    utilities: tuple[str, ...]
    higher_is_better: tuple[bool, ...]
    means: NDArray[np.float64]
    ceilings: NDArray[np.float64]
    discrepancy: NDArray[np.float64]
    tolerance: float
    left_out: tuple[str, ...]
    reasons: tuple[str, ...]
    model_rows: dict[str, int]

    @property
    def best(self) -> NDArray[np.bool_]:
        """Shape (methods, utilities): whether no other method is better, up to rounding."""
        costs = np.where(self.higher_is_better, -self.means, self.means)
        least = costs.min(axis=0, initial=np.inf)
        return np.asarray(costs <= least + 1e-9 * np.abs(least))


def method_table(
    explanation: Explanation, utilities: Iterable[str] | None = None, *, local: LocalWeights | None = None
) -> MethodTable:
    """Compare on the stored games.

    Args:
        explanation: Any explanation; its policy does not matter.
        utilities: Names; None for all, without those that read labels where there are none.
        local: What LIME gave for the same rows; None where it was not asked, and is not missed.

    Returns:
        The table.

    Raises:
        ValueError: If a utility is unknown, or reads labels that were not given.
    """
    judges = _judges(explanation, utilities)
    rivals = _rivals(explanation)
    weights = None if local is None else local.weights
    if weights is not None:
        rivals["lime"] = ("LIME", lambda _: weights)
    titles = {name: title for name, (title, _) in rivals.items()} | dict(_POLICIES)
    means = np.full((len(titles), len(judges)), np.nan)
    ceilings = np.full(len(judges), np.nan)
    discrepancy = np.zeros(len(titles))
    gain = explanation.games.full - explanation.games.base
    for j, judge in enumerate(judges):
        solved = {name: explanation.reallocate(policy=name, utility=judge) for name, _ in _POLICIES}
        ceilings[j] = float(np.mean(solved["optimal"].ceiling))
        for i, name in enumerate(titles):
            if name in solved:
                made = np.asarray(solved[name].allocation.attributions)
                scores = solved[name].score
            else:
                made = rivals[name][1](judge)
                scores = explanation.games.score(made, judge, explanation.subject.target)
            means[i, j] = float(np.mean(scores))
            worst = float(np.max(np.abs(made.sum(axis=-1) - gain), initial=0.0))
            discrepancy[i] = max(discrepancy[i], worst)
    left: list[str] = []
    reasons: list[str] = []
    if local is not None and weights is None:
        left.append("LIME")
        reasons.append(f"left out: LIME, for {local.reason}")
    model_rows = {"games": int(explanation.provenance["model_rows_evaluated"])}
    scale = float(np.max(np.abs(explanation.games.full), initial=0.0)) + float(np.max(np.abs(gain), initial=0.0))
    return MethodTable(
        names=tuple(titles),
        titles=tuple(titles.values()),
        utilities=tuple(judge.name for judge in judges),
        higher_is_better=tuple(judge.higher_is_better for judge in judges),
        means=means,
        ceilings=ceilings,
        discrepancy=discrepancy,
        tolerance=1e-9 * scale,
        left_out=tuple(left),
        reasons=tuple(reasons),
        model_rows=model_rows if local is None else {**model_rows, "lime": local.model_rows},
    )


def _judges(explanation: Explanation, utilities: Iterable[str] | None) -> list[Utility]:
    labeled = explanation.subject.target is not None
    if utilities is None:
        return [judge for judge in map(resolve, REGISTRY) if labeled or not judge.needs_target]
    return [resolve(name) for name in dict.fromkeys(utilities)]


def _candidates(games: SolvedGames) -> NDArray[np.float64]:
    """The candidates of WeightedSHAP for every game, shape (rows, outputs, 13, n): of the table, or the dividends."""
    table = getattr(games, "values", None)
    if table is not None:
        return np.asarray(weighted_shap_candidates(table))
    rows, outputs = games.full.shape
    made = [[weighted_shap_candidates(games.dividends(row, k)) for k in range(outputs)] for row in range(rows)]
    return np.reshape(made, (rows, outputs, len(WEIGHTED_SHAP_CANDIDATES), games.n_players))


def _rivals(explanation: Explanation) -> dict[str, tuple[str, Callable[[Utility], Any]]]:
    """What the policies are compared with: {name: (title, utility -> attributions (rows, outputs, n))}."""
    candidates = _candidates(explanation.games)

    def weighted(judge: Utility) -> Any:
        """WeightedSHAP: of its 13 semivalues the one of best utility, row by row."""
        scores = np.stack(
            [
                explanation.games.score(candidates[..., k, :], judge, explanation.subject.target)
                for k in range(candidates.shape[-2])
            ],
            axis=-1,
        )
        best = np.argmax(scores if judge.higher_is_better else -scores, axis=-1)
        return np.take_along_axis(candidates, best[..., None, None], axis=-2)[..., 0, :]

    single = candidates[..., -1, :]  # v(N) - v(N without i); on a game the prediction difference is the same
    return {
        "prediction_difference": ("Prediction difference", lambda _: single),
        "occlusion": ("OCC-1", lambda _: single),
        "weighted_shap": ("WeightedSHAP", weighted),
    }
