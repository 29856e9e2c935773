"""Whose class a model is: a subclass that predicts in its own way is no sum of the leaves it inherited."""

from __future__ import annotations

from typing import Any

_SAYING = ("predict", "predict_proba")


def is_own(model: Any, library: str, *names: str) -> bool:
    """Whether a model is one of a library's classes by name, or a subclass that leaves predicting to it."""
    kind = type(model)
    bases = {(base.__module__.split(".")[0], base.__name__) for base in kind.__mro__}
    if bases.isdisjoint((library, name) for name in names):
        return False
    methods = (getattr(kind, name, None) for name in _SAYING)
    return all(method is None or str(method.__module__).split(".")[0] == library for method in methods)
