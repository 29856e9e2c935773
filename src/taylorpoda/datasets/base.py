"""What a data set is: its numbers, what they are called, and where they came from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.optional import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SIGNIFICANT_DIGITS = 9


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set of the paper, ready to train on.

    Attributes:
        name: The name it is loaded by.
        X: Shape (rows, features), float64; (rows, 28, 28), uint8, for images.
        y: Shape (rows,): class 0 or 1 as integers, or the target as float64.
        names: One name per feature; empty for images.
        task: "classification" or "regression".
        description: What it is, and which rows and columns were kept.
        source: The file or address it was read from.
        checksum: SHA-256 of its content (nine significant digits, in order), whatever the file it came in.
        verified: Whether the checksum is that of the data set the published results use.
        classes: What the integers of `y` stand for, in order; empty for regression.
        train_rows: How many leading rows are the official training part, where there is one.
    """

    name: str
    X: NDArray[Any] = field(repr=False)
    y: NDArray[Any] = field(repr=False)
    names: tuple[str, ...]
    task: str
    description: str = field(repr=False)
    source: str
    checksum: str = field(repr=False)
    verified: bool
    classes: tuple[str, ...] = ()
    train_rows: int | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """How many features a row has."""
        return int(np.prod(self.X.shape[1:]))

    def to_frame(self) -> Any:
        """The features and the target as one pandas DataFrame.

        Returns:
            A DataFrame; the target is its last column, "target".

        Raises:
            ImportError: If pandas is not installed.
        """
        pandas = require("pandas", "paper", "Dataset.to_frame")
        names = list(self.names) or [f"pixel{index}" for index in range(self.n_features)]
        frame = pandas.DataFrame(self.X.reshape(self.n_rows, -1), columns=names)
        return frame.assign(target=self.y)


def content_checksum(features: NDArray[Any], target: NDArray[Any]) -> str:
    """SHA-256 of the numbers, so that CSV, ARFF and npz forms of one data set agree.

    Nine significant digits are kept: files differ in how they print the rest.
    """
    digest = hashlib.sha256()
    for array in (features, target):
        digest.update(repr(array.shape).encode())
        if array.dtype.kind == "f":
            digest.update("\n".join(f"{number:.{_SIGNIFICANT_DIGITS}g}" for number in (array + 0.0).ravel()).encode())
        else:
            digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
    return digest.hexdigest()
