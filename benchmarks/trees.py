"""Exact attributions and dividends of boosted trees beside their peers, in one process, on one core.

    python benchmarks/trees.py            the comparison that must hold, and a short curve
    python benchmarks/trees.py --full     the whole curve over trees, depth, players, background and rows

Peers: shap's interventional TreeExplainer (C++); shapiq 1.8's, where it is installed (Python 3.12); WOODELF, where
woodelf-explainer is. Each computes interventional Shapley values of the same XGBoost model over the same background,
and all of them must agree to 1e-6 of the largest value; shapiq's Moebius values must equal the dividends.

Every time is the processor's, the least of several runs, after a first run that compiles or loads. "Tables built" is
what `explainer(X).values` costs: the model's own prediction, the check of the rebuilt one to the bit, and the lookups.
"Tables included" starts from the model and the background. "Bare" is the game alone.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import sys
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import shap
import xgboost

import taylorpoda as tp
from taylorpoda.dividends.trees import make_game, read_ensemble

# How many times faster than shap, by background rows: with tables built, and tables included.
REQUIRED = {100: (12.0, 7.0), 1000: (100.0, 55.0)}
CLOSE = 1e-6
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
MEMORY = 2**31
HAS_WOODELF = importlib.util.find_spec("woodelf") is not None
HAS_SHAPIQ = importlib.util.find_spec("shapiq") is not None and (
    tuple(int(part) for part in importlib.metadata.version("shapiq").split(".")[:2]) >= (1, 8)
)


@dataclass(frozen=True)
class Setting:
    """What is explained."""

    trees: int = 100
    depth: int = 6
    players: int = 50
    background: int = 100
    rows: int = 1000

    def __str__(self) -> str:
        """As the first columns of a line."""
        return f"{self.trees:5d} {self.depth:5d} {self.players:7d} {self.background:10d} {self.rows:6d}"


@dataclass(frozen=True)
class Data:
    """A fitted model with its rows."""

    model: object
    background: np.ndarray
    rows: np.ndarray


def data_of(setting):
    """Normal features, pairs of them at work together, and a boosted model."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3000 + setting.background + setting.rows, setting.players)).astype(np.float32)
    strong = min(setting.players, 20)
    target = table[:, :strong] @ rng.normal(size=strong) + table[:, 0] * table[:, 1]
    target += np.sin(2 * table[:, 2]) * table[:, 3] + 0.1 * rng.normal(size=len(table))
    model = xgboost.XGBRegressor(n_estimators=setting.trees, max_depth=setting.depth, n_jobs=1)
    model.fit(table[:3000], target[:3000])
    # WOODELF puts a cell next to a threshold on another side than XGBoost does; these rows have none.
    below = read_ensemble(model).threshold.astype(np.float32)
    table[np.isin(table, np.concatenate([below, np.nextafter(below, np.float32(np.inf))]))] += np.float32(1e-3)
    return Data(model, table[3000 : 3000 + setting.background], table[3000 + setting.background :])


def least(task, runs):
    """The least processor time of some runs, and what the last of them gave."""
    times, result = [], None
    for _ in range(runs):
        start = time.process_time()
        result = task()
        times.append(time.process_time() - start)
    return min(times), result


def ours(data, runs):
    """Seconds a row: tables built, tables included, bare; and the values."""

    def explainer():
        return tp.Explainer(data.model, data.background, policy="shapley", max_memory=MEMORY)

    ready = explainer()
    assert ready(data.rows).engine == "trees"
    values = ready(data.rows).values
    built, _ = least(lambda: ready(data.rows).values, runs)
    included, _ = least(lambda: explainer()(data.rows).values, runs)
    ensemble = read_ensemble(data.model)
    game = make_game(ensemble, np.arange(values.shape[1]), data.background, max_memory=MEMORY)
    columns = ensemble.encoder.encode(data.rows)
    game.attributions(columns)
    bare, _ = least(lambda: game.attributions(columns), runs)
    return built / len(values), included / len(values), bare / len(values), values


