"""From a name to a data set: the user's directory, else the cache, else a download."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from taylorpoda._support.choices import check_choice
from taylorpoda.datasets.base import Dataset, content_checksum
from taylorpoda.datasets.cache import cache_root, fetch, store
from taylorpoda.datasets.catalogue import RECIPES
from taylorpoda.datasets.download import DownloadError, download
from taylorpoda.datasets.recipes import Recipe, Source
from taylorpoda.datasets.records import DataFormatError

if TYPE_CHECKING:
    from taylorpoda.datasets.recipes import Arrays

_VARIABLE = "TAYLORPODA_DATA"


class DataUnavailableError(FileNotFoundError):
    """A data set is neither on this machine nor to be had from the network."""


def names() -> tuple[str, ...]:
    """The data sets `load` knows."""
    return tuple(RECIPES)


def load(name: str, *, data: str | Path | None = None, cache: str | Path | None = None) -> Dataset:
    """Load a data set of the paper.

    It is read from `data` if it has the file; else from the cache, if the cached file is whole; else it is
    downloaded from its public home, with retries, and kept in the cache.

    Args:
        name: "cancer", "rice", "titanic", "abalone", "california", "concrete" or "mnist38".
        data: A directory with the files, or the http address of one; the environment variable TAYLORPODA_DATA
            unless given.
        cache: Where downloads are kept; the `datasets` folder of the user's cache directory unless given.

    Returns:
        The data set. Its rows are in the order of the file.

    Raises:
        ValueError: If the name is unknown, or a file is not the data set it should be.
        DataUnavailableError: If there is no file and no download succeeds; the message says both ways out.

    Example:
        >>> cancer = load("cancer")  # doctest: +SKIP
        >>> cancer.X.shape  # doctest: +SKIP
        (683, 9)
    """
    recipe = RECIPES[check_choice("name", name, RECIPES)]
    place = str(data) if data is not None else os.environ.get(_VARIABLE, "")
    if place.startswith(("http://", "https://")):
        mirror = Source(f"{place.rstrip('/')}/{recipe.file}", recipe.parse)
        recipe = replace(recipe, sources=(mirror, *recipe.sources))
    elif place:
        path = Path(place).expanduser() / recipe.file
        if path.is_file():
            return _dataset(name, recipe, _read(path, recipe), str(path))
    directory = Path(cache).expanduser() if cache is not None else cache_root() / "datasets"
    stored = fetch(directory, name)
    if stored is not None:
        return _dataset(name, recipe, (stored.X, stored.y), stored.source)
    arrays, address = _download(name, recipe, place, directory)
    loaded = _dataset(name, recipe, arrays, address)
    store(directory, name, *arrays, address)
    return loaded


def _read(path: Path, recipe: Recipe) -> Arrays:
    try:
        return recipe.parse(path.read_bytes())
    except DataFormatError as error:
        msg = f"{path}: {error}"
        raise DataFormatError(msg) from error


def _download(name: str, recipe: Recipe, place: str, directory: Path) -> tuple[Arrays, str]:
    failures: list[str] = []
    for source in recipe.sources:
        try:
            content, address = download(source.url), source.url
            if source.follow is not None:
                address = source.follow(content)
                content = download(address)
            arrays = source.parse(content)
            _check_shape(name, recipe, arrays, address)
        except DownloadError as error:
            failures.append(str(error))
        except DataFormatError as error:
            failures.append(f"{source.url}: {error}")
        else:
            return arrays, address
    tried = "\n  ".join(failures)
    msg = (
        f"the data set {name!r} is not on this machine and could not be downloaded:\n  {tried}\n"
        f"Two ways out: put {recipe.file!r} into a directory and set {_VARIABLE} to it "
        f"({f'now {place!r}' if place else 'now not set'}); or connect to the internet and try again, "
        f"it will then be kept in {directory}."
    )
    raise DataUnavailableError(msg)


def _check_shape(name: str, recipe: Recipe, arrays: Arrays, source: str) -> None:
    features, target = arrays
    if features.shape != recipe.shape or target.shape != recipe.shape[:1]:
        msg = f"{source} has shape {features.shape}; {name!r} has {recipe.shape}."
        raise DataFormatError(msg)


def _dataset(name: str, recipe: Recipe, arrays: Arrays, source: str) -> Dataset:
    _check_shape(name, recipe, arrays, source)
    features, target = arrays
    checksum = content_checksum(features, target)
    verified = checksum == recipe.checksum
    if not verified:
        msg = (
            f"{source} has the shape of {name!r} but not its content (checksum {checksum[:12]}..., expected "
            f"{recipe.checksum[:12]}...): results will differ from the published ones."
        )
        warnings.warn(msg, stacklevel=3)
    return Dataset(
        name=name,
        X=features,
        y=target,
        names=recipe.names,
        task=recipe.task,
        description=recipe.description,
        source=source,
        checksum=checksum,
        verified=verified,
        classes=recipe.classes,
        train_rows=recipe.train_rows,
    )
