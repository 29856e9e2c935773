"""Wolfe's algorithm: the point of a polytope nearest to the origin, from a greedy oracle alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_GAP = 1e-14  # relative to the largest vertex, squared: how much a better vertex must promise
_NEAR = 1e-12  # ... and relative to the largest vertex and the distance: the gap bounds the square of the error
_WEIGHT = 1e-13  # weights below it leave the corral
_FALL = 1e-13  # relative: a squared norm that falls by less in as many steps as there are players falls no further
_MAJOR = 100  # times the dimension: never met, a guard against rounding that goes round in circles


@dataclass(frozen=True, eq=False)
class Corral:
    """A point as a convex combination of vertices.

    Attributes:
        point: Shape (n,).
        orders: Shape (k, n): the greedy order of every vertex.
        weights: Shape (k,), positive, sum 1.
        gap: How far point @ point could still come down, at most.
    """

    point: NDArray[np.float64]
    orders: NDArray[np.intp]
    weights: NDArray[np.float64]
    gap: float


def nearest_to_origin(vertex: Callable[[NDArray[np.intp]], NDArray[np.float64]], start: NDArray[np.float64]) -> Corral:
    """The point of least norm of a base polytope.

    Args:
        vertex: The greedy vertex of an order of the players, the most favored first, moved as the polytope is.
        start: Shape (n,): the first vertex is the one that lies furthest against this direction.

    Returns:
        The point, and at most n + 1 vertices that make it.
    """
    order = np.argsort(start, kind="stable")
    vertices, orders = vertex(order)[None, :], order[None, :]
    weights = np.ones(1)
    point = vertices[0]
    largest = float(np.max(abs(point), initial=0.0))
    gap = lowest = np.inf
    idle = 0
    for _ in range(_MAJOR * (len(start) + 1)):
        order = np.argsort(point, kind="stable")
        candidate = vertex(order)
        largest = max(largest, float(np.max(abs(candidate), initial=0.0)))
        gap = float(point @ (point - candidate))
        known = bool((orders == order).all(axis=1).any()) or bool((vertices == candidate).all(axis=1).any())
        distance = float(np.max(abs(point), initial=0.0))
        enough = min(_GAP * largest, _NEAR * distance) * largest * len(start)
        norm = float(point @ point)
        idle = 0 if norm < lowest * (1.0 - _FALL) else idle + 1
        lowest = min(lowest, norm)
        if known or gap <= enough or distance <= _GAP * largest or idle > len(start):
            break
        vertices, orders = np.concatenate([vertices, candidate[None, :]]), np.concatenate([orders, order[None, :]])
        weights = np.append(weights, 0.0)
        vertices, orders, weights = _descend(vertices, orders, weights)
        point = weights @ vertices
    return Corral(point, orders, weights, max(gap, 0.0))


def _descend(
    vertices: NDArray[np.float64], orders: NDArray[np.intp], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
    """Minor cycles: to the nearest point of the affine hull, dropping the vertices that stand in the way."""
    while True:
        target = _affine_weights(vertices)
        if np.all(target > _WEIGHT):
            return vertices, orders, target / np.sum(target)
        shrinking = target <= _WEIGHT
        falls = weights[shrinking] - target[shrinking]
        ratio = np.where(falls > 0, weights[shrinking] / np.where(falls > 0, falls, 1.0), 1.0)
        step = min(1.0, float(np.min(ratio)))
        weights = np.clip((1.0 - step) * weights + step * target, 0.0, None)
        keep = weights > _WEIGHT
        if np.all(keep):  # rounding kept the one that should leave
            keep[np.argmin(np.where(shrinking, weights, np.inf))] = False
        vertices, orders, weights = vertices[keep], orders[keep], weights[keep]
        weights = weights / np.sum(weights)


def _affine_weights(vertices: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights, of any sign, of the point of the affine hull nearest to the origin."""
    if len(vertices) == 1:
        return np.ones(1)
    directions = (vertices[1:] - vertices[0]).T
    solution = np.linalg.lstsq(directions, -vertices[0], rcond=None)[0]
    # Once more from where that led: what is left must be orthogonal to the hull, or the gap cannot close.
    solution += np.linalg.lstsq(directions, -vertices[0] - directions @ solution, rcond=None)[0]
    return np.concatenate([[1.0 - np.sum(solution)], solution])
