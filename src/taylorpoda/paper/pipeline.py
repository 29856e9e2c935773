"""The stages: data -> model -> surrogate and its table of values -> LIME -> methods and their scores -> cells."""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.progress import silenced
from taylorpoda._version import __version__
from taylorpoda.datasets import load
from taylorpoda.dividends.dense import coalition_sizes
from taylorpoda.methods import lime
from taylorpoda.paper.attributions import attribute
from taylorpoda.paper.cells import Cell, pair_cells
from taylorpoda.paper.parallel import run_all
from taylorpoda.paper.sample import sample
from taylorpoda.paper.settings import BASELINE, DATA, METHODS, UTILITIES, Settings
from taylorpoda.paper.store import Product, Store
from taylorpoda.paper.summary import summarize
from taylorpoda.paper.task_models import restore, train
from taylorpoda.paper.value_tables import value_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.paper.store import Arrays

Event = Callable[[str, str, str, str], None]

_LIBRARIES = {
    "numpy": "numpy",
    "scipy": "scipy",
    "scikit-learn": "sklearn",
    "xgboost": "xgboost",
    "lime": "lime",
    "daqp": "daqp",
}


@dataclass(frozen=True)
class Content:
    """What the numbers of a data set were.

    Attributes:
        checksum: SHA-256 of its content, whatever the file it came in.
        verified: Whether that is the data set the published results use.
    """

    checksum: str
    verified: bool


@dataclass(frozen=True)
class Pair:
    """One (data, model) pair, explained.

    Attributes:
        data: The data set.
        model: The model.
        task: "classification" or "regression".
        explained: What `attribute` made, once per training of the surrogate.
        error_by_size: Mean of (f(x) - v(S))^2 over hold-out rows and coalitions S of each size 0 .. n.
    """

    data: str
    model: str
    task: str
    explained: tuple[Mapping[str, NDArray[Any]], ...]
    error_by_size: NDArray[np.float64]

    @property
    def certified_fraction(self) -> float:
        """The share of rows, over all trainings and utilities, whose optimal allocation is certified."""
        rows = [one[f"certified/{utility}"] for one in self.explained for utility in UTILITIES[self.task]]
        return float(np.mean(np.concatenate(rows)))

    def discrepancy(self, method: str, utility: str = "inclusion_aup") -> NDArray[np.float64]:
        """v(empty) + sum of attributions - v(N), row by row of the first training."""
        return np.asarray(self.explained[0][f"discrepancy/{utility}/{method}"])

    def max_discrepancy(self, method: str) -> float:
        """The largest absolute discrepancy over rows and utilities, in the first training."""
        return max(float(np.max(np.abs(self.discrepancy(method, utility)))) for utility in UTILITIES[self.task])


@dataclass(frozen=True, repr=False)
class _Task:
    """One pair to be worked on."""

    settings: Settings
    root: str
    data: str
    model: str
    content: Content

    def __repr__(self) -> str:
        return f"{self.data} on {self.model}"


@dataclass(frozen=True)
class Reproduction:
    """Everything a run found.

    Attributes:
        settings: What was run.
        cells: All cells, in the order of the paper's tables.
        pairs: The explained pairs.
        versions: Of everything the numbers depend on.
        overlaps: Cells whose intervals overlap the paper's, for every training of the surrogate.
        data: {data set: its content}.
    """

    settings: Settings
    cells: tuple[Cell, ...]
    pairs: tuple[Pair, ...]
    versions: dict[str, str]
    overlaps: tuple[int, ...]
    data: dict[str, Content]


