"""Text files that appear whole or not at all."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def replaced(path: Path) -> Iterator[TextIO]:
    """A text file to write in UTF-8 that takes the place of `path` once it is whole.

    Args:
        path: Where to; what is no regular file (a terminal, a pipe) is written to as it is.

    Example:
        >>> from pathlib import Path
        >>> with replaced(Path("numbers.csv")) as stream:                    # doctest: +SKIP
        ...     stream.write("a,b")
    """
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            yield stream
        return
    draft = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.part")
    try:
        with draft.open("x", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            yield stream
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
