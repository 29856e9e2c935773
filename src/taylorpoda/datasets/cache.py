"""The user's cache directory, and files in it that are only believed if their checksum is right."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_VARIABLE = "TAYLORPODA_CACHE"


def cache_root() -> Path:
    """Where this library keeps files: TAYLORPODA_CACHE, XDG_CACHE_HOME/taylorpoda or ~/.cache/taylorpoda."""
    chosen = os.environ.get(_VARIABLE)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        if chosen:
            return Path(chosen).expanduser()
        return (Path(base).expanduser() if base else Path.home() / ".cache") / "taylorpoda"
    except RuntimeError as error:
        msg = f"{_VARIABLE}={chosen or ''!r} cannot be used: {error} Allowed: a directory that can be written to."
        raise ValueError(msg) from error


def usable(directory: Path, parameter: str = "") -> Path:
    """A directory of the cache, made if need be.

    Args:
        directory: The directory.
        parameter: The parameter it was given by; "" if the environment decided.

    Raises:
        ValueError: If it cannot be made or written to; the message names what says where it is.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not os.access(directory, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        chosen = os.environ.get(_VARIABLE)
        if parameter:
            named = f"{parameter}={str(directory)!r}"
        elif chosen:
            named = f"{_VARIABLE}={chosen!r}"
        else:
            named = f"{_VARIABLE} is not set and {str(directory)!r}"
        msg = f"{named} cannot be used: {error.strerror}; allowed: a directory that can be written to."
        raise ValueError(msg) from error
    return directory


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the whole of it or nothing, whenever the writer is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    try:
        # Opened like any new file, so that the user's umask says who may read it.
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@dataclass(frozen=True)
class Stored:
    """A cached data set.

    Attributes:
        X: The features.
        y: The target.
        source: The address it was downloaded from.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    source: str


def store(directory: Path, name: str, features: NDArray[Any], target: NDArray[Any], source: str) -> None:
    """Keep a downloaded data set with the checksum of its file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=features, y=target)
    content = buffer.getvalue()
    write_atomically(directory / f"{name}.npz", content)
    note = {"sha256": hashlib.sha256(content).hexdigest(), "source": source}
    write_atomically(directory / f"{name}.json", json.dumps(note, indent=1).encode())


def fetch(directory: Path, name: str) -> Stored | None:
    """The cached data set, or None if it is absent, half written or damaged."""
    try:
        content = (directory / f"{name}.npz").read_bytes()
        note = json.loads((directory / f"{name}.json").read_text())
        if hashlib.sha256(content).hexdigest() != note["sha256"]:
            return None
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return Stored(arrays["X"], arrays["y"], str(note["source"]))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - whatever is wrong with it, it is not what was stored
        return None
