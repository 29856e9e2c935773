"""WeightedSHAP (Kwon and Zou, 2022), exact from the table: of 13 semivalues the one of best utility."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

from taylorpoda._support.arrays import as_table
from taylorpoda.dividends.sparse import SparseDividends
from taylorpoda.methods.semivalues import beta_size_weights, semivalues
from taylorpoda.utilities import make_context, resolve, score_candidates

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from taylorpoda.utilities import Utility

_BETAS = (
    *((alpha, 1) for alpha in (32, 16, 8, 4, 2, 1)),
    *((1, beta) for beta in (2, 4, 8, 16, 32)),
)
FIRST = "v({i}) - v(empty)"
LAST = "v(N) - v(N without i)"
WEIGHTED_SHAP_CANDIDATES: tuple[str, ...] = (
    FIRST,
    *(f"Beta({alpha},{beta})" for alpha, beta in _BETAS),
    LAST,
)


def candidate_weights(n_players: int) -> tuple[NDArray[np.float64], ...]:
    """The size weights of the 13 candidates, in the order of `WEIGHTED_SHAP_CANDIDATES`."""
    identity = np.eye(n_players)
    betas = (beta_size_weights(n_players, alpha, beta) for alpha, beta in _BETAS)
    return (identity[0], *betas, identity[-1])


def dividend_shares(largest: int) -> NDArray[np.float64]:
    """What every candidate gives each member of a dividend of so many players, shape (13, largest + 1).

    A member of T gets H(T) when the others of T joined before it. Under Beta(alpha, beta) each of them did with a
    probability that is drawn from the beta distribution of (beta, alpha), so the share is its moment of order |T| - 1.
    """
    shares = np.zeros((len(WEIGHTED_SHAP_CANDIDATES), largest + 1))
    before = np.arange(max(largest - 1, 0))
    shares[0, 1:2] = 1.0
    for row, (alpha, beta) in enumerate(_BETAS, start=1):
        shares[row, 1:] = np.concatenate([[1.0], np.cumprod((beta + before) / (alpha + beta + before))])[:largest]
    shares[-1, 1:] = 1.0
    return shares


def weighted_shap_candidates(values: Any) -> Any:
    """All 13 candidates of WeightedSHAP.

    Args:
        values: Table of a game, shape (..., 2**n), numpy or torch; n >= 1. Or the `SparseDividends` of one game, of
            any number of players.

    Returns:
        Shape (..., 13, n), in the order of `WEIGHTED_SHAP_CANDIDATES`.

    Example:
        >>> import numpy as np
        >>> weighted_shap_candidates(np.array([0.0, 1.0, 2.0, 5.0]))[[0, 6, 12]]
        array([[1., 2.],
               [2., 3.],
               [3., 4.]])
    """
    if isinstance(values, SparseDividends):
        return _candidates_of_dividends(values)
    _, table, n_players = as_table(values)
    if n_players == 0:
        msg = f"values has shape {tuple(table.shape)}: a game without players; WeightedSHAP needs n >= 1."
        raise ValueError(msg)
    return semivalues(table, candidate_weights(n_players))


def _candidates_of_dividends(dividends: SparseDividends) -> NDArray[np.float64]:
    coalitions = dividends.coalitions
    shares = dividend_shares(int(coalitions.sizes.max(initial=0)))[:, coalitions.sizes] * dividends.values
    columns = [np.bincount(coalitions.members, row[coalitions.owner], dividends.n_players) for row in shares]
    return np.array(columns, dtype=np.float64)


def weighted_shap(
    values: Any,
    utility: str | Utility = "inclusion_aup",
    target: Any = None,
    *,
    threshold: float = 0.5,
    labels: Any = None,
) -> Any:
    """WeightedSHAP: per row the best of 13 semivalues, by a utility.

    The candidates are Beta(a, b) for (a, b) in (32,1), (16,1), (8,1), (4,1), (2,1), (1,1), (1,2), (1,4),
    (1,8), (1,16), (1,32), and the two ends v({i}) - v(empty) and v(N) - v(N without i). They are exact,
    where the published code samples permutations. Equally good candidates: the earlier one of
    `WEIGHTED_SHAP_CANDIDATES`.

    Args:
        values: Table of a game, shape (..., 2**n), numpy or torch.
        utility: A utility's name, or a `Utility`.
        target: The labels y, shape (...), for utilities that read them.
        threshold: Values above it are labeled 1, for such utilities.
        labels: The class predicted from each coalition, shape (..., 2**n), where several outputs compete.

    Returns:
        Attributions of shape (..., n). They need not sum to v(N) - v(empty).

    Example:
        >>> import numpy as np
        >>> weighted_shap(np.array([0.0, 1.0, 2.0, 5.0]), utility="inclusion_aup")
        array([1., 2.])
    """
    known = resolve(utility)
    xp, table, _ = as_table(values)
    context = make_context(table, known, target, threshold=threshold, labels=labels)
    candidates = weighted_shap_candidates(table)
    scores = score_candidates(context, known, candidates)
    best = xp.argmax(scores, axis=-1) if known.higher_is_better else xp.argmin(scores, axis=-1)
    return _take_candidate(candidates, best)


def weighted_shap_family() -> tuple[Callable[[Any], Any], ...]:
    """The 13 linear methods WeightedSHAP chooses from, each a callable values -> attributions."""
    return tuple(partial(_one_candidate, index) for index in range(len(WEIGHTED_SHAP_CANDIDATES)))


def _one_candidate(index: int, values: Any) -> Any:
    _, table, n_players = as_table(values)
    return semivalues(table, candidate_weights(n_players)[index : index + 1])[..., 0, :]


def _take_candidate(candidates: Any, best: Any) -> Any:
    xp = array_api_compat.array_namespace(candidates)
    index = xp.broadcast_to(best[..., None, None], (*candidates.shape[:-2], 1, candidates.shape[-1]))
    if isinstance(candidates, np.ndarray):
        return np.take_along_axis(candidates, index, axis=-2)[..., 0, :]
    return xp.take_along_axis(candidates, index, axis=-2)[..., 0, :]
