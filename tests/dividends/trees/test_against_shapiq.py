"""Dividends of wide trees, coalition by coalition: against leaves taken one at a time, and against shapiq's own.

shapiq reads trees since version 1.8, which needs Python 3.12; where it is not installed its part of the table is empty
and the definition alone is compared. For XGBoost it folds the base score into single-precision leaves and keeps the
training weights in single precision, so there only a model without a base score, over a background, is exact. For
branches that no training row reached (CatBoost's complete trees have them) it weighs otherwise than CatBoost's and
shap's own path-dependent values, which ours equal.
"""

from __future__ import annotations

import importlib.metadata
from collections import defaultdict
from itertools import chain, combinations

import numpy as np
import pytest
from catboost import CatBoostRegressor, Pool
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBClassifier, XGBRegressor

from taylorpoda.dividends.trees import make_game, read_ensemble

CLOSE = 1e-9
PLAYERS = 40
VERSION = tuple(int(part) for part in importlib.metadata.version("shapiq").split(".")[:2])
ROWS = np.random.default_rng(0).normal(size=(400, PLAYERS)).astype(np.float32).astype(np.float64)
TARGET = ROWS[:, 0] * ROWS[:, 1] - ROWS[:, 2] * (ROWS[:, 3] > 0) + np.sin(2 * ROWS[:, 4]) + ROWS[:, :6].sum(axis=1)
BACKGROUND, EXPLAINED = ROWS[:25], ROWS[30:33]
CLASSES = np.digitize(TARGET, np.quantile(TARGET, [0.33, 0.66]))
FOREST = dict(n_estimators=8, max_depth=6, random_state=0)
LIGHT = dict(n_estimators=12, num_leaves=15, verbose=-1, n_jobs=1)
OVER_BACKGROUND, BY_WEIGHT = "interventional", "pathdependent"
BOTH = (OVER_BACKGROUND, BY_WEIGHT)

# What is fitted, its target, and in which games shapiq's numbers are exact.
MODELS = {
    "xgboost": (XGBRegressor(n_estimators=12, max_depth=5, base_score=0.0, n_jobs=1), TARGET, BOTH[:1]),
    "xgboost classes": (XGBClassifier(n_estimators=6, max_depth=4, n_jobs=1), CLASSES, ()),
    "lightgbm": (LGBMRegressor(**LIGHT), TARGET, BOTH),
    "lightgbm classes": (LGBMClassifier(**LIGHT), CLASSES, BOTH),
    "catboost": (
        CatBoostRegressor(iterations=10, depth=4, verbose=0, allow_writing_files=False, thread_count=1),
        TARGET,
        BOTH[:1],
    ),
    "tree": (DecisionTreeRegressor(max_depth=7, random_state=0), TARGET, BOTH),
    "forest": (RandomForestRegressor(**FOREST), TARGET, BOTH),
    "forest classes": (RandomForestClassifier(**FOREST), CLASSES, BOTH),
    "extra trees": (ExtraTreesRegressor(**FOREST), TARGET, BOTH),
    "boosting": (GradientBoostingRegressor(n_estimators=15, random_state=0), TARGET, BOTH),
    "boosting classes": (GradientBoostingClassifier(n_estimators=15, random_state=0), CLASSES > 0, BOTH),
    "histogram": (HistGradientBoostingRegressor(max_iter=12, max_leaf_nodes=15), TARGET, BOTH),
}
EXACT_IN_SHAPIQ = [(name, mode) for name, (_, _, modes) in MODELS.items() for mode in modes]


def game_of(name, background):
    model, target, _ = MODELS[name]
    model.fit(ROWS, target)
    ensemble = read_ensemble(model)
    game = make_game(ensemble, np.arange(PLAYERS), background, max_memory=2**30)
    return model, ensemble, game, ensemble.encoder.encode(EXPLAINED)


def by_coalition(dividends):
    """The container as a dictionary from tuples of players."""
    members = np.split(dividends.coalitions.members, dividends.coalitions.indptr[1:-1])
    return {tuple(part.tolist()): value for part, value in zip(members, dividends.values, strict=True)}