def reproduce(
    settings: Settings, *, store: Store | None = None, jobs: int = 1, listen: Event | None = None
) -> Reproduction:
    """Run what is not yet in the store, and assemble the cells.

    Args:
        settings: What to run.
        store: Where finished stages are kept; under the user's cache directory unless given.
        jobs: How many pairs are worked on at a time, each in a process of its own.
        listen: Hears (data, model, stage, state) as it happens; see `parallel.run_all`.

    Returns:
        The reproduction; the same for the same settings, whatever `jobs` and however often it was
        interrupted.
    """
    kept = store or Store.default()
    pairs = settings.pairs()
    # Downloads happen here, in sight; the stages are told which content is meant.
    loaded = {data: load(data) for data in dict.fromkeys(data for data, _ in pairs)}
    contents = {data: Content(one.checksum, one.verified) for data, one in loaded.items()}
    # The longest first, so that no process is left alone with one at the end.
    order = sorted(range(len(pairs)), key=lambda number: -_SIZES[pairs[number][0]])
    tasks = [_Task(settings, str(kept.root), *pairs[number], contents[pairs[number][0]]) for number in order]

    def hear(number: int, stage: str, state: str) -> None:
        if listen is not None:
            listen(tasks[number].data, tasks[number].model, stage, state)

    run_all(_work, tasks, jobs=jobs, listen=hear)
    explained = tuple(_explained(settings, kept, data, model, contents[data]) for data, model in pairs)
    alone = [_cells(settings, explained, slice(training, training + 1)) for training in range(settings.retrain)]
    overlaps = tuple(summarize(cells).overlap["all"].count for cells in alone)
    cells = _cells(settings, explained, slice(None))
    return Reproduction(settings, cells, explained, versions(), overlaps, contents)


def _cells(settings: Settings, pairs: tuple[Pair, ...], trainings: slice) -> tuple[Cell, ...]:
    """The cells as some of the trainings give them, means and intervals from the first of those."""
    return tuple(
        cell
        for pair in pairs
        for cell in pair_cells(
            pair.data,
            pair.model,
            pair.task,
            list(pair.explained[trainings]),
            resamples=settings.bootstrap,
            seed=settings.explaining_seed,
        )
    )


_SIZES = {"california": 20640, "abalone": 4177, "rice": 3810, "concrete": 1030, "cancer": 683, "titanic": 712}


def weights(settings: Settings) -> dict[tuple[str, str], float]:
    """About how long each pair takes, in any unit: what they share, and the rows the surrogate is trained on."""
    return {(data, model): 1000.0 + _SIZES[data] for data, model in settings.pairs()}


def versions() -> dict[str, str]:
    """The versions behind the numbers."""
    found = {"taylorpoda": __version__, "python": platform.python_version()}
    for library, module in _LIBRARIES.items():
        # A library may come under another name, such as xgboost-cpu.
        for name in (library, *_distributions().get(module, ())):
            with contextlib.suppress(PackageNotFoundError):
                found.setdefault(library, version(name))
    return found


@lru_cache(maxsize=1)
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()


def _work(task: _Task, tell: Callable[[str, str], None]) -> None:
    with silenced():  # the run shows its own progress
        _explained(task.settings, Store(Path(task.root), tell), task.data, task.model, task.content)


def _explained(settings: Settings, store: Store, data: str, model: str, content: Content) -> Pair:
    """All stages of one pair, each from the store if it is there."""
    task, seed = DATA[data], settings.seed
    prepared = _prepared(settings, store, data, content)
    network = settings.network(data, model)
    trained = store.product(
        "model",
        {
            "data": prepared.key,
            "network": None if network is None else [network.activation, *network.hidden],
            "seed": seed,
            "versions": _versions_of("scikit-learn", "xgboost", "numpy"),
        },
        lambda: train(network, task, prepared.arrays["train"], prepared.arrays["train_y"], seed=seed),
    )
    rows, background = prepared.arrays["rows"], prepared.arrays["train"]

    def predict(table: NDArray[np.float64]) -> NDArray[np.float64]:
        return restored(table)

    restored = restore(network, trained.arrays, task)
    local = store.product(
        "lime",
        {
            "model": trained.key,
            "seed": settings.explaining_seed,
            "versions": _versions_of("lime", "scikit-learn", "numpy"),
        },
        lambda: {"weights": lime(predict, background, rows, random_state=settings.explaining_seed)},
    )
    made, error = [], np.zeros(0)
    for training in range(settings.retrain):
        table = store.product(
            "table",
            {
                "model": trained.key,
                "surrogate": settings.surrogate,
                "seed": seed,
                "training": training,
                "versions": _versions_of("taylorpoda", "numpy"),
            },
            lambda training=training: {  # type: ignore[misc]
                "values": value_table(
                    predict,
                    background,
                    rows,
                    surrogate=settings.surrogate,
                    task=task,
                    seed=seed + training,
                )
            },
        )
        if training == 0:
            error = error_by_size(table.arrays["values"])
        made.append(_attributed(settings, store, task, prepared, table, local))
    return Pair(data, model, task, tuple(one.arrays for one in made), error)


