"""Results of stages, kept under the hash of everything they were made from.

A stage that was interrupted leaves nothing; one that finished is never computed again, unless something it
was made from has changed, and then its name has changed too. A file is an archive of numpy's with the SHA-256 of
it behind: what is not to the byte what was written is made again.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taylorpoda.datasets.cache import cache_root, usable, write_atomically

if TYPE_CHECKING:
    from pathlib import Path

Arrays = dict[str, NDArray[Any]]
Report = Callable[[str, str], None]

# Raise a stage's number when its code changes what it computes.
_REVISIONS = {"data": 1, "model": 1, "table": 4, "lime": 1, "methods": 1}
_CHECKSUM_BYTES = 32


@dataclass(frozen=True)
class Product:
    """What a stage made.

    Attributes:
        arrays: The arrays by name.
        key: The hash of everything they were made from.
    """

    arrays: Mapping[str, NDArray[Any]]
    key: str


@dataclass(frozen=True)
class Store:
    """A directory of finished stages.

    Attributes:
        root: The directory.
        report: Told (stage, "cached", "started" or "finished") as it happens.
    """

    root: Path
    report: Report = lambda stage, state: None  # noqa: ARG005 - nobody listens unless asked to

    @classmethod
    def default(cls) -> Store:
        """The one under the user's cache directory.

        Raises:
            ValueError: If that cannot be written to.
        """
        return cls(usable(cache_root() / "paper"))

    def product(self, stage: str, inputs: Mapping[str, Any], make: Callable[[], Arrays]) -> Product:
        """The product of a stage, from the store or made now.

        Args:
            stage: Its name.
            inputs: Everything the product depends on, as JSON values; products of earlier stages by their
                key.
            make: Computes the arrays.
        """
        key = content_key(stage, inputs)
        path = self.root / stage / f"{key}.npz"
        found = _read(path)
        if found is not None:
            self.report(stage, "cached")
            return Product(found, key)
        self.report(stage, "started")
        arrays = {name: np.asarray(array) for name, array in make().items()}
        write_atomically(path, _bytes_of(arrays))
        self.report(stage, "finished")
        return Product(arrays, key)


def content_key(stage: str, inputs: Mapping[str, Any]) -> str:
    """The hash of a stage's name, the revision of its code and its inputs."""
    described = {"stage": stage, "revision": _REVISIONS[stage], "inputs": dict(inputs)}
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:32]


def _bytes_of(arrays: Arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]  # numpy's stub reads ** as its own flag
    archive = buffer.getvalue()
    return archive + hashlib.sha256(archive).digest()


def _read(path: Path) -> Arrays | None:
    """The arrays, or None if they are absent or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    archive, checksum = content[:-_CHECKSUM_BYTES], content[-_CHECKSUM_BYTES:]
    # Asked first: an archive has room for damage that its own checks do not see, or see in a dozen ways.
    if hashlib.sha256(archive).digest() != checksum:
        return None
    try:
        with np.load(io.BytesIO(archive), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - whole, yet no archive: not what was written here
        return None
