"""policy="dirichlet" on sparse dividends: Shapley and random shares, the best of them by the utility."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda.allocation.result import Allocation
from taylorpoda.allocation.sparse.draws import content_key, drawn_shares
from taylorpoda.allocation.sparse.linear import SparseLinearProof
from taylorpoda.allocation.sparse.rounding import closed
from taylorpoda.allocation.sparse.scoring import RowTerms, evaluated
from taylorpoda.allocation.sparse.share_view import SparseShareView, even_view, interactions_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.allocation.options import Options
    from taylorpoda.allocation.sparse.context import SparseContext
    from taylorpoda.dividends.sparse import SparseDividends
    from taylorpoda.utilities import Utility


def allocate_dirichlet(context: SparseContext, utility: Utility, options: Options) -> Allocation:
    """The best by utility of Shapley and candidates - 1 random tables; ties go to the earlier candidate.

    Up to 12 players shared tables are those of `taylorpoda.allocate` for the same seed. Above, and for
    draws="independent", the draws are others, of the same distribution: a table of all coalitions is never made.
    """
    games = context.games
    rows, n_players = prod(games.lead), games.n_players
    everyone = np.empty((options.candidates, rows, n_players))
    everyone[0] = np.reshape(games.shapley, (rows, n_players))
    scores = np.empty((options.candidates, rows))
    for row in range(rows if options.candidates > 1 or utility.additive else 0):
        dividends = games.dividends(row)
        everyone[1:, row] = candidates_of(context, row, dividends, options)
        if utility.additive:
            terms = RowTerms(context, utility, row, dividends)
            scores[:, row] = [terms.score(attributions) for attributions in everyone[:, row]]
    if not utility.additive:
        for candidate, attributions in enumerate(everyone):
            shaped = attributions.reshape(*games.lead, n_players)
            scores[candidate] = np.reshape(evaluated(context, utility, shaped), rows)
    best = np.argmax(scores if utility.higher_is_better else -scores, axis=0)
    chosen = everyone[best, np.arange(rows)].reshape(*games.lead, n_players)

    def view(row: int) -> SparseShareView:
        dividends = games.dividends(row)
        if best[row] == 0:
            return even_view(dividends)
        shared = interactions_of(dividends)
        return SparseShareView(shared.coalitions, _shares(dividends, shared, options, int(best[row])))

    proof = SparseLinearProof(context, utility, options, chosen, view)
    return Allocation(chosen, np.asarray(games.base)[()], "dirichlet", utility.name, proof, options.seed)


def candidates_of(
    context: SparseContext, row: int, dividends: SparseDividends, options: Options
) -> NDArray[np.float64]:
    """The attributions of all drawn tables of one game, shape (candidates - 1, n)."""
    shared = interactions_of(dividends)
    drawn = np.empty((options.candidates - 1, dividends.n_players))
    weights = np.repeat(shared.values, shared.coalitions.sizes)
    for candidate in range(1, options.candidates):
        parts = weights * _shares(dividends, shared, options, candidate)
        drawn[candidate - 1] = np.bincount(shared.coalitions.members, weights=parts, minlength=dividends.n_players)
    return closed(drawn + dividends.singletons(), dividends, _total(context, row))


def _shares(dividends: SparseDividends, shared: SparseDividends, options: Options, candidate: int) -> Any:
    key = content_key(dividends) if options.draws == "independent" else None
    return drawn_shares(shared.coalitions, options.seed, options.alpha, candidate, key)


def _total(context: SparseContext, row: int) -> float:
    games = context.games
    return float(np.reshape(games.full, -1)[row] - np.reshape(games.base, -1)[row])
