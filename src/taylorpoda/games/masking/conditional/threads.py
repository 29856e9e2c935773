"""Small matrices are multiplied fastest by one thread: several spend their time waiting for one another."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def few_threads() -> Iterator[None]:
    """One thread for numpy's and torch's products inside the block, where that can be arranged."""
    torch: Any = sys.modules.get("torch")
    before = torch.get_num_threads() if torch is not None else 0
    try:
        limits: Any = import_module("threadpoolctl").threadpool_limits(1, user_api="blas")
    except ImportError:  # comes with scikit-learn; without it numpy's products keep their threads
        limits = nullcontext()
    with limits:
        if torch is not None:
            torch.set_num_threads(1)
        try:
            yield
        finally:
            if torch is not None:
                torch.set_num_threads(before)
