"""Refuse an unknown name, list the known ones and suggest the nearest."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

T = TypeVar("T")
# As many names as a person reads; the nearest is suggested among all of them.
_LISTED = 60


def unknown_choice(parameter: str, value: object, allowed: Iterable[str]) -> ValueError:
    """The error for a name that is not among `allowed`, with the nearest one suggested.

    Args:
        parameter: The parameter as the user wrote it.
        value: What came.
        allowed: The known names.

    Returns:
        An error to raise.
    """
    names = sorted(allowed)
    spelled = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(str(value).casefold(), spelled, n=1, cutoff=0.5)
    hint = f" Did you mean {spelled[near[0]]!r}?" if near else ""
    more = f", ... ({len(names):,} in all)" if len(names) > _LISTED else ""
    msg = f"{parameter}={value!r} is not known.{hint} Allowed: {', '.join(map(repr, names[:_LISTED]))}{more}."
    return ValueError(msg)


def check_choice(parameter: str, value: object, allowed: Iterable[str]) -> str:
    """Return `value` if it is one of `allowed`, else raise a ValueError that lists them."""
    names = tuple(allowed)
    if isinstance(value, str) and value in names:
        return value
    raise unknown_choice(parameter, value, names)


class Registry(Generic[T]):
    """The names a room knows; a new rule is one new file plus one line here."""

    def __init__(self, parameter: str, entries: dict[str, T] | None = None) -> None:
        self._parameter = parameter
        self._entries: dict[str, T] = dict(entries or {})

    def register(self, name: str, entry: T) -> None:
        """Add or replace an entry."""
        self._entries[name] = entry

    def __getitem__(self, name: str) -> T:
        return self._entries[check_choice(self._parameter, name, self._entries)]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)
