"""One file per explanation: written by `Explanation.save`, read by `taylorpoda.load` without pickle or the model."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from taylorpoda.explanation.storage.archive import StorageError, read_archive, to_bytes, write_archive
from taylorpoda.explanation.storage.codec import decode_explanation, encode_explanation

if TYPE_CHECKING:
    from typing import BinaryIO

    from taylorpoda.explanation.core import Explanation
    from taylorpoda.utilities import Utility


def save(explanation: Explanation, path: str | os.PathLike[str]) -> None:
    """Write an explanation to one file, under exactly this name.

    The file is a zip of numpy arrays and one JSON text; it holds the rows, the solved games, the attributions and all
    that was proven of them, which is computed now if nobody has asked for it yet. Shares are found again from the
    stored game when asked for.

    Args:
        explanation: What to save.
        path: The file; nothing is appended to its name. An existing file is replaced once the new one is whole.

    Raises:
        TypeError: If `path` is no path, or the rows hold something that cannot be stored.
        OSError: If the file cannot be written.
    """
    write_archive(_path(path), *encode_explanation(explanation))


def load(path: str | os.PathLike[str], *, utility: Utility | None = None) -> Explanation:
    """Read an explanation that `Explanation.save` wrote. No model is needed, and nothing in the file is ever run.

    Args:
        path: The file.
        utility: The user's own utility that it was made for; needed only to score with it again.

    Returns:
        The explanation: attributions, proof, rows in their container, and the game to reallocate.

    Raises:
        StorageError: A ValueError, if it is no such file, was cut short, or contradicts itself.
        FileNotFoundError: If there is no such file.

    Warns:
        UserWarning: If a newer version wrote it.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from taylorpoda import Explainer
        >>> explanation = Explainer(lambda rows: rows.prod(axis=1), [[1.0, 2.0]], policy="shapley")([[3.0, 4.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     explanation.save(Path(folder) / "explained")
        ...     load(Path(folder) / "explained").values
        array([[5., 5.]])
    """
    where = _path(path)
    if not where.exists():
        msg = f"path={str(where)!r} does not exist."
        raise FileNotFoundError(msg)
    if where.is_dir():
        msg = f"path={str(where)!r} is a directory; the file of an explanation is needed."
        raise IsADirectoryError(msg)
    return _decoded(where, f"path={str(where)!r} is no explanation that can be read: ", utility)


def dumps(explanation: Explanation) -> bytes:
    """The file in memory."""
    return to_bytes(*encode_explanation(explanation))


def loads(stored: bytes, utility: Utility | None = None) -> Explanation:
    """The explanation of a file in memory."""
    return _decoded(io.BytesIO(stored), "these bytes are no explanation that can be read: ", utility)


def _decoded(source: Path | BinaryIO, prefix: str, utility: Utility | None) -> Explanation:
    try:
        return decode_explanation(*read_archive(source), utility)
    except StorageError as error:
        raise StorageError(prefix + str(error)) from error
    except (ImportError, OSError):
        raise
    except Exception as error:  # whatever a hostile file makes numpy, pandas or polars raise
        if utility is not None and "utility=" in str(error):
            raise
        text = f"{prefix}its parts do not fit together ({type(error).__name__}: {str(error)[:200]})"
        raise StorageError(text) from error


def _path(path: object) -> Path:
    if isinstance(path, str | os.PathLike):
        return Path(path)
    msg = f"path={path!r} has type {type(path).__name__}; allowed: text or a path."
    raise TypeError(msg)


__all__ = ["StorageError", "dumps", "load", "loads", "save"]
