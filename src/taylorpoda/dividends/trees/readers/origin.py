"""Whose class a model is: what predicts in its own way is no sum of the leaves it inherited."""

from __future__ import annotations

from typing import Any

from taylorpoda.dividends.trees.ensemble import UnsupportedTreesError
from taylorpoda.games.models.boosted import speaks_as

_SAYING = ("predict", "predict_proba", "decision_function", "inplace_predict", "transform")


def is_own(model: Any, library: str, *names: str) -> bool:
    """Whether a model is one of a library's classes by name, or a subclass that leaves predicting to it."""
    bases = {(base.__module__.split(".")[0], base.__name__) for base in type(model).__mro__}
    if bases.isdisjoint((library, name) for name in names):
        return False
    replaced = getattr(model, "__dict__", {}).keys() & set(_SAYING)  # told apart: `check_unchanged` names them
    return speaks_as(model, library, *(name for name in _SAYING if name not in replaced))


def check_unchanged(*models: Any) -> None:
    """Refuse models on which a method was replaced: they say something else than their class.

    Raises:
        UnsupportedTreesError: If one was; the message names it.
    """
    for model in models:
        for method in _SAYING:
            if method in getattr(model, "__dict__", {}):
                msg = (
                    f"{method} of this {type(model).__name__} was replaced on the instance, so what it says is not "
                    "known to be what its class says."
                )
                raise UnsupportedTreesError(msg)
