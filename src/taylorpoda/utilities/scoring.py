"""Score attributions: the public rule, used for every number the package reports."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np

from taylorpoda.utilities.base import Context, Utility, take
from taylorpoda.utilities.builtin import PointwiseStage
from taylorpoda.utilities.context import make_context
from taylorpoda.utilities.ranking import prefix_masks, ranking
from taylorpoda.utilities.registry import resolve


def score(
    attributions: Any,
    values: Any,
    utility: str | Utility,
    target: Any = None,
    *,
    threshold: float = 0.5,
    labels: Any = None,
) -> Any:
    """Score attributions by a utility, one number per row, the plain sums of the definition (never negated).

    Args:
        attributions: Shape (..., n).
        values: Shape (..., 2**n), the same leading axes (or axes that broadcast).
        utility: A name or a `Utility`.
        target: The labels y, for the AUC utilities: 0 or 1, or class indices where `labels` are given; axes
            matched with the leading axes of `values` from the left.
        threshold: Values above it are labeled 1: 0.5, or 0.0 where margins or log-odds are explained.
        labels: The class predicted from each coalition, shape (..., 2**n), where several outputs compete.

    Returns:
        Array of shape (...).

    Example:
        >>> import numpy as np
        >>> score(np.array([1.0, 4.0]), np.array([0.0, 1.0, 2.0, 5.0]), "inclusion_aup")
        np.float64(3.0)
    """
    known = resolve(utility)
    context = make_context(values, known, target, threshold=threshold, labels=labels)
    return score_in(context, known, checked_attributions(attributions, context))


def checked_attributions(attributions: Any, context: Context) -> Any:
    """Attributions of the kind of the table, finite, with n entries and leading axes that broadcast against it."""
    xp = array_api_compat.array_namespace(context.values)
    if isinstance(context.values, np.ndarray):
        given: Any = np.asarray(attributions)
        if given.dtype.kind not in "fiub":
            msg = f"attributions have dtype {given.dtype}; allowed: real numbers."
            raise TypeError(msg)
        given = given.astype(np.result_type(given.dtype, np.float64), copy=False)
    else:
        given = xp.asarray(attributions, device=array_api_compat.device(context.values))
        if not xp.isdtype(given.dtype, "real floating"):
            given = xp.astype(given, context.values.dtype)
    lead = tuple(context.values.shape[:-1])
    if given.ndim == 0 or given.shape[-1] != context.n_players:
        msg = f"attributions have shape {tuple(given.shape)}; the last axis must hold {context.n_players} players."
        raise ValueError(msg)
    try:
        np.broadcast_shapes(tuple(given.shape[:-1]), lead)
    except ValueError:
        msg = f"attributions have shape {tuple(given.shape)}; the leading axes must match {lead}, those of the values."
        raise ValueError(msg) from None
    if not bool(xp.all(xp.isfinite(given))):
        msg = "attributions hold NaN or infinity; only finite attributions can be ranked."
        raise ValueError(msg)
    return given


def score_in(context: Context, utility: Utility, attributions: Any) -> Any:
    """The same for a context and attributions already checked."""
    if utility.evaluate is not None:
        return _evaluated(context, utility, attributions)
    masks = prefix_masks(ranking(attributions))
    xp = array_api_compat.array_namespace(context.values)
    if isinstance(utility.stage, PointwiseStage):
        terms = utility.stage(context, masks)
    else:
        terms = take(stage_table(context, utility), masks)
    return xp.sum(terms, axis=-1)


def score_candidates(context: Context, utility: Utility, attributions: Any) -> Any:
    """Scores of several attributions per row: (..., candidates, n) -> (..., candidates).

    A user's own function is called once per candidate, always with the shapes it was promised.
    """
    xp = array_api_compat.array_namespace(context.values)
    *lead, candidates, n_players = attributions.shape
    if utility.evaluate is not None:
        each = [_evaluated(context, utility, attributions[..., index, :]) for index in range(candidates)]
        return xp.stack(each, axis=-1)
    masks = xp.reshape(prefix_masks(ranking(attributions)), (*lead, candidates * n_players))
    if isinstance(utility.stage, PointwiseStage):
        terms = utility.stage(context, masks)
    else:
        terms = take(stage_table(context, utility), masks)
    return xp.sum(xp.reshape(terms, (*lead, candidates, n_players)), axis=-1)


def stage_table(context: Context, utility: Utility) -> Any:
    """The table c(S) of an additive utility, shape (..., 2**n), checked.

    Raises:
        ValueError: If a user's stage returns another shape, NaN or infinity.
    """
    assert utility.stage is not None  # noqa: S101 - callers ask utility.additive first
    table = utility.stage(context)
    if isinstance(utility.stage, PointwiseStage):
        return table
    xp = array_api_compat.array_namespace(context.values)
    if isinstance(context.values, np.ndarray):
        table = _real(table, "stage", utility)
    if tuple(table.shape) != tuple(context.values.shape):
        shapes = f"{tuple(table.shape)}; expected {tuple(context.values.shape)}"
        msg = f"stage of utility {utility.name!r} returned shape {shapes}."
        raise ValueError(msg)
    if not bool(xp.all(xp.isfinite(table))):
        msg = f"stage of utility {utility.name!r} returned NaN or infinity."
        raise ValueError(msg)
    return table


def _real(answer: Any, part: str, utility: Utility) -> Any:
    try:
        return np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"{part} of utility {utility.name!r} returned {type(answer).__name__}, which is no array of real numbers."
        raise TypeError(msg) from error


def _evaluated(context: Context, utility: Utility, attributions: Any) -> Any:
    assert utility.evaluate is not None  # noqa: S101 - the caller has asked
    result = utility.evaluate(attributions, context)
    if isinstance(context.values, np.ndarray):
        result = _real(result, "evaluate", utility)
    lead = np.broadcast_shapes(tuple(attributions.shape[:-1]), tuple(context.values.shape[:-1]))
    if tuple(result.shape) != lead:
        msg = f"evaluate of utility {utility.name!r} returned shape {tuple(result.shape)}; expected {lead}."
        raise ValueError(msg)
    if bool(array_api_compat.array_namespace(result).any(result != result)):  # noqa: PLR0124 - NaN alone differs from itself
        msg = f"evaluate of utility {utility.name!r} returned NaN."
        raise ValueError(msg)
    return result
