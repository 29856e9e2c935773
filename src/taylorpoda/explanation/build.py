"""Allocate solved games into an Explanation: the one place where they are put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taylorpoda._support.seeds import resolve_seed
from taylorpoda.explanation.core import Explanation
from taylorpoda.utilities import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from taylorpoda.engines.base import SolvedGames
    from taylorpoda.explanation.subject import Subject
    from taylorpoda.utilities import Utility


def build(
    games: SolvedGames,
    subject: Subject,
    *,
    policy: str,
    utility: str | Utility,
    options: Mapping[str, Any],
    provenance: Mapping[str, Any],
    rounding: NDArray[np.float64] | None,
) -> Explanation:
    """Allocate and wrap up.

    Args:
        games: The solved games, axes (rows, outputs).
        subject: The rows, features, outputs and labels.
        policy: A policy's name.
        utility: A utility's name, or a `Utility`.
        options: What the policy takes.
        provenance: Where the games come from; the policy, utility and seed are added.
        rounding: Shape (rows, outputs), or None for zero.

    Returns:
        The explanation.

    Raises:
        ValueError: If the policy or utility is unknown, or the utility reads labels and there are none.
    """
    chosen = resolve(utility)
    if chosen.needs_target and subject.target is None:
        msg = (
            f"utility={chosen.name!r} compares with the labels of the explained rows: pass y, e.g. "
            "explainer(X, y) or explanation.reallocate(utility=..., y=...)."
        )
        raise ValueError(msg)
    if "random_state" in options:  # fresh entropy and generators become the seed that is recorded
        options = {**options, "random_state": resolve_seed(options["random_state"])}
    allocation = games.allocate(policy=policy, utility=chosen, target=subject.target, options=options)
    where = {**provenance, "policy": policy, "utility": chosen.name}
    if "random_state" in options:
        where["seed"] = options["random_state"]
    return Explanation(
        games=games,
        allocation=allocation,
        subject=subject,
        policy=policy,
        utility=chosen,
        provenance=where,
        options=options,
        gap_to_model=rounding,
    )
