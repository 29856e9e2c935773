"""All methods on the same games, judged by the same utilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from taylorpoda._support.arrays import as_table
from taylorpoda._support.seeds import resolve_seed
from taylorpoda.dividends.dense import like
from taylorpoda.methods.lime import lime
from taylorpoda.methods.registry import METHODS
from taylorpoda.utilities import Utility, resolve, score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray


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
    utilities: str | Utility | Iterable[str | Utility] = ("inclusion_aup", "exclusion_aup"),
    target: Any = None,
    *,
    methods: str | Iterable[str] | None = None,
    others: Mapping[str, Any] | None = None,
    threshold: float = 0.5,
    labels: Any = None,
    model: Callable[[NDArray[np.float64]], Any] | None = None,
    background: Any = None,
    X: Any = None,
    random_state: object = None,
) -> Comparison:
    """Explain the same games with every method, and judge all of them by every utility.

    Args:
        values: Table of a game, shape (..., 2**n), numpy or torch.
        utilities: Names, or `Utility` objects; one, or several.
        target: The labels y, shape (...), for utilities that read them.
        methods: Names of methods; None for all that need nothing but the game, and LIME where `model`, `background`
            and `X` are given.
        others: {name: attributions of shape (..., n)} made elsewhere, under names of their own.
        threshold: Values above it are labeled 1: 0.5, or 0.0 where margins or log-odds are explained.
        labels: The class predicted from each coalition, shape (..., 2**n), where several outputs compete.
        model: For LIME: a callable (m, n) -> (m,), what is explained.
        background: For LIME: training rows, shape (m, n), numeric.
        X: For LIME: the row behind each game, shape (rows, n); `values` then has shape (rows, 2**n).
        random_state: Seed of methods that draw.

    Returns:
        The comparison.

    Raises:
        ValueError: If a name is unknown or stands for two things, or a method needs more than it is given.
        ImportError: If LIME is asked for and not installed; the message is the install line.

    Example:
        >>> import numpy as np
        >>> table = compare(np.array([0.0, 1.0, 2.0, 5.0]), ["inclusion_aup"], methods=["occlusion"])
        >>> float(table.discrepancy["occlusion", "inclusion_aup"])
        2.0
    """
    xp, table, _ = as_table(values)
    seed = resolve_seed(random_state)
    judges = _judges(utilities)
    modeled = _is_modeled(model, background, X)
    names = [name for name in METHODS if METHODS[name].attribute or modeled]
    if methods is not None:
        names = list(dict.fromkeys([methods] if isinstance(methods, str) else methods))
    given = dict(others or {})
    for name in given:
        if name in names:
            msg = f"others holds {name!r}, the name of a method that is compared; give it another name."
            raise ValueError(msg)
    reading = {"threshold": threshold, "labels": labels}
    local = _lime_weights(table, model, background, X, seed) if modeled and "lime" in names else None
    attributions: dict[tuple[str, str], Any] = {}
    for judge in judges:
        for name in names:
            attribute = METHODS[name].attribute
            if attribute is not None:
                attributions[name, judge.name] = attribute(table, judge, target, seed, **reading)
            elif local is not None:
                attributions[name, judge.name] = local
            else:
                msg = (
                    f"methods holds {name!r}, which needs more than a table: pass model=, background= and X=, or its "
                    "result as others=."
                )
                raise ValueError(msg)
        for name, made in given.items():
            attributions[name, judge.name] = made
    gain = table[..., table.shape[-1] - 1] - table[..., 0]
    scores: dict[tuple[str, str], Any] = {}
    discrepancy: dict[tuple[str, str], Any] = {}
    for (name, judged_by), made in attributions.items():
        judge = next(judge for judge in judges if judge.name == judged_by)
        scores[name, judged_by] = score(made, table, judge, target, **reading)
        discrepancy[name, judged_by] = xp.sum(made, axis=-1) - gain
    return Comparison(
        methods=(*names, *given),
        utilities=tuple(judge.name for judge in judges),
        attributions=attributions,
        scores=scores,
        discrepancy=discrepancy,
    )


def _judges(utilities: Any) -> list[Utility]:
    """The utilities, each once; two of one name would be taken for each other."""
    judges: dict[str, Utility] = {}
    for utility in [utilities] if isinstance(utilities, str | Utility) else utilities:
        judge = resolve(utility)
        if judges.setdefault(judge.name, judge) is not judge:
            msg = f"utilities holds two utilities of the name {judge.name!r}; give each a name of its own."
            raise ValueError(msg)
    return list(judges.values())


def _is_modeled(model: Any, background: Any, rows: Any) -> bool:
    """Whether all that LIME needs is there."""
    missing = [name for name, given in (("model", model), ("background", background), ("X", rows)) if given is None]
    if missing and len(missing) < 3:
        msg = f"{' and '.join(missing)} missing: LIME needs model=, background= and X= together."
        raise ValueError(msg)
    return not missing


def _lime_weights(table: Any, model: Any, background: Any, rows: Any, seed: int) -> Any:
    """LIME's weights as an array like the table."""
    weights = lime(model, background, rows, random_state=seed)
    expected = (*table.shape[:-1], table.shape[-1].bit_length() - 1)
    if weights.shape != expected:
        msg = f"X has shape {weights.shape}; values of shape {tuple(table.shape)} need {tuple(expected)}."
        raise ValueError(msg)
    return like(weights, table)
