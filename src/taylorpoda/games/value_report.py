"""How good a value function is: what it gets wrong by coalition size, what it costs, how far off the data it looks."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from taylorpoda._support.memory import parse_memory
from taylorpoda._support.optional import require
from taylorpoda._support.progress import ProgressBar, silenced
from taylorpoda._support.seeds import resolve_seed, stream
from taylorpoda.games.background import check_size
from taylorpoda.games.masking import resolve_masking
from taylorpoda.games.masking.base import HybridMasking, Masking, MaskingContext
from taylorpoda.games.masking.conditional.sampling import of_size
from taylorpoda.games.masking.measured import with_score
from taylorpoda.games.models import bind_model
from taylorpoda.games.off_manifold import Manifold
from taylorpoda.games.players import Players
from taylorpoda.games.spot import spot_values
from taylorpoda.games.tables import read_background

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.masking.base import DirectMasking
    from taylorpoda.games.tables.base import Table

_STREAM = 65
_EVERY = ("marginal", "gaussian", "copula", "neighbours", "conditional")
_UNIT = 1000


@dataclass(frozen=True, eq=False)
class ValueFunctionReport:
    """What several value functions get wrong on rows they were not fitted on.

    The conditional expectation E[f(X) | X_S = x_S] has the least E[(f(x) - v_S(x))^2] of all functions of x_S, so the
    lower number is nearer to it. Even that one is not 0: what the absent features decide cannot be known.

    Attributes:
        names: The value functions.
        sizes: Coalition sizes, 0 to n.
        errors: Shape (names, sizes): E[(f(x) - v_S(x))^2] over rows, coalitions of that size and outputs; 0 for n, NaN
            for sizes of which fewer `coalitions` than sizes left none.
        error: Shape (names,): the mean over the sizes between.
        standard_error: Shape (names,): of `error`, over rows.
        trivial: E[(f(x) - v(empty))^2]: what always answering the background's mean gets wrong.
        variance: The variance of the model's output on the rows.
        fit_seconds: Shape (names,): to prepare the value function.
        seconds_per_thousand: Shape (names,): for a thousand values.
        off_manifold: Shape (names,): median distance from hybrid rows to the nearest background row, in standard
            deviations per feature; NaN where the model is fed none.
        on_manifold: The same for the held-out rows themselves.
        skipped: Value functions that cannot be had on these data, and why.
        seed: Seed of coalitions and fits.
    """

    names: tuple[str, ...]
    sizes: NDArray[np.int64]
    errors: NDArray[np.float64]
    error: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    trivial: float
    variance: float
    fit_seconds: NDArray[np.float64]
    seconds_per_thousand: NDArray[np.float64]
    off_manifold: NDArray[np.float64]
    on_manifold: float
    skipped: Mapping[str, str]
    seed: int
    _rules: Mapping[str, Masking] = field(repr=False, default_factory=dict)
    _rows: int = field(repr=False, default=0)

    @property
    def best(self) -> str:
        """The value function nearest to the conditional expectation."""
        return self.names[int(np.argmin(self.error))]

    def masking(self, name: str) -> Masking:
        """A value function to pass as `masking=`; explanations then carry its measured error in their provenance.

        A trained surrogate is the very one that was measured; other rules are fitted to the explainer's background.
        """
        if name not in self.names:
            msg = f"name={name!r} was not measured; measured: {list(self.names)}."
            raise ValueError(msg)
        place = self.names.index(name)
        details = {"trivial_error": self.trivial, "heldout_rows": self._rows}
        return with_score(self._rules[name], float(self.error[place]), details)

    def to_frame(self) -> Any:
        """One row per value function, as a pandas DataFrame.

        Raises:
            ImportError: If pandas is not installed.
        """
        pandas = require("pandas", "paper", "ValueFunctionReport.to_frame")
        columns: dict[str, Any] = {f"error at size {size}": self.errors[:, size] for size in self.sizes}
        columns |= {
            "error": self.error,
            "standard error": self.standard_error,
            "fit seconds": self.fit_seconds,
            "seconds per 1000 values": self.seconds_per_thousand,
            "off manifold": self.off_manifold,
        }
        return pandas.DataFrame(columns, index=pandas.Index(self.names, name="value function"))

    def __repr__(self) -> str:
        lines = [f"{'value function':16s} {'error':>11s} {'± s.e.':>9s} {'s/1000':>9s} {'fit s':>7s} {'off data':>9s}"]
        for k, name in enumerate(self.names):
            away = "-" if np.isnan(self.off_manifold[k]) else f"{self.off_manifold[k]:.3f}"
            lines.append(
                f"{name:16s} {self.error[k]:11.5g} {self.standard_error[k]:9.2g} "
                f"{self.seconds_per_thousand[k]:9.2g} {self.fit_seconds[k]:7.2f} {away:>9s}"
            )
        lines.append(f"{'(always the mean)':16s} {self.trivial:10.5g}   model variance {self.variance:.5g}")
        lines.append(
            f"error: E[(f(x) - v_S(x))^2], lower is nearer to E[f | x_S]; real rows lie {self.on_manifold:.3f} off"
        )
        lines += [f"{name}: not measured: {why}" for name, why in self.skipped.items()]
        return "\n".join(lines)


def value_function_report(
    model: Any,
    background: Any,
    X: Any,
    *,
    maskings: Sequence[str | Masking] | Mapping[str, str | Masking] | None = None,
    coalitions: int = 64,
    output: Any = None,
    link: Literal["logit"] | None = None,
    groups: Any = None,
    random_state: Any = None,
    max_memory: Any = None,
) -> ValueFunctionReport:
    """Measure value functions on held-out rows and random coalitions.

    Args:
        model: As `taylorpoda.Explainer` takes it.
        background: What the value functions are fitted on.
        X: Rows that are not in the background.
        maskings: Names or rules, or a mapping of labels to them; None for all there are, leaving out with a note those
            that cannot read these data.
        coalitions: How many coalitions of 1 to n - 1 features, every size equally often; the same ones for every row
            and value function.
        output: Which output is explained; None for all.
        link: None or "logit".
        groups: Columns that enter and leave together.
        random_state: Seed or generator.
        max_memory: Bytes (or "2GiB") arrays may take.

    Returns:
        A report; its `repr` is a table.

    Raises:
        ValueError: If there are no rows, or a masking asked for by name cannot read the data.

    Example:
        >>> import numpy as np
        >>> rows = np.random.default_rng(0).normal(size=(300, 3)).cumsum(axis=1)
        >>> report = value_function_report(lambda x: x[:, 2], rows[:250], rows[250:], maskings=["marginal", "gaussian"])
        >>> report.best
        'gaussian'
    """
    bound = bind_model(model, output=output, link=link)
    table, weights = read_background(background, bound.quantity.feature_names)
    rows = table.read(X, "X")
    if rows.n_rows == 0:
        msg = "X has no rows; pass rows that are not in the background."
        raise ValueError(msg)
    seed = resolve_seed(random_state)
    players = Players.from_groups(table.names, groups)
    context = MaskingContext(table, weights, bound, players, seed, parse_memory(max_memory))
    outputs = bound(rows.copy().native(), rows.n_rows, lambda row: f"row {row}")
    donors = bound(table.copy().native(), table.n_rows, lambda row: f"background row {row}")
    rules, skipped = _labeled(maskings), {}
    trial = _Trial(context, rows, outputs, check_size("coalitions", coalitions))
    found: dict[str, _Finding] = {}
    with ProgressBar("measuring value functions", len(rules)) as bar:
        for name, rule in rules.items():
            try:
                with silenced():  # one bar at a time
                    found[name] = trial.run(rule)
            except ValueError as error:
                if maskings is not None:
                    raise
                skipped[name] = str(error)
            bar.advance()
    if not found:
        msg = f"no value function can be had on these data: {'; '.join(skipped.values())}"
        raise ValueError(msg)
    spread = np.square(outputs - weights @ donors).mean()
    return ValueFunctionReport(
        names=tuple(found),
        sizes=np.arange(players.n_players + 1),
        errors=np.array([finding.errors for finding in found.values()]),
        error=np.array([finding.error for finding in found.values()]),
        standard_error=np.array([finding.standard_error for finding in found.values()]),
        trivial=float(spread),
        variance=float(outputs.var(axis=0).mean()),
        fit_seconds=np.array([finding.fit_seconds for finding in found.values()]),
        seconds_per_thousand=np.array([finding.seconds for finding in found.values()]),
        off_manifold=np.array([finding.off_manifold for finding in found.values()]),
        on_manifold=trial.manifold.median(rows),
        skipped=skipped,
        seed=seed,
        _rules={name: finding.rule for name, finding in found.items()},
        _rows=rows.n_rows,
    )


def _labeled(maskings: Sequence[str | Masking] | Mapping[str, str | Masking] | None) -> dict[str, Masking]:
    if maskings is None:
        maskings = _EVERY
    if isinstance(maskings, str):
        maskings = [maskings]
    if len(maskings) == 0:
        msg = f"maskings={maskings!r} is empty; pass names or rules to compare, or None for all there are."
        raise ValueError(msg)
    if isinstance(maskings, Mapping):
        return {str(label): resolve_masking(masking) for label, masking in maskings.items()}
    labeled: dict[str, Masking] = {}
    for masking in maskings:
        rule = resolve_masking(masking)
        label = rule.name if rule.name not in labeled else f"{rule.name} {len(labeled) + 1}"
        labeled[label] = rule
    return labeled


@dataclass(frozen=True)
class _Finding:
    errors: NDArray[np.float64]
    error: float
    standard_error: float
    fit_seconds: float
    seconds: float
    off_manifold: float
    rule: Masking


class _Trial:
    """The rows and coalitions on which every value function is judged."""

    def __init__(self, context: MaskingContext, rows: Table, outputs: NDArray[np.float64], count: int) -> None:
        n = context.players.n_players
        generator = stream(context.seed, _STREAM)
        inner = np.sort(np.arange(count) % (n - 1)) + 1 if n > 1 else np.empty(0, dtype=np.int64)
        self._sizes = np.concatenate([[0], inner])
        self._coalitions = of_size(generator, self._sizes, n)
        self._context, self._rows, self._outputs = context, rows, outputs
        self.manifold = Manifold(context.background, context.weights, stream(context.seed, _STREAM, 1))

    def run(self, rule: Masking) -> _Finding:
        """Fit a rule and measure it."""
        start = time.perf_counter()
        fitted = rule.fit(self._context)
        ready = time.perf_counter()
        values = spot_values(self._context, fitted, self._rows, self._coalitions)
        seconds = (time.perf_counter() - ready) / values[:, :, 0].size * _UNIT
        squares = np.square(values - self._outputs[:, None, :]).mean(axis=2)
        n = self._context.players.n_players
        by_size = [squares[:, self._sizes == size].mean(axis=1) for size in range(n) if (self._sizes == size).any()]
        errors = np.full(n + 1, np.nan)
        errors[np.unique(self._sizes)] = [each.mean() for each in by_size]
        errors[n] = 0.0
        inner = np.mean(by_size[1:], axis=0) if len(by_size) > 1 else by_size[0]
        return _Finding(
            errors,
            float(inner.mean()),
            float(inner.std() / np.sqrt(len(inner))),
            ready - start,
            seconds,
            self._off_manifold(fitted),
            fitted if isinstance(fitted, Masking) else rule,
        )

    def _off_manifold(self, fitted: HybridMasking | DirectMasking) -> float:
        if not isinstance(fitted, HybridMasking) or len(self._coalitions) < 2:
            return float("nan")
        columns = self._context.players.columns_of(self._coalitions[1:])
        return self.manifold.median_of_hybrids(fitted, self._rows, columns)
