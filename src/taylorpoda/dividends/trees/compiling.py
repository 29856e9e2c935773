"""How kernels are compiled: once, kept on disk, and without holding the interpreter's lock.

The machine code is kept beside the package, or in the user's cache folder where the package cannot be written to, or
where NUMBA_CACHE_DIR says; a second process loads it and compiles nothing. Where no folder at all can be written to,
every process compiles for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

Kernel = TypeVar("Kernel", bound="Callable[..., Any]")


def compiled(function: Kernel) -> Kernel:
    """Compile a function at its first call, or load what an earlier process compiled."""
    return _compiled(function)


def inlined(function: Kernel) -> Kernel:
    """The same for a small function that is written out where it is called."""
    return _compiled(function, inline="always")


def _compiled(function: Any, **options: Any) -> Any:
    try:
        return numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # numba finds no folder to keep machine code in
        return numba.njit(nogil=True, **options)(function)
