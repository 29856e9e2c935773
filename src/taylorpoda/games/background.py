"""Fewer background rows that stand for many: representatives with weights, and how much the answer still moves."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from taylorpoda._support.choices import check_choice
from taylorpoda._support.seeds import resolve_seed, stream
from taylorpoda.games.masking.encoding import Encoder
from taylorpoda.games.tables import read_background

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from taylorpoda.games.background_report import BackgroundReport
    from taylorpoda.games.tables.base import Table

Method = Literal["medoids", "sample"]
_METHODS = ("medoids", "sample")
_STREAM = 63
_ROUNDS = 25
# Distances between this many pairs are held at once.
_CHUNK_CELLS = 2**22


@dataclass(frozen=True, eq=False)
class Background:
    """Background rows with weights; pass it as `background` to an Explainer.

    Attributes:
        rows: The rows, in the container they came in.
        weights: Shape (rows,), summing to 1: how much of the data each stands for.
        positions: Shape (rows,): where they stood in the data.
        method: How they were chosen.
        seed: What they were chosen with.
    """

    rows: Any
    weights: NDArray[np.float64]
    positions: NDArray[np.intp]
    method: str
    seed: int
    _source: Table = field(repr=False)
    _source_weights: NDArray[np.float64] = field(repr=False)

    def __len__(self) -> int:
        return len(self.weights)

    def __repr__(self) -> str:
        return f"Background({len(self)} of {self._source.n_rows} rows, method={self.method!r}, seed={self.seed})"

    def convergence(
        self,
        model: Any,
        X: Any,
        *,
        sizes: Sequence[int] | None = None,
        output: Any = None,
        link: Literal["logit"] | None = None,
        groups: Any = None,
        orders: int = 8,
        max_memory: Any = None,
    ) -> BackgroundReport:
        """How much the base value and the attributions of some rows still move with the number of background rows.

        Shapley values under masking="marginal" are compared with those of the largest background, all by the same
        orders of the players, so that what differs is the background alone.

        Args:
            model: As `taylorpoda.Explainer` takes it.
            X: A few rows to explain.
            sizes: Numbers of background rows to compare; None takes an eighth, a quarter, half, once and twice
                as many as here, and as reference 1,024 rows or all there are.
            output: Which output is explained; None for all.
            link: None or "logit".
            groups: Columns that enter and leave together.
            orders: Orders of the players by which Shapley values are taken; all they need for a few players.
            max_memory: Bytes (or "2GiB") arrays may take.

        Returns:
            A report; its `repr` is a table.
        """
        from taylorpoda.games.background_report import background_report

        return background_report(
            self,
            model,
            X,
            sizes=sizes,
            output=output,
            link=link,
            groups=groups,
            orders=orders,
            max_memory=max_memory,
        )

    def resized(self, k: int) -> Background:
        """Another number of rows from the same data by the same method and seed."""
        return _choose(self._source, self._source_weights, k, self.method, self.seed)

    @property
    def source_rows(self) -> int:
        """How many rows there were to choose from."""
        return self._source.n_rows


def background(
    X: Any, k: int, method: Method = "medoids", *, weights: Any = None, random_state: Any = None
) -> Background:
    """Choose k rows that stand for all of `X`.

    Args:
        X: Rows, in any container an Explainer reads: categories and missing cells are fine.
        k: How many to keep; all are kept if there are no more. Rows that are identical make one medoid, so there may be
            fewer.
        method: "medoids": the rows nearest to the centers of k clusters, each weighted by its cluster. "sample": k
            random rows of equal weight, or, if `weights` are given, rows drawn evenly spaced along the weights, each
            weighted by how often it came.
        weights: Weights of the rows of `X`; None for equal ones.
        random_state: Seed or generator.

    Returns:
        Rows and weights, to pass as `background` to an Explainer: the weights enter every mean over the background.

    Raises:
        ValueError: If k, the method or the weights are not allowed.

    Example:
        >>> import numpy as np
        >>> rows = np.random.default_rng(0).normal(size=(1000, 3))
        >>> chosen = background(rows, 50, random_state=0)
        >>> len(chosen), round(float(chosen.weights.sum()), 12)
        (50, 1.0)
    """
    check_choice("method", method, _METHODS)
    number = check_size("k", k)
    if weights is not None:
        X = _Weighted(X, weights)
    table, masses = read_background(X, None)
    return _choose(table, masses, number, method, resolve_seed(random_state))


@dataclass(frozen=True)
class _Weighted:
    rows: Any
    weights: Any


def check_size(parameter: str, value: Any) -> int:
    """A positive integer."""
    try:
        number = operator.index(value)
    except TypeError:
        msg = f"{parameter}={value!r} has type {type(value).__name__}; allowed: an integer >= 1."
        raise TypeError(msg) from None
    if number < 1 or isinstance(value, bool):
        msg = f"{parameter}={value!r} is not allowed; allowed: an integer >= 1."
        raise ValueError(msg)
    return number


def _choose(table: Table, weights: NDArray[np.float64], k: int, method: str, seed: int) -> Background:
    used = np.flatnonzero(weights > 0)
    generator = stream(seed, _STREAM, k)
    if k >= len(used):
        positions, masses = used, weights[used]
    elif method == "sample":
        positions, masses = _sample(used, weights[used], k, generator)
    else:
        features = Encoder.of(table, weights).encode(table)[used]
        place, masses = medoids(features, weights[used], k, generator)
        positions = used[place]
    rows = table.take(positions).native()
    return Background(rows, masses / masses.sum(), positions, method, seed, table, weights)


def _sample(
    used: NDArray[np.intp], weights: NDArray[np.float64], k: int, generator: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Rows met at k evenly spaced points of the shuffled weights: as often as their weight says, give or take one."""
    order = generator.permutation(len(used))
    ends = np.cumsum(weights[order])
    points = (np.arange(k) + generator.random()) / k * ends[-1]
    place, times = np.unique(
        order[np.minimum(np.searchsorted(ends, points, side="right"), len(order) - 1)], return_counts=True
    )
    return used[place], times / k


