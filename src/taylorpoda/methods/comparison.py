"""All methods on the same games, judged by the same utilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from taylorpoda._support.arrays import as_table
from taylorpoda._support.seeds import resolve_seed
from taylorpoda.methods.registry import METHODS
from taylorpoda.utilities import resolve, score

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from taylorpoda.utilities import Utility


@dataclass(frozen=True, eq=False)
class Comparison:
    """The same games explained by several methods and judged by several utilities.

    Attributes:
        methods: Their names.
        utilities: Their names.
        attributions: {(method, utility): shape (..., n)}; a method that ignores the utility repeats itself.
        scores: {(method, utility): shape (...)}, the plain sums of the utilities' formulas.
        discrepancy: {(method, utility): shape (...)}, v(empty) + sum of a - v(N).
    """

    methods: tuple[str, ...]
    utilities: tuple[str, ...]
    attributions: Mapping[tuple[str, str], Any]
    scores: Mapping[tuple[str, str], Any]
    discrepancy: Mapping[tuple[str, str], Any]


def compare(
    values: Any,
    utilities: Iterable[str | Utility] = ("inclusion_aup", "exclusion_aup"),
    target: Any = None,
    *,
    methods: Iterable[str] | None = None,
    others: Mapping[str, Any] | None = None,
    random_state: object = None,
) -> Comparison:
    """Explain the same games with every method, and judge all of them by every utility.

    Args:
        values: Table of a game, shape (..., 2**n), numpy or torch.
        utilities: Names, or `Utility` objects.
        target: The labels y, shape (...), for utilities that read them.
        methods: Names of methods that need nothing but the game; None for all of them.
        others: {name: attributions of shape (..., n)} made elsewhere, such as LIME's.
        random_state: Seed of methods that draw.

    Returns:
        The comparison.

    Raises:
        ValueError: If a name is unknown, or a method needs more than the game.

    Example:
        >>> import numpy as np
        >>> table = compare(np.array([0.0, 1.0, 2.0, 5.0]), ["inclusion_aup"], methods=["occlusion"])
        >>> float(table.discrepancy["occlusion", "inclusion_aup"])
        2.0
    """
    xp, table, _ = as_table(values)
    seed = resolve_seed(random_state)
    judges = [resolve(utility) for utility in utilities]
    names = [name for name in METHODS if METHODS[name].attribute] if methods is None else list(methods)
    given = dict(others or {})
    attributions: dict[tuple[str, str], Any] = {}
    for judge in judges:
        for name in names:
            attribute = METHODS[name].attribute
            if attribute is None:
                msg = f"methods holds {name!r}, which needs more than a table; pass its result as others=."
                raise ValueError(msg)
            attributions[name, judge.name] = attribute(table, judge, target, seed)
        for name, made in given.items():
            attributions[name, judge.name] = made
    gain = table[..., table.shape[-1] - 1] - table[..., 0]
    scores: dict[tuple[str, str], Any] = {}
    discrepancy: dict[tuple[str, str], Any] = {}
    for (name, judged_by), made in attributions.items():
        judge = next(judge for judge in judges if judge.name == judged_by)
        scores[name, judged_by] = score(made, table, judge, target)
        discrepancy[name, judged_by] = xp.sum(made, axis=-1) - gain
    return Comparison(
        methods=(*names, *given),
        utilities=tuple(judge.name for judge in judges),
        attributions=attributions,
        scores=scores,
        discrepancy=discrepancy,
    )
