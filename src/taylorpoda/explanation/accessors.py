"""The seam by which upper rooms (plots, say) hang themselves on an Explanation without being imported by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_ACCESSORS: dict[str, Callable[[Any], Any]] = {}


def register(name: str, accessor: Callable[[Any], Any]) -> None:
    """Make `explanation.<name>` call `accessor(explanation)`.

    Args:
        name: The attribute name.
        accessor: Builds the object that the attribute gives.
    """
    _ACCESSORS[name] = accessor


def resolve(name: str, owner: Any) -> Any:
    """The accessor object `name` of `owner`, or an AttributeError."""
    if name not in _ACCESSORS:
        msg = f"{type(owner).__name__!r} object has no attribute {name!r}"
        raise AttributeError(msg)
    return _ACCESSORS[name](owner)
