"""Where at most 20 players matter the answer is the dense room's, certified, whatever the number of players."""

from __future__ import annotations

import numpy as np
import pytest

import taylorpoda as tp
from taylorpoda.allocation.options import Options
from taylorpoda.allocation.sparse import allocate_sparse


def compare(games, utility, found, check_shares):
    """Everything both rooms say."""
    expected = tp.allocate(
        games.tables(), utility, "optimal", games.target(utility), threshold=games.threshold, labels=games.labels()
    )
    scale = np.max(abs(games.tables()))
    for judged in ("score", "shapley_score", "bound", "ceiling", "gap", "lower", "upper"):
        assert np.max(abs(getattr(found, judged) - getattr(expected, judged))) <= 1e-9 * scale, judged
    assert np.array_equal(found.certified, expected.certified)
    assert np.all(found.certified)
    # The second key may be left undecided; where both decide it, they agree.
    both = found.nearest_certified & expected.nearest_certified
    assert np.max(abs(found.attributions - expected.attributions)[both], initial=0.0) <= 1e-6 * scale
    flat = found.attributions.reshape(-1, games.n_players)
    for row in range(len(flat)):
        check_shares(games.listed[row], found.shares(row), flat[row], scale)


@pytest.mark.parametrize("n_players", [1, 2, 3, 5, 8, 17])
def test_all_players_matter(utility, n_players, games_of, dividends_of, check_shares):
    rng = np.random.default_rng(n_players)
    rows = 4 if n_players < 10 else 1
    games = games_of([dividends_of(rng, n_players, 3 * n_players) for _ in range(rows)])
    found = allocate_sparse(games, utility, "optimal", games.target(utility), Options())
    compare(games, utility, found, check_shares)


def test_players_that_cannot_matter_are_set_aside(utility, games_of, dividends_of, check_shares):
    rng = np.random.default_rng(5)
    games = games_of([dividends_of(rng, 11, 14, players=rng.choice(11, 6, replace=False)) for _ in range(3)])
    found = allocate_sparse(games, utility, "optimal", games.target(utility), Options())
    compare(games, utility, found, check_shares)
    for row, game in enumerate(games.listed):
        silent = np.setdiff1d(np.arange(11), game.coalitions.members)
        assert len(silent) == 5
        assert np.all(found.attributions[row, silent] == 0)


@pytest.mark.parametrize("utility", ["inclusion_auc", "exclusion_auc", "inclusion_aup"])
@pytest.mark.parametrize("spread", [0, 3])
def test_classes_that_compete(utility, spread, games_of, dividends_of, check_shares):
    """Also where a player that does not matter to one class matters to another."""
    rng = np.random.default_rng(9)
    listed = [dividends_of(rng, 7, 9, players=np.sort(rng.choice(7, 7 - spread, replace=False))) for _ in range(3 * 4)]
    games = games_of(listed, classes=3)
    found = allocate_sparse(games, utility, "optimal", games.target(utility), Options())
    scale = np.max(abs(games.tables()))
    if not spread:
        compare(games, utility, found, check_shares)
        return
    expected = tp.allocate(games.tables(), utility, "optimal", games.target(utility), labels=games.labels())
    assert np.max(abs(found.score - expected.score)) <= 1e-9 * scale
    assert np.array_equal(found.certified, expected.certified)


def test_few_of_very_many_players_matter(utility, games_of, dividends_of, check_shares, brute_score):
    """The same game with 300 players, 12 of whom matter, and with those alone."""
    rng = np.random.default_rng(3)
    players = np.sort(rng.choice(300, 12, replace=False))
    small = [dividends_of(np.random.default_rng(k), 12, 30) for k in range(2)]
    wide = games_of([dividends_of(np.random.default_rng(k), 300, 30, players=players) for k in range(2)])
    target = wide.target(utility)
    found = allocate_sparse(wide, utility, "optimal", target, Options())
    alone = allocate_sparse(games_of(small), utility, "optimal", target, Options())
    assert np.array_equal(found.certified, alone.certified)
    assert np.all(found.certified) or utility == "inclusion_auc"
    assert np.max(abs(found.score - found.bound)[found.certified]) <= 1e-9
    # The coalitions of more than 12 players are all alike.
    rest = found.shapley_score - alone.shapley_score
    assert np.max(abs(found.score - alone.score - rest)) <= 1e-9
    for row, game in enumerate(wide.listed):
        label = None if target is None else target[row]
        assert abs(brute_score(game, found.attributions[row], utility, label) - found.score[row]) <= 1e-9
        check_shares(game, found.shares(row), found.attributions[row], 10.0)
        assert np.all(np.delete(found.attributions[row], players) == 0)


def test_other_policies_are_measured_by_the_same_yardstick(utility, games_of, dividends_of):
    games = games_of([dividends_of(np.random.default_rng(k), 6, 20) for k in range(5)])
    target = games.target(utility)
    for policy in ("shapley", "dirichlet"):
        found = allocate_sparse(games, utility, policy, target, Options(seed=3))
        expected = tp.allocate(games.tables(), utility, policy, target, random_state=3, threshold=0.0)
        for judged in ("score", "bound", "ceiling"):
            assert np.max(abs(getattr(found, judged) - getattr(expected, judged))) <= 1e-9 * 30, judged
        assert np.array_equal(found.certified, expected.certified)
        assert np.array_equal(found.nearest_certified, expected.nearest_certified)


def test_a_stage_of_one_s_own(games_of, dividends_of):
    """A table over all coalitions, which may tell players apart that have no dividends."""
    games = games_of([dividends_of(np.random.default_rng(k), 6, 10, players=range(5)) for k in range(3)])
    mine = tp.Utility("mine", stage=lambda context: np.sin(3 * context.values), higher_is_better=True)
    found = allocate_sparse(games, mine, "optimal", None, Options())
    expected = tp.allocate(games.tables(), mine, "optimal")
    assert np.max(abs(found.score - expected.score)) <= 1e-9
    assert np.max(abs(found.bound - expected.bound)) <= 1e-9
    assert np.max(abs(found.ceiling - expected.ceiling)) <= 1e-9
    assert np.array_equal(found.certified, expected.certified)
    many = games_of([dividends_of(np.random.default_rng(1), 21, 10)])
    with pytest.raises(ValueError, match="at most 20 here"):
        allocate_sparse(many, mine, "optimal", None, Options())