def medoids(
    features: NDArray[np.float64], weights: NDArray[np.float64], k: int, generator: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Rows nearest to the centers of k clusters, and the clusters' weights.

    Args:
        features: Shape (r, e).
        weights: Shape (r,).
        k: Fewer than r.
        generator: Where the first centers come from.

    Returns:
        At most k positions in increasing order, and their weights: identical rows make one medoid.
    """
    centers = _spread_out(features, weights, k, generator)
    own = np.zeros(0, dtype=np.intp)
    for _ in range(_ROUNDS):
        nearest, _ = _nearest(features, centers)
        if np.array_equal(nearest, own):
            break
        own = nearest
        mass = np.bincount(own, weights=weights, minlength=len(centers))
        sums = np.zeros_like(centers)
        np.add.at(sums, own, features * weights[:, None])
        centers = np.where(mass[:, None] > 0, sums / np.maximum(mass, 1e-300)[:, None], centers)
    place, _ = _nearest(centers, features)
    chosen = _completed(np.unique(place), features, weights, k)
    final, _ = _nearest(features, features[chosen])
    masses = np.bincount(final, weights=weights, minlength=len(chosen)).astype(np.float64)
    kept: NDArray[np.intp] = chosen[masses > 0]
    return kept, masses[masses > 0]


def _completed(
    chosen: NDArray[np.intp], features: NDArray[np.float64], weights: NDArray[np.float64], k: int
) -> NDArray[np.intp]:
    """Where several centers share their nearest row: the rows worst stood for join, up to k in all."""
    places = chosen.tolist()
    away = np.square(_nearest(features, features[chosen])[1])
    away[chosen] = 0.0
    while len(places) < k:
        worst = int(np.argmax(weights * away))
        gaps = np.square(features - features[worst]).sum(axis=1)
        if not np.square(features[places] - features[worst]).sum(axis=1).min() > 0:
            break  # all rows are identical to a chosen one
        places.append(worst)
        away = np.minimum(away, gaps)
    return np.array(sorted(places), dtype=np.intp)


def _spread_out(
    features: NDArray[np.float64], weights: NDArray[np.float64], k: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """First centers: each drawn by its weight times its squared distance from those before it."""
    first = generator.choice(len(features), p=weights / weights.sum())
    centers = [features[first]]
    away = np.square(features - centers[0]).sum(axis=1)
    while len(centers) < k:
        chance = weights * away
        if not chance.sum() > 0:
            break  # fewer distinct rows than centers
        centers.append(features[generator.choice(len(features), p=chance / chance.sum())])
        away = np.minimum(away, np.square(features - centers[-1]).sum(axis=1))
    return np.array(centers)


def _nearest(rows: NDArray[np.float64], among: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """For each row the nearest of others, and its distance."""
    index: NDArray[np.intp] = np.empty(len(rows), dtype=np.intp)
    distance = np.empty(len(rows))
    squares = np.square(among).sum(axis=1)
    step = max(1, _CHUNK_CELLS // max(len(among), 1))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        gaps = squares - 2 * (part @ among.T)
        index[start : start + step] = gaps.argmin(axis=1)
        distance[start : start + step] = np.sqrt(np.maximum(gaps.min(axis=1) + np.square(part).sum(axis=1), 0.0))
    return index, distance
