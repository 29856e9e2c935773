"""The optimum by brute force: every ranking and every sign, attainable or not by a linear program over the shares.

Nothing here is shared with the package but the public functions that are checked. Run it whole:

    python benchmarks/exhaustive.py --players 5 --games 225

prints how many games agree, for all six utilities; tests/allocation/test_optimal.py runs a sample.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np
from scipy.optimize import linprog

import taylorpoda as tp
from taylorpoda.allocation import allocate

UTILITIES = ("inclusion_aup", "exclusion_aup", "inclusion_mse", "exclusion_mse", "inclusion_auc", "exclusion_auc")
HIGHER = {"exclusion_aup", "exclusion_mse", "inclusion_auc"}
KINDS = (
    "random",
    "integer",
    "sparse",
    "decaying",
    "additive",
    "symmetric",
    "equal",
    "fixed",
    "null",
    "zero",
    "either",
    "threshold",
    "largest",
    "nearly additive",
    "binary",
    "giant",
    "no gain",
    "negative",
    "float32",
    "margins",
    "twins",
)
MARGINS = (1e-6, 1e-6, 1e-6, 1e-3, 0.05, 0.2)  # the default mostly; wide ones make ties matter
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def members(subset: int, n: int) -> list[int]:
    return [player for player in range(n) if subset >> player & 1]


def dividends_of(values: np.ndarray, n: int) -> np.ndarray:
    result = values.astype(float).copy()
    for player in range(n):
        halves = result.reshape(-1, 2, 1 << player)
        halves[:, 1] -= halves[:, 0]
    return result


def values_of(dividends: np.ndarray, n: int) -> np.ndarray:
    result = dividends.copy()
    for player in range(n):
        halves = result.reshape(-1, 2, 1 << player)
        halves[:, 1] += halves[:, 0]
    return result


def make_game(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:  # noqa: C901, PLR0911, PLR0912 - one per kind
    length, subsets = 1 << n, np.arange(1 << n)
    sizes = np.array([len(members(subset, n)) for subset in subsets])
    values = rng.normal(size=length)
    if kind == "integer":
        return rng.integers(-2, 3, size=length).astype(float)
    if kind == "sparse":
        return values_of(rng.normal(size=length) * (rng.random(length) < 0.3), n)
    if kind == "decaying":
        return values_of(rng.normal(size=length) * 0.4**sizes, n)
    if kind in {"additive", "nearly additive"}:
        dividends = np.where(sizes == 1, rng.integers(-3, 4, size=length) * rng.choice([1.0, 0.1]), 0.0)
        if kind == "nearly additive":
            dividends = np.where(sizes == 1, rng.normal(size=length), 0.0) + 1e-7 * rng.normal(size=length)
        return values_of(dividends, n)
    if kind == "symmetric":
        return rng.normal(size=n + 1)[sizes]
    if kind == "equal" and n > 1:
        return values[np.where(subsets & 3 == 2, subsets ^ 3, subsets)]
    if kind == "fixed":
        touched = (sizes > 1) & ((subsets & 1 == 1) | (subsets >> (n - 1) & 1 == 1))
        return values_of(np.where(touched, 0.0, dividends_of(values, n)), n)
    if kind == "null":
        for player in rng.choice(n, size=min(n, int(rng.integers(1, 3))), replace=False):
            values = values[subsets & ~(1 << player)]
        return values
    if kind == "zero":
        return np.zeros(length)
    if kind == "either" and n > 1:
        return values[np.where(subsets & 3, subsets | 3, subsets)]
    if kind == "binary":
        return rng.integers(0, 2, size=length).astype(float)
    if kind == "giant":
        dividends = np.where(sizes == 1, values, 1e-3 * values)
        dividends[rng.integers(1, length)] = rng.choice([-1e3, 1e3])
        return values_of(dividends, n)
    if kind == "no gain":
        values[-1] = values[0]
        return values
    if kind == "negative":
        return -abs(values)
    if kind == "float32":
        return values_of(values * 0.3**sizes, n).astype(np.float32).astype(float)
    if kind == "margins":  # everything a few hundredths of the scale: what the wide margins just allow or just forbid
        return values_of(np.where(sizes <= 2, rng.integers(-4, 5, size=length) / 40, 0.0), n)
    if kind == "twins":  # two players of the same marginals but opposite sign
        dividends = dividends_of(values, n)
        return values_of(np.where(subsets & 3 == 2, -dividends[subsets ^ 3], dividends), n) if n > 1 else values
    if kind in {"threshold", "largest"}:
        weights = rng.normal(size=n)
        if kind == "threshold":
            return np.array([float(sum(weights[members(subset, n)]) > 0.3) for subset in subsets])
        return np.array([max(abs(weights[members(subset, n)]), default=0.0) for subset in subsets])
    return values


class Reference:
    """Which rankings of a game are attainable, by linear programs over the shares themselves."""

    def __init__(self, values: np.ndarray, margin: float) -> None:
        self.values, self.n = values, len(values).bit_length() - 1
        n = self.n
        scale = np.max(abs(values - values[0]))
        self.scale = scale if scale > 0 else 1.0
        self.margin = margin if scale > 0 else 0.0
        self.dividends = dividends_of((values - values[0]) / self.scale, n)
        shared = [s for s in range(1 << n) if len(members(s, n)) > 1 and self.dividends[s] != 0]
        columns = [(subset, player) for subset in shared for player in members(subset, n)]
        self.alone = self.dividends[1 << np.arange(n)]
        self.from_shares = np.zeros((n, len(columns)))
        self.sums = np.zeros((len(shared), len(columns)))
        self.shapley, self.lower, self.upper = self.alone.copy(), self.alone.copy(), self.alone.copy()
        for column, (subset, player) in enumerate(columns):
            dividend = self.dividends[subset]
            self.from_shares[player, column] = dividend
            self.sums[shared.index(subset), column] = 1.0
            self.shapley[player] += dividend / len(members(subset, n))
            self.lower[player] += min(dividend, 0.0)
            self.upper[player] += max(dividend, 0.0)
        self.fixed = self.upper - self.lower <= 2 * self.margin
        holds = [[s for s in range(1 << n) if s >> player & 1] for player in range(n)]
        self.null = np.array([np.max(abs(self.dividends[held])) <= 1e-12 for held in holds])
        by_value = sorted(range(n), key=lambda player: (-round(abs(self.shapley[player]), 11), player))
        self.place = {player: place for place, player in enumerate(by_value)}
        self.known: dict[tuple[int, ...], bool] = {}

    def in_order(self, order: tuple[int, ...]) -> bool:
        """The rule for ties: null players last, by index; fixed ones by value, then index."""
        nulls = [player for player in order if self.null[player]]
        fixed = [self.place[player] for player in order if self.fixed[player] and not self.null[player]]
        last = list(order[len(order) - len(nulls) :])
        return last == sorted(nulls) and fixed == sorted(fixed)

    def attainable(self, order: tuple[int, ...]) -> bool:
        """Whether some shares and some signs give this ranking."""
        if order not in self.known:
            signs = itertools.product((1.0, -1.0), repeat=self.n)
            self.known[order] = self.in_order(order) and any(self._program(order, sign) for sign in signs)
        return self.known[order]

    def _program(self, order: tuple[int, ...], signs: tuple[float, ...]) -> bool:
        rows, limits, margins = [], [], []
        for rank, (player, sign) in enumerate(zip(order, signs, strict=True)):
            if not (self.upper[player] >= -1e-9 if sign > 0 else self.lower[player] <= 1e-9):
                return False
            row, constant, margin = sign * self.from_shares[player], sign * self.alone[player], 0.0
            if rank + 1 < self.n:
                after = order[rank + 1]
                row = row - signs[rank + 1] * self.from_shares[after]
                constant -= signs[rank + 1] * self.alone[after]
                margin = 0.0 if self.fixed[player] and self.fixed[after] else 1.0
            rows.append(np.append(-row, margin))
            limits.append(constant + (0.0 if margin else 1e-9))
            margins.append(margin)
        if not self.from_shares.shape[1]:
            return all(limit >= margin * self.margin - 1e-9 for limit, margin in zip(limits, margins, strict=True))
        # The largest margin that all neighbors can keep, at most ten of the margins asked for.
        n_shares = self.from_shares.shape[1]
        result = linprog(
            np.append(np.zeros(n_shares), -1.0),
            A_ub=np.array(rows),
            b_ub=np.array(limits),
            A_eq=np.column_stack([self.sums, np.zeros(len(self.sums))]),
            b_eq=np.ones(len(self.sums)),
            bounds=[(0.0, 1.0)] * n_shares + [(-10.0, 10 * self.margin)],
            method="highs",
            options=EXACT,
        )
        assert result.status in {0, 2}, result.message
        return result.status == 0 and -result.fun >= 0.999 * self.margin

    def best(self, utility: str, target: int | None, threshold: float) -> float:
        """The best score of an attainable ranking, or of the Shapley values."""
        orders = list(itertools.permutations(range(self.n)))
        stand_ins = np.array([[self.n - order.index(player) for player in range(self.n)] for order in orders], float)
        table = np.broadcast_to(self.values, (len(orders), len(self.values)))
        targets = None if target is None else np.full(len(orders), target)
        scores = tp.score(stand_ins, table, utility, targets, threshold=threshold)
        shapley = tp.methods.shapley(self.values)
        best = float(tp.score(shapley, self.values, utility, target, threshold=threshold))
        sign = -1.0 if utility in HIGHER else 1.0
        for index in np.argsort(sign * scores, kind="stable"):
            if sign * scores[index] >= sign * best:
                break
            if self.attainable(orders[index]):
                return float(scores[index])
        return best


def disagreements(seed: tuple[int, ...], n: int, kind: str) -> list[tuple[str, float, float]]:
    """The utilities for which the package's answer and the exhaustive one differ, with both scores."""
    rng = np.random.default_rng(seed)
    values = make_game(rng, n, kind) * 10.0 ** rng.integers(-6, 7)
    if rng.random() < 0.2:
        values = values + 10 * rng.normal() * np.max(abs(values))
    margin = float(rng.choice(MARGINS))
    reference = Reference(values, margin)
    wrong = []
    for utility in UTILITIES:
        target = int(rng.integers(0, 2)) if utility.endswith("auc") else None
        threshold = float(np.median(values))
        allocation = allocate(values, utility, target=target, threshold=threshold, margin=margin)
        best = reference.best(utility, target, threshold)
        size = 1.0 if utility.endswith("auc") else reference.scale ** (2 if utility.endswith("mse") else 1)
        agrees = abs(float(allocation.score) - best) <= 1e-8 * n * size
        proven = bool(allocation.certified) and float(allocation.bound) == float(allocation.score)
        closed = abs(np.sum(allocation.attributions) - (values[-1] - values[0])) <= 1e-9 * reference.scale
        if not (agrees and proven and closed):
            wrong.append((utility, float(allocation.score), best))
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--games", type=int, default=210)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started, bad = time.perf_counter(), 0
    for game in range(options.games):
        kind = KINDS[game % len(KINDS)]
        wrong = disagreements((options.seed, options.players, game), options.players, kind)
        if wrong:
            bad += 1
            print(f"game {game} ({kind}): {wrong}")
    seconds = time.perf_counter() - started
    print(f"n = {options.players}: {options.games - bad} of {options.games} games agree, {seconds:.0f} s")


if __name__ == "__main__":
    main()
