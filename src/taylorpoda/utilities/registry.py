"""The utilities known by name."""

from __future__ import annotations

from taylorpoda._support.choices import Registry
from taylorpoda.utilities.base import Utility
from taylorpoda.utilities.builtin import BUILTIN

REGISTRY: Registry[Utility] = Registry("utility", dict(BUILTIN))


def resolve(utility: str | Utility) -> Utility:
    """A utility by name, or the one given.

    Raises:
        ValueError: If the name is unknown; the message lists the known ones and suggests the nearest.
        TypeError: If it is neither a name nor a Utility.
    """
    if isinstance(utility, Utility):
        return utility
    if isinstance(utility, str):
        return REGISTRY[utility]
    msg = (
        f"utility={utility!r} has type {type(utility).__name__}; allowed: one of {', '.join(map(repr, REGISTRY))}, "
        "or a taylorpoda.Utility."
    )
    raise TypeError(msg)