def our_dividends(data, rows):
    """Seconds for all dividends of a row, the numbering of coalitions included, and how many there are."""
    explanation = tp.Explainer(data.model, data.background, policy="shapley", max_memory=MEMORY)(data.rows[:rows])
    explanation.dividends(0)  # compiles or loads
    again = tp.Explainer(data.model, data.background, policy="shapley", max_memory=MEMORY)(data.rows[:rows])
    start = time.process_time()
    found = [again.dividends(row) for row in range(rows)]
    spent = (time.process_time() - start) / rows
    for row in (0, rows - 1):
        gap = abs(found[row].shapley() - again.values[row])
        assert np.max(gap) <= 1e-10 * np.max(abs(again.values))
    return spent, float(np.mean([len(dividends) for dividends in found])), found


def agree(name, found, expected):
    """Both sides computed the same numbers."""
    difference = np.max(abs(np.asarray(found) - expected)) / np.max(abs(expected))
    assert difference <= CLOSE, f"{name} differs by {difference:.1e} of the largest value"


def of_shap(data, rows, expected, runs=2):
    """Seconds a row of shap's C++."""
    masker = shap.maskers.Independent(data.background, max_samples=len(data.background))
    explainer = shap.TreeExplainer(data.model, masker, feature_perturbation="interventional")
    seconds, found = least(lambda: explainer.shap_values(data.rows[:rows], check_additivity=False), runs)
    agree("shap", found, expected[:rows])
    return seconds / rows


def of_shapiq(data, rows, expected):
    """Seconds a row of shapiq's own computation."""
    if not HAS_SHAPIQ:
        return np.nan
    from shapiq.tree import TreeExplainer

    explainer = TreeExplainer(
        data.model, mode="interventional", reference_dataset=data.background, index="SV", max_order=1, backend="shapiq"
    )
    explainer.explain(data.rows[0])
    seconds, found = least(lambda: [explainer.explain(row) for row in data.rows[:rows]], 1)
    values = [[row[(player,)] for player in range(expected.shape[1])] for row in found]
    agree("shapiq", values, expected[:rows])
    return seconds / rows


def moebius_of_shapiq(data, rows, dividends):
    """Seconds for all Moebius values of a row of shapiq's own computation, which must be the dividends."""
    if not HAS_SHAPIQ:
        return np.nan
    from shapiq.tree import TreeExplainer

    explainer = TreeExplainer(
        data.model,
        mode="interventional",
        reference_dataset=data.background,
        index="Moebius",
        max_order=max(int(game.coalitions.sizes.max()) for game in dividends[:rows]),
        backend="shapiq",
    )
    explainer.explain(data.rows[0])
    seconds, found = least(lambda: [explainer.explain(row) for row in data.rows[:rows]], 1)
    for theirs, game in zip(found, dividends, strict=False):
        members = np.split(game.coalitions.members, game.coalitions.indptr[1:-1])
        ours_by_name = {tuple(part.tolist()): value for part, value in zip(members, game.values, strict=True)}
        names = ours_by_name.keys() | theirs.interactions.keys()
        gap = max(abs(ours_by_name.get(name, 0.0) - theirs.interactions.get(name, 0.0)) for name in names)
        assert gap <= CLOSE * np.max(abs(game.values)), f"shapiq's Moebius values differ by {gap:.1e}"
    return seconds / rows


def of_woodelf(data, expected):
    """Seconds a row of WOODELF's batch, its model and background read again each time, as it has no state to keep."""
    if not HAS_WOODELF:
        return np.nan
    from woodelf import WoodelfExplainer

    names = [f"f{player}" for player in range(expected.shape[1])]
    background, rows = pd.DataFrame(data.background, columns=names), pd.DataFrame(data.rows, columns=names)
    booster = data.model.get_booster()
    booster.feature_names = names

    def explain():
        return WoodelfExplainer(data.model, background).shap_values(rows, verbose=False)

    seconds, found = least(explain, 2)
    booster.feature_names = None
    agree("woodelf", found, expected)
    return seconds / len(rows)


def peers_rows(setting):
    """Rows that the slow peers explain: about a second of shap's."""
    cost = setting.trees * setting.background * 2.0**setting.depth * 3e-9
    return int(np.clip(1.0 / cost, 2, min(setting.rows, 200)))


