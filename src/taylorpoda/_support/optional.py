"""Optional dependencies: imported on use, with the exact install line when absent."""

from __future__ import annotations

import importlib
from typing import Any


def require(module: str, extra: str, purpose: str) -> Any:
    """Import an optional dependency or say how to install it.

    Args:
        module: The module to import, e.g. "numba".
        extra: The extra of this package that brings it, e.g. "trees".
        purpose: What needs it, for the message.

    Returns:
        The imported module.

    Raises:
        ImportError: If it is not installed; the message is the install line.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".", maxsplit=1)[0]
        msg = f"{purpose} needs {package}: pip install 'taylorpoda[{extra}]'"
        raise ImportError(msg) from error
