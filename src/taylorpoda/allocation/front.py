"""`allocate`: from a table to attributions, by any policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taylorpoda._support.choices import Registry
from taylorpoda._support.seeds import resolve_seed
from taylorpoda.allocation.game import Games, double
from taylorpoda.allocation.linear import allocate_dirichlet, allocate_shapley, allocate_shares
from taylorpoda.allocation.optimal import allocate_optimal
from taylorpoda.allocation.options import MARGIN, Options
from taylorpoda.utilities import make_context, resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    from taylorpoda.allocation.result import Allocation
    from taylorpoda.utilities import Utility

POLICIES: Registry[Callable[[Games, Utility, Options], Allocation]] = Registry(
    "policy",
    {
        "shapley": allocate_shapley,
        "dirichlet": allocate_dirichlet,
        "optimal": allocate_optimal,
        "shares": allocate_shares,
    },
)


def allocate(
    values: Any,
    utility: str | Utility = "inclusion_aup",
    policy: str = "optimal",
    target: Any = None,
    *,
    candidates: int = 16,
    alpha: float = 1.0,
    draws: str = "shared",
    shares: Any = None,
    margin: float = MARGIN,
    node_limit: int | None = None,
    time_limit: float | None = None,
    random_state: Any = None,
    threshold: float = 0.5,
    labels: Any = None,
) -> Allocation:
    """Split every interaction among its members, for a purpose.

    Args:
        values: Shape (..., 2**n), numpy or torch: v of every coalition; bit j of the last index is player j.
        utility: What the attributions are for: a name or a `Utility`.
        policy: "optimal", the best of all admissible splits, with a proof; "shapley", even splits;
            "dirichlet", the paper's, Shapley and `candidates` - 1 random share tables, the best by utility;
            "shares", your own.
        target: The labels y that the AUC utilities compare with: 0 or 1, or class indices where `labels` are
            given; axes matched with the leading axes of `values` from the left.
        candidates: How many the "dirichlet" policy compares, Shapley among them.
        alpha: The parameter of its symmetric Dirichlet distribution.
        draws: "shared": tables are drawn once per (random_state, n, alpha) and used for every row.
            "independent": every row has its own stream, keyed by the content of its table.
        shares: For policy="shares": a mapping {subset index: n shares} or an array of shape (..., 2**n, n).
        margin: For policy="optimal": how far apart ranked neighbors are kept, relative to max |v - v(empty)|.
        node_limit: For policy="optimal": how many prefixes of rankings to try per row; None for 20,000, which
            few rows need (seconds; with 20 players ten). A row that ends there is not `certified`, its `bound` valid.
        time_limit: For policy="optimal": seconds per row, None for no limit.
        random_state: None for fresh entropy, an integer >= 0, or a numpy Generator or RandomState.
        threshold: Values above it are labeled 1: 0.5, or 0.0 where margins or log-odds are explained.
        labels: The class predicted from each coalition, shape (..., 2**n), where several outputs compete.

    Returns:
        An `Allocation` with the leading axes of `values`.

    Raises:
        ValueError: If a table, a name, a target or an option is not allowed.
        TypeError: If something has the wrong type.

    Example:
        >>> import numpy as np
        >>> allocate(np.array([0.0, 1.0, 2.0, 5.0]), policy="shapley").attributions
        array([2., 3.])
    """
    rule = POLICIES[policy]
    known = resolve(utility)
    options = Options(
        candidates=candidates,
        alpha=alpha,
        draws=draws,
        shares=shares,
        margin=margin,
        node_limit=node_limit,
        time_limit=time_limit,
        seed=resolve_seed(random_state),
    )
    if shares is not None and policy != "shares":
        msg = f"shares= is given, but policy={policy!r} chooses its own; allowed with policy='shares' only."
        raise ValueError(msg)
    return rule(
        Games(double(make_context(values, known, target, threshold=threshold, labels=labels))),
        known,
        options,
    )
