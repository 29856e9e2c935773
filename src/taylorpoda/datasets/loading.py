"""From a name to a data set: the user's directory, else the cache, else a download."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from taylorpoda._support.choices import check_choice
from taylorpoda.datasets.base import Dataset, content_checksum
from taylorpoda.datasets.cache import cache_root, fetch, store, usable
from taylorpoda.datasets.catalogue import RECIPES
from taylorpoda.datasets.download import DownloadError, download
from taylorpoda.datasets.recipes import Recipe, Source
from taylorpoda.datasets.records import DataFormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from taylorpoda.datasets.recipes import Arrays

Read = TypeVar("Read")
_VARIABLE = "TAYLORPODA_DATA"


class DataUnavailableError(FileNotFoundError):
    """A data set is neither on this machine nor to be had from the network."""


def names() -> tuple[str, ...]:
    """The data sets `load` knows."""
    return tuple(RECIPES)


def load(name: str, *, data: str | Path | None = None, cache: str | Path | None = None) -> Dataset:
    """Load a data set of the paper.

    It is read from `data` if it has the file; else from the cache, if the cached file is whole; else it is
    downloaded from its public home, with retries, and kept in the cache. A source whose content is not the one the
    published results use is the last resort: it gives a warning and is not kept.

    Args:
        name: "cancer", "rice", "titanic", "abalone", "california", "concrete" or "mnist38".
        data: A directory with the files, or the http address of one; the environment variable TAYLORPODA_DATA
            unless given.
        cache: Where downloads are kept; the `datasets` folder of the user's cache directory unless given.

    Returns:
        The data set. Its rows are in the order of the file.

    Raises:
        ValueError: If the name is unknown, or the cache cannot be written to.
        DataFormatError: If a file, whole or damaged, is not the data set it should be; a ValueError.
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
            return _announced(_from_file(name, recipe, path), recipe)
    directory = Path(cache).expanduser() if cache is not None else cache_root() / "datasets"
    kept = _from_cache(name, recipe, directory)
    if kept is not None:
        return kept
    usable(directory, "" if cache is None else "cache")  # before the download, which would be lost
    loaded = _download(name, recipe, place, directory)
    if loaded.verified:
        store(directory, name, loaded.X, loaded.y, loaded.source)
    return _announced(loaded, recipe)


def _from_file(name: str, recipe: Recipe, path: Path) -> Dataset:
    try:
        return _dataset(name, recipe, _understood(recipe.parse, path.read_bytes()), str(path))
    except DataFormatError as error:
        msg = f"{path}: {error}"
        raise DataFormatError(msg) from error


def _from_cache(name: str, recipe: Recipe, directory: Path) -> Dataset | None:
    """The cached data set, if it is the published one: anything else is asked for again."""
    stored = fetch(directory, name)
    if stored is None:
        return None
    try:
        kept = _dataset(name, recipe, (stored.X, stored.y), stored.source)
    except DataFormatError:
        return None
    return kept if kept.verified else None


def _download(name: str, recipe: Recipe, place: str, directory: Path) -> Dataset:
    """From the first source with the published content, else from the first that has the shape."""
    failures: list[str] = []
    unverified: Dataset | None = None
    for source in recipe.sources:
        try:
            content, address = download(source.url), source.url
            if source.follow is not None:
                address = _understood(source.follow, content)
                content = download(address)
            loaded = _dataset(name, recipe, _understood(source.parse, content), address)
        except DownloadError as error:
            failures.append(str(error))
        except DataFormatError as error:
            failures.append(f"{source.url}: {error}")
        else:
            if loaded.verified:
                return loaded
            unverified = unverified or loaded
    if unverified is not None:
        return unverified
    tried = "\n  ".join(failures)
    msg = (
        f"the data set {name!r} is not on this machine and could not be downloaded:\n  {tried}\n"
        f"Two ways out: put {recipe.file!r} into a directory and set {_VARIABLE} to it "
        f"({f'now {place!r}' if place else 'now not set'}); or connect to the internet and try again, "
        f"it will then be kept in {directory}."
    )
    raise DataUnavailableError(msg)


def _understood(read: Callable[[bytes], Read], content: bytes) -> Read:
    """What a reader makes of bytes; whatever it stumbles over is the fault of the bytes."""
    try:
        return read(content)
    except (DataFormatError, MemoryError):
        raise
    except Exception as error:
        # Not the library's own words: they advise on calls that nobody here made.
        msg = f"cannot be read: it is damaged or something else ({type(error).__name__})."
        raise DataFormatError(msg) from error


def _announced(loaded: Dataset, recipe: Recipe) -> Dataset:
    """The data set, with a warning if it is not the published one."""
    if not loaded.verified:
        msg = (
            f"{loaded.source} has the shape of {loaded.name!r} but not its content (checksum "
            f"{loaded.checksum[:12]}..., expected {recipe.checksum[:12]}...): results will differ from the published "
            "ones."
        )
        warnings.warn(msg, stacklevel=3)
    return loaded


def _dataset(name: str, recipe: Recipe, arrays: Arrays, source: str) -> Dataset:
    features, target = arrays
    if features.shape != recipe.shape or target.shape != recipe.shape[:1]:
        msg = f"it has shape {features.shape}; {name!r} has {recipe.shape}."
        raise DataFormatError(msg)
    if not (np.isfinite(features).all() and np.isfinite(target).all()):
        msg = f"it has missing or infinite cells; {name!r} has none."
        raise DataFormatError(msg)
    checksum = content_checksum(features, target)
    return Dataset(
        name=name,
        X=features,
        y=target,
        names=recipe.names,
        task=recipe.task,
        description=recipe.description,
        source=source,
        checksum=checksum,
        verified=checksum == recipe.checksum,
        classes=recipe.classes,
        train_rows=recipe.train_rows,
    )
