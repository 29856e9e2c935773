"""`allocate_sparse`: from sparse games to attributions, by any policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taylorpoda._support.choices import Registry
from taylorpoda.allocation.sparse.context import SparseContext, context_of
from taylorpoda.allocation.sparse.linear import allocate_shapley
from taylorpoda.allocation.sparse.optimal import allocate_optimal
from taylorpoda.allocation.sparse.own_shares import allocate_shares
from taylorpoda.allocation.sparse.random_tables import allocate_dirichlet
from taylorpoda.allocation.sparse.scoring import check_utility, checked_attributions, score_rows
from taylorpoda.utilities import Utility, resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.result import Allocation
    from taylorpoda.allocation.sparse.base import SparseGames

SPARSE_POLICIES: Registry[Callable[[SparseContext, Utility, Options], Allocation]] = Registry(
    "policy",
    {
        "shapley": allocate_shapley,
        "dirichlet": allocate_dirichlet,
        "optimal": allocate_optimal,
        "shares": allocate_shares,
    },
)


def allocate_sparse(
    games: SparseGames, utility: str | Utility, policy: str, target: Any, options: Options
) -> Allocation:
    """Split every interaction among its members, for a purpose, without a table of all coalitions.

    Args:
        games: The games.
        utility: What the attributions are for: a name or a `Utility`.
        policy: One of `SPARSE_POLICIES`; the meaning is that of `taylorpoda.allocate`.
        target: The labels y that the AUC utilities compare with; axes matched with `games.lead` from the left.
        options: What a policy may read besides.

    Returns:
        An `Allocation` with the leading axes of the games.

    Raises:
        ValueError: If a name, a target or an option is not allowed.
        TypeError: If something has the wrong type.
    """
    rule = SPARSE_POLICIES[policy]
    known = resolve(utility)
    if options.shares is not None and policy != "shares":
        msg = f"shares= is given, but policy={policy!r} chooses its own; allowed with policy='shares' only."
        raise ValueError(msg)
    context = context_of(games, known, target)
    check_utility(context, known)
    return rule(context, known, options)


def score_sparse(attributions: Any, games: SparseGames, utility: str | Utility, target: Any) -> NDArray[np.float64]:
    """Score attributions of sparse games, one number per game, by the public rule.

    Args:
        attributions: Shape (..., n), axes that fit those of the games.
        games: The games.
        utility: A name or a `Utility`.
        target: The labels y.

    Returns:
        Shape `games.lead`.
    """
    known = resolve(utility)
    context = context_of(games, known, target)
    return score_rows(context, known, checked_attributions(attributions, context))