def _prepared(settings: Settings, store: Store, data: str, content: Content) -> Product:
    def make() -> Arrays:
        dataset = load(data)
        if dataset.checksum != content.checksum:
            msg = (
                f"{dataset.source} changed during the run: its checksum was {content.checksum[:12]}... and is "
                f"{dataset.checksum[:12]}...; run it again."
            )
            raise ValueError(msg)
        return sample(dataset, rows=settings.rows, seed=settings.explaining_seed)

    return store.product(
        "data",
        {
            "checksum": content.checksum,
            "task": DATA[data],
            "rows": settings.rows,
            "seed": settings.explaining_seed,
            "versions": _versions_of("numpy", "scipy"),
        },
        make,
    )


def _attributed(
    settings: Settings, store: Store, task: str, prepared: Product, table: Product, local: Product
) -> Product:
    return store.product(
        "methods",
        {
            "table": table.key,
            "lime": local.key,
            "label": settings.label if task == "classification" else "",
            "candidates": settings.candidates,
            "seed": settings.seed,
            "versions": _versions_of("taylorpoda", "daqp", "numpy"),
        },
        lambda: attribute(
            table.arrays["values"],
            prepared.arrays["y"],
            local.arrays["weights"],
            task=task,
            label=settings.label,
            candidates=settings.candidates,
            seed=settings.seed,
        ),
    )


def _versions_of(*libraries: str) -> dict[str, str]:
    found = versions()
    return {library: found.get(library, "") for library in libraries}


def error_by_size(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of (f(x) - v(S))^2 over rows and coalitions of each size: (rows, 2**n) -> (n + 1,).

    Lower is nearer to the conditional expectation, which minimizes it.
    """
    n_players = table.shape[-1].bit_length() - 1
    sizes = coalition_sizes(n_players)
    squared = (table[:, -1:] - table) ** 2
    return np.array([float(squared[:, sizes == size].mean()) for size in range(n_players + 1)])


def as_json(found: Reproduction) -> dict[str, Any]:
    """The run as JSON values; the same bytes for the same settings."""
    settings = found.settings
    return {
        "settings": {**asdict(settings), "data": list(settings.data), "models": list(settings.models)},
        "seed": settings.seed,
        "surrogate": settings.surrogate,
        "data": {name: asdict(content) for name, content in found.data.items()},
        "versions": found.versions,
        "cells": [asdict(cell) for cell in found.cells],
        "summary": asdict(summarize(found.cells)) | {"overlap_by_training": list(found.overlaps)},
        "certified_fraction": _nested(
            found, lambda pair, method: pair.certified_fraction if method == "TaylorPODA-optimal" else None
        ),
        "max_discrepancy": _nested(found, lambda pair, method: pair.max_discrepancy(method)),
        "value_function_error_by_size": {
            data: {pair.model: pair.error_by_size.tolist() for pair in found.pairs if pair.data == data}
            for data in dict.fromkeys(pair.data for pair in found.pairs)
        },
    }


def _nested(found: Reproduction, value: Callable[[Pair, str], float | None]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for pair in found.pairs:
        by_method = {method: value(pair, method) for method in (BASELINE, *METHODS)}
        nested.setdefault(pair.data, {})[pair.model] = by_method
    return nested
