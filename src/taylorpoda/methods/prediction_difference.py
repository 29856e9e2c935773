"""Prediction difference (Robnik-Sikonja and Kononenko, 2008): what is lost without one feature."""

from __future__ import annotations

from typing import Any, Literal, get_args

from taylorpoda._support.arrays import as_table
from taylorpoda._support.choices import check_choice
from taylorpoda.dividends import occlusion_of

PredictionDifferenceForm = Literal["difference", "log_odds", "information"]


def prediction_difference(values: Any, *, form: PredictionDifferenceForm = "difference") -> Any:
    """What the prediction loses when one feature becomes unknown, in one of three measures.

    On the table of a game the plain difference is OCC-1. The other two are OCC-1 of a transformed game and
    read the values as probabilities: the weight of evidence, log2 odds(p(N)) - log2 odds(p(N without i)),
    and the information, log2 p(N) - log2 p(N without i). They are not linear in the game.

    Args:
        values: Table of a game, shape (..., 2**n), numpy or torch.
        form: "difference", "log_odds" or "information".

    Returns:
        Attributions of shape (..., n); bits for the last two forms.

    Raises:
        ValueError: If a value the form needs is no probability it can take the logarithm of; nothing is
            clipped.

    Example:
        >>> import numpy as np
        >>> prediction_difference(np.array([0.5, 0.25, 0.125, 0.5]), form="information")
        array([2., 1.])
    """
    check_choice("form", form, get_args(PredictionDifferenceForm))
    if form == "difference":
        return occlusion_of(values)
    xp, table, n_players = as_table(values)
    full = table.shape[-1] - 1
    columns = [table[..., full], *(table[..., full ^ (1 << player)] for player in range(n_players))]
    needed = xp.stack(columns, axis=-1)
    least_bad = needed <= 0.0 if form == "information" else (needed <= 0.0) | (needed >= 1.0)
    most_bad = needed > 1.0
    if bool(xp.any(least_bad | most_bad)):
        allowed = "0 < v <= 1" if form == "information" else "0 < v < 1"
        lowest, highest = float(xp.min(needed)), float(xp.max(needed))
        msg = (
            f"form={form!r} reads the values as probabilities and needs {allowed} for N and every N without "
            f"one player; they range from {lowest:g} to {highest:g}."
        )
        raise ValueError(msg)
    measure = xp.log2(needed) if form == "information" else xp.log2(needed) - xp.log2(1.0 - needed)
    return measure[..., :1] - measure[..., 1:]
