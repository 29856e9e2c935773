"""Wolfe's algorithm: the point of a polytope nearest to a target, from a greedy oracle alone.

The target is kept apart from the vertices. However far away it is, differences of members are differences of numbers
as large as the members: what rounding does to them does not grow with the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_GAP = 1e-14  # relative to the largest vertex and the distance: how much a better vertex must promise
_NEAR = 1e-12  # ... where the target is nearer than that: the gap bounds the square of the error
_WEIGHT = 1e-13  # weights below it leave the corral
_FALL = 1e-13  # relative: a squared distance that falls by less in as many steps as there are players falls no further
_MAJOR = 100  # times the dimension: never met, a guard against rounding that goes round in circles


@dataclass(frozen=True, eq=False)
class Corral:
    """A point as a convex combination of vertices.

    Attributes:
        member: Shape (n,): the combination.
        point: Shape (n,): the same, seen from the target.
        orders: Shape (k, n): the greedy order of every vertex.
        weights: Shape (k,), positive, sum 1.
        gap: How far point @ point could still come down, at most.
    """

    member: NDArray[np.float64]
    point: NDArray[np.float64]
    orders: NDArray[np.intp]
    weights: NDArray[np.float64]
    gap: float


def nearest_member(vertex: Callable[[NDArray[np.intp]], NDArray[np.float64]], target: NDArray[np.float64]) -> Corral:
    """The member of a base polytope that is nearest to a target.

    Args:
        vertex: The greedy vertex of an order of the players, the least favored last.
        target: Shape (n,).

    Returns:
        The member, and at most n + 1 vertices that make it.
    """
    order = np.argsort(-target, kind="stable")
    vertices, orders = vertex(order)[None, :], order[None, :]
    weights = np.ones(1)
    member = best = vertices[0]
    point = lowest = member - target
    largest = float(np.max(abs(member), initial=0.0))
    gap, idle = np.inf, 0
    for step in range(_MAJOR * (len(target) + 1)):
        order = np.argsort(point, kind="stable")
        candidate = vertex(order)
        largest = max(largest, float(np.max(abs(candidate), initial=0.0)))
        gap = float(point @ (member - candidate))
        known = bool((orders == order).all(axis=1).any()) or bool((vertices == candidate).all(axis=1).any())
        distance = float(np.max(abs(point), initial=0.0))
        enough = min(_GAP * max(largest, distance), _NEAR * distance) * largest * len(target)
        # How much the squared distance has come down, as a product: its own digits would not show it from far away.
        fall = float((best - member) @ (lowest + point))
        fell = step == 0 or fall > _FALL * min(distance, largest) * distance
        idle = 0 if fell else idle + 1
        if fall > 0:
            best, lowest = member, point
        if known or gap <= enough or distance <= _GAP * largest or idle > len(target):
            break
        vertices, orders = np.concatenate([vertices, candidate[None, :]]), np.concatenate([orders, order[None, :]])
        weights = np.append(weights, 0.0)
        vertices, orders, weights = _descend(vertices, orders, weights, target)
        member = weights @ vertices
        point = member - target
    return Corral(member, point, orders, weights, max(gap, 0.0))


def _descend(
    vertices: NDArray[np.float64],
    orders: NDArray[np.intp],
    weights: NDArray[np.float64],
    wanted: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
    """Minor cycles: to the nearest point of the affine hull, dropping the vertices that stand in the way."""
    while True:
        target = _affine_weights(vertices, wanted)
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


def _affine_weights(vertices: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights, of any sign, of the point of the affine hull nearest to the one wanted."""
    if len(vertices) == 1:
        return np.ones(1)
    directions = (vertices[1:] - vertices[0]).T
    missing = wanted - vertices[0]
    solution = np.linalg.lstsq(directions, missing, rcond=None)[0]
    # Once more from where that led: what is left must be orthogonal to the hull, or the gap cannot close.
    solution += np.linalg.lstsq(directions, missing - directions @ solution, rcond=None)[0]
    return np.concatenate([[1.0 - np.sum(solution)], solution])
