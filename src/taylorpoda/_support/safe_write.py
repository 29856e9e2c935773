"""Files that appear whole or not at all."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """Where to write a file that takes the place of `path` once it is whole.

    Args:
        path: Where to; what is no regular file (a terminal, a pipe) is written to as it is.

    Yields:
        A file beside it, gone afterwards whatever happens.

    Raises:
        OSError: If it cannot be written; the message names `path`.
    """
    if path.is_dir():
        msg = f"path={str(path)!r} is a directory; a file name is needed."
        raise IsADirectoryError(msg)
    if path.exists() and not path.is_file():
        yield path
        return
    if not path.absolute().parent.is_dir():
        msg = f"path={str(path)!r} is in a folder that does not exist; make it first."
        raise FileNotFoundError(msg)
    draft = path.with_name(f".{secrets.token_hex(8)}.part")  # not its own name, which may be as long as names can be
    try:
        yield draft
        draft.replace(path)
    except OSError as error:
        if error.filename != str(draft):
            raise
        msg = f"path={str(path)!r} cannot be written: {error.strerror}."
        raise type(error)(msg) from error
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def replaced(path: Path) -> Iterator[TextIO]:
    """A text file to write in UTF-8 that takes the place of `path` once it is whole.

    Args:
        path: Where to, as for `drafted`.

    Example:
        >>> from pathlib import Path
        >>> with replaced(Path("numbers.csv")) as stream:                    # doctest: +SKIP
        ...     stream.write("a,b")
    """
    with drafted(path) as draft, draft.open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
        yield stream
