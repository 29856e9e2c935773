"""Every method of the tables on the same games: attributions, scores, discrepancies and what is proven."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.allocation import allocate
from taylorpoda.methods import occlusion, shapley, weighted_shap
from taylorpoda.paper.settings import BASELINE, UTILITIES
from taylorpoda.utilities import score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.paper.store import Arrays

_DRAW_STREAM = 3


def attribute(
    table: NDArray[np.float64],
    y: NDArray[Any],
    lime: NDArray[np.float64],
    *,
    task: str,
    label: str,
    candidates: int,
    seed: int,
) -> Arrays:
    """Explain the rows of one (data, model) pair with every method, for every utility of its task.

    Args:
        table: Values of all coalitions, shape (rows, 2**n).
        y: True targets, shape (rows,).
        lime: LIME's weights, shape (rows, n).
        task: "classification" or "regression".
        label: Whether the AUC utilities compare with the true "y" or the "model"'s own label.
        candidates: Allocations TaylorPODA compares per row.
        seed: Of its draws; every utility draws anew, as in the paper.

    Returns:
        By "<kind>/<utility>/<method>": "attributions" (rows, n), "score" (rows,), the plain sum, and
        "discrepancy" (rows,); by "<kind>/<utility>": "ceiling", "bound", "certified" and "nearest_certified"
        (rows,).
    """
    target = y if label == "y" else (table[:, -1] > 0.5)
    labels = target.astype(np.int64) if task == "classification" else None
    fixed = {BASELINE: shapley(table), "OCC-1": occlusion(table), "LIME": lime}
    gain = table[:, -1] - table[:, 0]
    arrays: Arrays = {}
    for number, utility in enumerate(UTILITIES[task]):
        draws = int(np.random.SeedSequence([seed, _DRAW_STREAM, number]).generate_state(1)[0])
        sampled = allocate(
            table,
            utility,
            "dirichlet",
            labels,
            candidates=candidates,
            draws="independent",
            random_state=draws,
        )
        optimal = allocate(table, utility, "optimal", labels)
        made = {
            **fixed,
            "WeightedSHAP": weighted_shap(table, utility, labels),
            "TaylorPODA": sampled.attributions,
            "TaylorPODA-optimal": optimal.attributions,
        }
        for method, attributions in made.items():
            arrays[f"attributions/{utility}/{method}"] = attributions
            arrays[f"score/{utility}/{method}"] = score(attributions, table, utility, labels)
            arrays[f"discrepancy/{utility}/{method}"] = attributions.sum(axis=-1) - gain
        arrays[f"ceiling/{utility}"] = optimal.ceiling
        arrays[f"bound/{utility}"] = optimal.bound
        arrays[f"certified/{utility}"] = optimal.certified
        arrays[f"nearest_certified/{utility}"] = optimal.nearest_certified
    return arrays
