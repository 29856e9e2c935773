"""The data of the paper: from a directory of yours, a checksummed cache, or a download."""

from __future__ import annotations

from taylorpoda.datasets.base import Dataset
from taylorpoda.datasets.loading import DataUnavailableError, load, names
from taylorpoda.datasets.records import DataFormatError

__all__ = ["DataFormatError", "DataUnavailableError", "Dataset", "load", "names"]
