"""The file: a zip of .npy members and one JSON member, none compressed: nothing unpacks to more than is there.

Everything is checked before it is used: names, sizes, checksums, array headers. Nothing is unpickled, nothing is
written to disk. The file opens with `numpy.load` too.
"""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.display import one_line
from taylorpoda._support.safe_write import drafted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

    from numpy.typing import NDArray

HEADER = "explanation.json"
_MEMBER = re.compile(r"[a-z0-9_]+(?:/[a-z0-9_]+)*\.npy")
_KINDS = "biufcMmSU"
_MOST_MEMBERS = 100_000
_ENCRYPTED = 0x1


class StorageError(ValueError):
    """A file that is no explanation, or not a whole one, or one that says what cannot be."""


def write_archive(path: Path, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the file under exactly this name; an interruption leaves what was there before.

    Args:
        path: Where to; an existing file is replaced as a whole.
        header: JSON-able.
        arrays: Arrays by name, a slash between the parts; no object arrays.
    """
    with drafted(path) as draft, draft.open("wb") as stream:
        _write(stream, header, arrays)


def to_bytes(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The same file in memory."""
    stream = io.BytesIO()
    _write(stream, header, arrays)
    return stream.getvalue()


def _write(stream: BinaryIO, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_info(HEADER), json.dumps(header, allow_nan=False))
        for name, array in arrays.items():
            with archive.open(_info(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def _info(name: str) -> zipfile.ZipInfo:
    """A member without the time of day, so that equal explanations are equal files."""
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))


def read_archive(source: Path | BinaryIO) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a file back.

    Args:
        source: The path, or an open file.

    Returns:
        The header, and the arrays by name.

    Raises:
        StorageError: If it is no such file, or not a whole one, or its sizes contradict each other.
    """
    try:
        size = source.stat().st_size if isinstance(source, Path) else source.seek(0, os.SEEK_END)
        with zipfile.ZipFile(source) as archive:
            members = _checked_members(archive, size)
            header = json.loads(archive.read(HEADER).decode("utf-8"))
            arrays = {name.removesuffix(".npy"): _array(name, archive.read(name)) for name in members}
    except (zipfile.BadZipFile, EOFError, UnicodeDecodeError, NotImplementedError, RecursionError) as error:
        raise StorageError(_reason(error)) from error
    except (RuntimeError, json.JSONDecodeError) as error:
        raise StorageError(_reason(error)) from error
    if not isinstance(header, dict):
        msg = "its header is no mapping"
        raise StorageError(msg)
    return header, arrays


def _reason(error: Exception) -> str:
    if isinstance(error, zipfile.BadZipFile):
        return f"it is not a whole archive ({one_line(error, 200)})"
    return f"it cannot be read ({type(error).__name__}: {one_line(error, 200)})"


def _checked_members(archive: zipfile.ZipFile, size: int) -> list[str]:
    infos = archive.infolist()
    names = [info.filename for info in infos]
    if HEADER not in names:
        msg = f"it has no {HEADER} inside, so it was not written by Explanation.save"
        raise StorageError(msg)
    if len(names) > _MOST_MEMBERS or len(set(names)) != len(names):
        msg = "it has too many members, or some twice"
        raise StorageError(msg)
    for info in infos:
        if info.filename != HEADER and _MEMBER.fullmatch(info.filename) is None:
            msg = f"it has a member of the name {info.filename[:80]!r}, which no explanation has"
            raise StorageError(msg)
        stored = info.compress_type == zipfile.ZIP_STORED and info.file_size == info.compress_size
        if not stored or info.flag_bits & _ENCRYPTED:
            msg = f"its member {info.filename[:80]!r} is compressed or encrypted, which no explanation is"
            raise StorageError(msg)
    if sum(info.file_size for info in infos) > size:
        msg = "its members claim more bytes than it has"
        raise StorageError(msg)
    return [name for name in names if name != HEADER]


def _array(name: str, raw: bytes) -> NDArray[Any]:
    """An array of its own memory; the header must account for every byte."""
    stream = io.BytesIO(raw)
    try:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, fortran, dtype = read[version](stream)
    except (ValueError, KeyError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        msg = f"its member {name!r} is no array that numpy wrote without pickle"
        raise StorageError(msg) from error
    if dtype.hasobject or dtype.kind not in _KINDS:
        msg = f"its member {name!r} holds {dtype} cells, which no explanation has"
        raise StorageError(msg)
    count = 1
    for length in shape:
        count *= int(length)
    if any(length < 0 for length in shape) or count * dtype.itemsize != len(raw) - stream.tell():
        msg = f"its member {name!r} says it has shape {shape[:8]}, but its bytes do not"
        raise StorageError(msg)
    if dtype.itemsize == 0:
        return np.zeros(shape, dtype=dtype)
    flat = np.frombuffer(raw, dtype=dtype, count=count, offset=stream.tell()).copy()
    return flat.reshape(shape, order="F" if fortran else "C")
