"""The search for wide games, forced on games small enough to be solved by proof or by enumeration."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.optimize import linprog

import taylorpoda as tp
from taylorpoda.allocation.options import Options
from taylorpoda.allocation.sparse import allocate_sparse
from taylorpoda.dividends.sparse import SparseDividends

HIGHER = {"inclusion_aup": False, "exclusion_aup": True, "inclusion_mse": False, "exclusion_mse": True,
          "inclusion_auc": True, "exclusion_auc": False}  # fmt: skip


@pytest.fixture
def forced(monkeypatch):
    """Every row counts as wide."""
    monkeypatch.setattr("taylorpoda.allocation.sparse.problem.FEW", 0)


def cost_of(utility, score):
    return -np.asarray(score) if HIGHER[utility] else np.asarray(score)


def admissible(dividends, attributions):
    """Whether shares exist, by a linear program over all of them."""
    members = dividends.coalitions
    several = members.sizes[members.owner] > 1
    owner, player = members.owner[several], members.members[several]
    n, m = dividends.n_players, int(np.sum(several))
    matrix = np.zeros((n + len(dividends), m))
    matrix[player, np.arange(m)] = dividends.values[owner]
    matrix[n + owner, np.arange(m)] = 1.0
    used = np.concatenate([np.ones(n, bool), members.sizes > 1])
    right = np.concatenate([attributions - dividends.singletons(), np.ones(len(dividends))])
    return linprog(np.zeros(m), A_eq=matrix[used], b_eq=right[used], bounds=(0, 1)).success


@pytest.mark.parametrize("n_players", [2, 3, 4, 6, 9, 13])
def test_against_the_certified_optimum(utility, n_players, forced, games_of, dividends_of, check_shares):
    rng = np.random.default_rng(n_players)
    games = games_of([dividends_of(rng, n_players, 3 * n_players, singles=k > 0) for k in range(4)])
    target = games.target(utility)
    found = allocate_sparse(games, utility, "optimal", target, Options())
    proven = tp.allocate(games.tables(), utility, "optimal", target, threshold=games.threshold)
    scale = np.max(abs(games.tables()))
    close = 1e-9 * scale
    best, cost = cost_of(utility, proven.score), cost_of(utility, found.score)
    assert np.all(cost <= cost_of(utility, found.shapley_score) + close)
    assert np.all(cost_of(utility, found.bound) <= best + close)
    assert np.all(cost_of(utility, found.ceiling) <= cost_of(utility, proven.ceiling) + close)
    assert np.all(cost_of(utility, found.ceiling) <= cost_of(utility, found.bound) + close)
    assert np.all(cost >= best - close)
    assert np.all(cost[found.certified] <= best[found.certified] + close)
    assert np.max(abs(found.gap - abs(found.score - found.bound))) <= close
    for row, game in enumerate(games.listed):
        check_shares(game, found.shares(row), found.attributions[row], scale)
        assert abs(np.sum(found.attributions[row]) - (game.full_value - game.base_value)) <= 1e-12 * scale
        if not np.array_equal(found.attributions[row], games.shapley[row]):
            assert admissible(game, found.attributions[row])


def test_the_search_finds_most_of_what_there_is(forced, games_of, dividends_of):
    """Over many small games; a single one may be missed."""
    games = games_of([dividends_of(np.random.default_rng(k), 8, 24) for k in range(30)])
    found = allocate_sparse(games, "inclusion_aup", "optimal", None, Options(node_limit=150))
    proven = tp.allocate(games.tables(), "inclusion_aup", "optimal")
    possible = np.sum(proven.shapley_score - proven.score)
    assert np.sum(found.shapley_score - found.score) >= 0.98 * possible > 0
    assert np.mean(found.score <= proven.score + 1e-9) > 0.8


@pytest.mark.parametrize("n_players", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("silent", [0, 1])
def test_the_ceiling_is_below_every_ranking(utility, n_players, silent, forced, games_of, dividends_of, brute_score):
    n = n_players + silent
    game = dividends_of(np.random.default_rng(n_players), n, 2 * n_players, players=range(n_players))
    games = games_of([game])
    target = games.target(utility)
    found = allocate_sparse(games, utility, "optimal", target, Options())
    label = None if target is None else target[0]
    costs = []
    for order in permutations(range(n)):
        sizes = np.empty(n)
        sizes[list(order)] = np.arange(n, 0, -1)
        costs.append(float(cost_of(utility, brute_score(game, sizes, utility, label))))
    assert cost_of(utility, found.ceiling)[0] <= min(costs) + 1e-9
    assert abs(brute_score(game, found.attributions[0], utility, label) - found.score[0]) <= 1e-9


@pytest.mark.parametrize("utility", ["inclusion_auc", "exclusion_auc"])
def test_classes_that_compete(utility, forced, games_of, dividends_of, brute_score, check_shares):
    listed = [dividends_of(np.random.default_rng(k), 7, 12, players=np.delete(np.arange(7), k % 3)) for k in range(12)]
    games = games_of(listed, classes=3)
    target = games.target(utility)
    found = allocate_sparse(games, utility, "optimal", target, Options(node_limit=200))
    proven = tp.allocate(games.tables(), utility, "optimal", target, labels=games.labels())
    best = cost_of(utility, proven.score)
    assert np.all(cost_of(utility, found.bound) <= best)
    assert np.all(cost_of(utility, found.ceiling) <= cost_of(utility, proven.ceiling))
    assert np.all(cost_of(utility, found.score) <= cost_of(utility, found.shapley_score))
    assert np.all(cost_of(utility, found.score)[found.certified] == best[found.certified])
    for row, game in enumerate(listed):
        attributions = found.attributions.reshape(-1, 7)[row]
        label = target[row // 3]
        scored = brute_score(game, attributions, utility, label, rivals=games.rivals(row))
        assert scored == found.score.reshape(-1)[row]
        check_shares(game, found.shares(row), attributions, 10.0)


def test_additive_games_have_one_answer_and_it_is_proven(utility, forced, games_of):
    values = np.random.default_rng(0).normal(size=25)
    games = games_of([SparseDividends.from_sets([[], *([k] for k in range(24))], values, 24)])
    found = allocate_sparse(games, utility, "optimal", games.target(utility), Options())
    assert np.array_equal(found.attributions, games.shapley)
    assert found.certified.all()
    assert found.nearest_certified.all()
    assert np.array_equal(found.bound, found.score)
    assert len(found.shares(0)) == 0


def wide_game(dividends_of, seed=0):
    return dividends_of(np.random.default_rng(seed), 40, 160)


def test_no_nodes_no_time_no_change(utility, games_of, dividends_of):
    games = games_of([wide_game(dividends_of)])
    target = games.target(utility)
    for options in (Options(node_limit=0), Options(time_limit=0.0)):
        found = allocate_sparse(games, utility, "optimal", target, options)
        assert np.array_equal(found.attributions, games.shapley)
    short = allocate_sparse(games, utility, "optimal", target, Options(node_limit=3))
    assert cost_of(utility, short.score) <= cost_of(utility, short.shapley_score)
    usual = allocate_sparse(games, utility, "optimal", target, Options())
    assert cost_of(utility, usual.score) <= cost_of(utility, short.score) + 1e-9


def test_a_row_s_answer_is_its_own_and_always_the_same(games_of, dividends_of):
    listed = [wide_game(dividends_of, seed) for seed in range(3)]
    together = allocate_sparse(games_of(listed), "inclusion_aup", "optimal", None, Options())
    for row in (2, 0):
        alone = allocate_sparse(games_of([listed[row]]), "inclusion_aup", "optimal", None, Options())
        assert np.array_equal(alone.attributions[0], together.attributions[row])


def test_renaming_the_players_renames_the_answer(utility, games_of, dividends_of):
    game = wide_game(dividends_of)
    name = np.random.default_rng(1).permutation(40)
    members = name[game.coalitions.members].tolist()
    sets = [members[first:last] for first, last in pairwise(game.coalitions.indptr.tolist())]
    renamed = SparseDividends.from_sets(sets, game.values, 40)
    games, others = games_of([game]), games_of([renamed])
    target = games.target(utility)
    first = allocate_sparse(games, utility, "optimal", target, Options())
    second = allocate_sparse(others, utility, "optimal", target, Options())
    assert np.max(abs(first.score - second.score)) <= 1e-9 * abs(first.score[0])
    assert np.max(abs(second.attributions[0, name] - first.attributions[0])) <= 1e-6


def test_units_do_not_matter(games_of, dividends_of):
    game = wide_game(dividends_of)
    plain = allocate_sparse(games_of([game]), "inclusion_aup", "optimal", None, Options())
    for factor in (2.0**40, 2.0**-40):
        scaled = allocate_sparse(games_of([game * factor]), "inclusion_aup", "optimal", None, Options())
        assert np.max(abs(scaled.attributions / factor - plain.attributions)) <= 1e-6
        assert abs(scaled.score[0] / factor - plain.score[0]) <= 1e-9
        assert abs(scaled.bound[0] / factor - plain.bound[0]) <= 1e-9


def test_answers_of_wide_games_are_valid(utility, games_of, dividends_of, check_shares):
    game = wide_game(dividends_of)
    games = games_of([game])
    found = allocate_sparse(games, utility, "optimal", games.target(utility), Options())
    scale = np.max(abs(game.prefix_values(np.argsort(-abs(found.attributions[0])))))
    check_shares(game, found.shares(0), found.attributions[0], scale)
    assert np.all(found.lower <= found.attributions + 1e-9)
    assert np.all(found.attributions <= found.upper + 1e-9)
    assert admissible(game, found.attributions[0])
    worth = cost_of(utility, found.score) < cost_of(utility, found.shapley_score)
    assert worth.all() or found.certified.all()
