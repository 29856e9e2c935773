"""How much answers still move with the number of background rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from taylorpoda._support.memory import parse_memory
from taylorpoda._support.progress import ProgressBar
from taylorpoda._support.seeds import stream
from taylorpoda.games.background import check_size
from taylorpoda.games.masking.base import MaskingContext
from taylorpoda.games.masking.marginal import Marginal
from taylorpoda.games.models import bind_model
from taylorpoda.games.players import Players
from taylorpoda.games.spot import prefixes, random_orders, spot_values
from taylorpoda.games.tables import read_background

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from taylorpoda.games.background import Background

_STREAM = 64
_REFERENCE_ROWS = 1024


@dataclass(frozen=True, eq=False)
class BackgroundReport:
    """Base values and attributions for several numbers of background rows.

    Attributes:
        sizes: Background rows actually kept, in increasing order; the last is the reference.
        base_values: Shape (sizes, outputs).
        base_error: Shape (sizes,): root mean square over outputs of what the base value is off the reference.
        attribution_error: Shape (sizes,): the same for attributions, over rows, players and outputs.
        attribution_scale: Root mean square of the reference attributions.
        model_rows: Model rows this report cost.
    """

    sizes: NDArray[np.int64]
    base_values: NDArray[np.float64]
    base_error: NDArray[np.float64]
    attribution_error: NDArray[np.float64]
    attribution_scale: float
    model_rows: int

    @property
    def relative_error(self) -> NDArray[np.float64]:
        """Shape (sizes,): `attribution_error` as a share of the attributions themselves."""
        return self.attribution_error / (self.attribution_scale or 1.0)

    def enough(self, tolerance: float = 0.05) -> int | None:
        """The smallest number of rows from which on attributions are off by at most this share; None if none is."""
        good = self.relative_error[:-1] <= tolerance
        if not len(good) or not good[-1]:
            return None
        return int(self.sizes[len(good) - int(np.argmin(good[::-1])) if not good.all() else 0])

    def __repr__(self) -> str:
        lines = ["rows       base value off    attributions off      in %"]
        for size, base, error, share in zip(
            self.sizes, self.base_error, self.attribution_error, self.relative_error, strict=True
        ):
            lines.append(f"{size:<8d} {base:16.6g} {error:19.6g} {100 * share:9.2f}")
        lines.append(f"against {self.sizes[-1]} background rows; {self.model_rows:,} model rows evaluated")
        return "\n".join(lines)


def background_report(
    chosen: Background,
    model: Any,
    X: Any,
    *,
    sizes: Sequence[int] | None,
    output: Any,
    link: str | None,
    groups: Any,
    orders: int,
    max_memory: Any,
) -> BackgroundReport:
    """See `Background.convergence`."""
    bound = bind_model(model, output=output, link=link)
    table, _ = read_background(chosen, bound.quantity.feature_names)
    rows = table.read(X, "X")
    if rows.n_rows == 0:
        msg = "X has no rows; pass a few rows whose attributions are compared."
        raise ValueError(msg)
    players = Players.from_groups(table.names, groups)
    met, steps = prefixes(random_orders(stream(chosen.seed, _STREAM), check_size("orders", orders), players.n_players))
    asked = _default_sizes(chosen) if sizes is None else [check_size("sizes", size) for size in sizes]
    if not asked:
        msg = f"sizes={sizes!r} is empty; pass numbers of background rows to compare, or None."
        raise ValueError(msg)
    backgrounds = [chosen.resized(size) for size in sorted({min(size, chosen.source_rows) for size in asked})]
    full = bound(rows.copy().native(), rows.n_rows, lambda row: f"row {row}")
    bases, attributions = [], []
    with ProgressBar("comparing backgrounds", len(backgrounds)) as bar:
        for candidate in backgrounds:
            donors, weights = read_background(candidate, bound.quantity.feature_names)
            context = MaskingContext(donors, weights, bound, players, chosen.seed, parse_memory(max_memory))
            values = spot_values(context, Marginal().fit(context), rows, met)
            values[:, met.all(axis=1)] = full[:, None]
            bases.append(values[0, ~met.any(axis=1)][0])
            attributions.append(_shapley(values, steps, met))
            bar.advance()
    return BackgroundReport(
        sizes=np.array([len(candidate) for candidate in backgrounds]),
        base_values=np.array(bases),
        base_error=np.array([_rms(base - bases[-1]) for base in bases]),
        attribution_error=np.array([_rms(found - attributions[-1]) for found in attributions]),
        attribution_scale=_rms(attributions[-1]),
        model_rows=bound.rows_evaluated,
    )


def _default_sizes(chosen: Background) -> list[int]:
    k = len(chosen)
    return [max(1, k // 8), max(1, k // 4), max(1, k // 2), k, 2 * k, max(4 * k, _REFERENCE_ROWS)]


def _shapley(values: NDArray[np.float64], steps: NDArray[np.intp], met: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mean marginal contributions along orders, shape (rows, n, outputs)."""
    gains = values[:, steps[:, 1:]] - values[:, steps[:, :-1]]
    entering = met[steps[:, 1:]] & ~met[steps[:, :-1]]
    return np.einsum("rpso,psn->rno", gains, entering.astype(np.float64)) / len(steps)


def _rms(values: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.square(values).mean()))
