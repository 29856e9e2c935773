"""Small matrices are multiplied fastest by one thread: several spend their time waiting for one another."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Limits:
    """How many blocks are inside; the first to enter sets the limits and the last to leave lifts them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._restore = ExitStack()

    def enter(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._set()

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._restore.close()

    def _set(self) -> None:
        torch: Any = sys.modules.get("torch")
        if torch is not None:
            self._restore.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(1)
        try:
            limits: Any = import_module("threadpoolctl").threadpool_limits(1, user_api="blas")
        except ImportError:  # comes with scikit-learn; without it numpy's products keep their threads
            return
        self._restore.callback(limits.restore_original_limits)


_LIMITS = _Limits()


@contextmanager
def few_threads() -> Iterator[None]:
    """One thread for numpy's and torch's products inside the block, where that can be arranged."""
    _LIMITS.enter()
    try:
        yield
    finally:
        _LIMITS.leave()