def subsets(players):
    return chain.from_iterable(combinations(players, size) for size in range(len(players) + 1))


def leaves_of(ensemble, root):
    """Each leaf of a tree with its path: (node, goes left) from the root on."""
    waiting = [(root, [])]
    while waiting:
        node, path = waiting.pop()
        if ensemble.left[node] < 0:
            yield node, path
        else:
            waiting += [(ensemble.left[node], [*path, (node, True)]), (ensemble.right[node], [*path, (node, False)])]


def dividends_by_leaves(ensemble, columns, background, output):
    """One leaf and one background row at a time: w goes to A with every B' of B, with the sign of |B'|.

    A are the features whose splits on the path only the explained row satisfies, B those that only the background row
    does; a feature that neither satisfies leaves the leaf unreached.
    """
    found = defaultdict(float)
    found[()] = float(ensemble.base[output])
    for root, slot in zip(ensemble.roots, ensemble.slots, strict=True):
        if not 0 <= output - slot < ensemble.width:
            continue
        for leaf, path in leaves_of(ensemble, root):
            keeps = np.ones((2, PLAYERS, background.shape[1]), dtype=bool)
            for node, left in path:
                feature, column = ensemble.feature_of_column[ensemble.column[node]], ensemble.column[node]
                for place, cells in enumerate((columns[column], background[column])):
                    keeps[place, feature] &= (cells <= ensemble.threshold[node]) == left
            own, other = keeps
            for row in np.flatnonzero((own | other).all(axis=0)):
                only_own = np.flatnonzero(~other[:, row]).tolist()
                weight = ensemble.values[leaf, output - slot] / background.shape[1]
                for part in subsets(np.flatnonzero(~own[:, row]).tolist()):
                    found[tuple(sorted([*only_own, *part]))] += (-1) ** len(part) * weight
    return found


def check(found, expected, scale):
    for name in found.keys() | expected.keys():
        assert abs(found.get(name, 0.0) - expected.get(name, 0.0)) <= CLOSE * scale, name


@pytest.mark.parametrize("tabled", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_dividends_are_those_of_single_leaves_and_background_rows(name, tabled):
    _, ensemble, game, columns = game_of(name, BACKGROUND)
    object.__setattr__(game, "tabled", np.full(ensemble.n_trees, tabled))
    background = ensemble.encoder.encode(BACKGROUND)
    for output, dividends in enumerate(game.dividends(columns, 0)):
        expected = dividends_by_leaves(ensemble, columns[:, :1], background, output)
        check(by_coalition(dividends), expected, np.max(abs(dividends.values)))


@pytest.mark.parametrize(("name", "mode"), EXACT_IN_SHAPIQ if VERSION >= (1, 8) else [("none", "shapiq is older")])
def test_dividends_are_the_moebius_values_of_shapiq(name, mode):
    if name not in MODELS:
        assert VERSION < (1, 8)
        return
    from shapiq.tree import TreeExplainer

    background = BACKGROUND if mode == OVER_BACKGROUND else None
    model, _, game, columns = game_of(name, background)
    peer = TreeExplainer(
        model,
        mode=mode,
        index="Moebius",
        max_order=int(game.layout.above.max()),
        class_index=1 if game.n_outputs > 1 else None,
        backend="shapiq",
        **({} if background is None else {"reference_dataset": background}),
    )
    for row, cells in enumerate(EXPLAINED):
        dividends = game.dividends(columns, row)[min(1, game.n_outputs - 1)]
        check(by_coalition(dividends), peer.explain(cells).interactions, np.max(abs(dividends.values)))


def test_branches_without_training_rows_weigh_as_in_catboost():
    model, ensemble, game, columns = game_of("catboost", None)
    assert (ensemble.cover[ensemble.left < 0] == 0).any()
    own = model.get_feature_importance(Pool(EXPLAINED), type="ShapValues")
    assert np.max(abs(game.attributions(columns)[:, 0] - own[:, :-1])) <= CLOSE * np.max(abs(own))
    assert abs(game.empty[0] - own[0, -1]) <= CLOSE * np.max(abs(own))