def required(runs):
    """The comparison that must hold; whether it does."""
    print(f"XGBoost, 100 trees of depth 6, 1000 rows in a batch; milliseconds a row, the least of {runs} runs")
    print(
        "players background     shap |  built  times required | included  times required |   bare  times | "
        "dividends  count  times required | shapiq: values  dividends | woodelf"
    )
    held = True
    for players in (8, 50, 300):
        against_hundred = None
        for background, (least_built, least_included) in REQUIRED.items():
            setting = Setting(players=players, background=background)
            data = data_of(setting)
            built, included, bare, values = ours(data, runs)
            theirs = of_shap(data, peers_rows(setting), values, runs=3)
            against_hundred = against_hundred or theirs
            each, count, dividends = our_dividends(data, 200)
            others = of_shapiq(data, 5, values), moebius_of_shapiq(data, 3, dividends), of_woodelf(data, values)
            good = (
                theirs / built >= least_built
                and theirs / included >= least_included
                and (background != 100 or each <= against_hundred)
            )
            held &= good
            print(
                f"{players:7d} {background:10d} {1e3 * theirs:8.3f} |"
                f" {1e3 * built:6.4f} {theirs / built:6.0f} {least_built:8.0f} |"
                f" {1e3 * included:8.4f} {theirs / included:6.0f} {least_included:8.0f} |"
                f" {1e3 * bare:6.4f} {theirs / bare:6.0f} |"
                f" {1e3 * each:9.3f} {count:6.0f} {against_hundred / each:6.1f} {1:8d} |"
                f" {1e3 * others[0]:14.3f} {1e3 * others[1]:10.3f} | {1e3 * others[2]:7.4f}"
                f"{'' if good else '   NOT REACHED'}",
                flush=True,
            )
    return held


def curve(settings):
    """One line per setting."""
    print("\nMilliseconds a row, by setting; times are those of shap over ours")
    print(
        "trees depth players background   rows |  built  times | included  times |    shap | shapiq | woodelf | "
        "dividends"
    )
    for setting in settings:
        data = data_of(setting)
        built, included, _, values = ours(data, 2)
        theirs = of_shap(data, peers_rows(setting), values, runs=1)
        shapiqs = of_shapiq(data, min(3, setting.rows), values)
        woodelfs = of_woodelf(data, values)
        try:
            each = f"{1e3 * our_dividends(data, min(setting.rows, 10))[0]:9.3f}"
        except ValueError as error:  # a memory bound that depth can exceed: the error says so
            each = str(error).split(";", maxsplit=1)[0]
        print(
            f"{setting} | {1e3 * built:6.4f} {theirs / built:6.0f} | {1e3 * included:8.4f} {theirs / included:6.0f} |"
            f" {1e3 * theirs:7.3f} | {1e3 * shapiqs:6.2f} | {1e3 * woodelfs:7.4f} | {each}",
            flush=True,
        )


def settings_of(*, full):
    """One axis at a time from the middle of the curve."""
    middle = Setting()
    axes = {
        "trees": (10, 100, 300, 1000) if full else (10, 300),
        "depth": (2, 4, 6, 8, 10) if full else (3, 8),
        "players": (8, 50, 300, 1000) if full else (1000,),
        "background": (1, 10, 100, 1000, 10000) if full else (1, 10000),
        "rows": (1, 10, 100, 1000, 10000) if full else (1, 10000),
    }
    return dict.fromkeys([middle, *(replace(middle, **{axis: at}) for axis, spots in axes.items() for at in spots)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the whole curve, in some ten minutes")
    parser.add_argument("--runs", type=int, default=5, help="runs of each timing; the least counts")
    asked = parser.parse_args()
    if any(os.environ.get(name) != "1" for name in THREADS):  # libraries read them as they are loaded: start again
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | dict.fromkeys(THREADS, "1"))  # noqa: S606
    warnings.filterwarnings("ignore", category=FutureWarning)
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ("xgboost", "shap", "numba")]
    versions += [f"shapiq {importlib.metadata.version('shapiq')}"] if HAS_SHAPIQ else ["shapiq 1.8 is not installed"]
    versions += (
        [f"woodelf-explainer {importlib.metadata.version('woodelf-explainer')}"]
        if HAS_WOODELF
        else ["woodelf-explainer is not installed"]
    )
    print(", ".join(versions))
    held = required(asked.runs)
    curve(settings_of(full=asked.full))
    print("\nAll numbers agree. " + ("Every required figure was reached." if held else "NOT every figure was reached."))


if __name__ == "__main__":
    main()
