"""A user's own function of the attributions: the dense room's answer for few players, a search beyond."""

from __future__ import annotations

import numpy as np

import taylorpoda as tp
from taylorpoda.allocation.options import Options
from taylorpoda.allocation.sparse import allocate_sparse

EVEN = tp.Utility("even", evaluate=lambda a, _: -np.max(abs(a), axis=-1), higher_is_better=True)
SQUARES = tp.Utility(
    "squares",
    evaluate=lambda a, _: np.sum(a * a, axis=-1),
    gradient=lambda a, _: 2 * a,
    convex=True,
    higher_is_better=False,
)


def test_few_players_are_solved_by_the_dense_room(games_of, dividends_of, check_shares):
    games = games_of([dividends_of(np.random.default_rng(k), 6, 12) for k in range(3)])
    found = allocate_sparse(games, SQUARES, "optimal", None, Options())
    expected = tp.allocate(games.tables(), SQUARES, "optimal")
    assert found.certified.all()
    assert np.max(abs(found.score - expected.score)) <= 1e-9
    for row, game in enumerate(games.listed):
        check_shares(game, found.shares(row), found.attributions[row], 10.0)


def test_many_players_are_searched(games_of, dividends_of, check_shares):
    games = games_of([dividends_of(np.random.default_rng(k), 24, 60) for k in range(3)])
    found = allocate_sparse(games, EVEN, "optimal", None, Options(seed=1))
    sampled = allocate_sparse(games, EVEN, "dirichlet", None, Options(seed=1))
    assert np.all(found.score >= sampled.score)
    assert np.any(found.score > sampled.score)
    assert np.all(found.score >= found.shapley_score)
    assert not found.certified.any()
    assert np.all(np.isposinf(found.bound) & np.isposinf(found.ceiling))
    again = allocate_sparse(games, EVEN, "optimal", None, Options(seed=1))
    assert np.array_equal(found.attributions, again.attributions)
    alone = allocate_sparse(games_of(games.listed[1:2]), EVEN, "optimal", None, Options(seed=1))
    assert np.array_equal(found.attributions[1], alone.attributions[0])
    for row, game in enumerate(games.listed):
        check_shares(game, found.shares(row), found.attributions[row], 10.0)
        assert abs(found.attributions[row].sum() - (game.full_value - game.base_value)) <= 1e-12 * 30
