"""The walk that cools down: the compiled steps and those of numpy have the same bits, and what it says is true."""

from __future__ import annotations

import itertools
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from taylorpoda.allocation.options import Options
from taylorpoda.allocation.sparse import allocate_sparse, annealing, annealing_steps, descent
from taylorpoda.allocation.sparse.annealing import Annealing
from taylorpoda.allocation.sparse.context import SparseContext
from taylorpoda.allocation.sparse.descent import Budget, Descent
from taylorpoda.allocation.sparse.problem import RowProblem
from taylorpoda.utilities.builtin import BUILTIN


def row_of(games, utility):
    target = games.target(utility)
    context = SparseContext(games, None if target is None else np.asarray(target))
    return RowProblem(context, BUILTIN[utility], Options(), 0)


def random_precedence(rng, k):
    """A chain of some players, transitive."""
    before = np.zeros((k, k), dtype=bool)
    chain = rng.choice(k, size=4, replace=False)
    for place, player in enumerate(chain):
        before[player, chain[place + 1 :]] = True
    return before, chain


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
@pytest.mark.parametrize("k", [2, 3, 21, 120])  # a step sees 40 places on either side
def test_the_same_bits_compiled_and_not(utility, k, scale, games_of, dividends_of, monkeypatch):
    pytest.importorskip("numba")
    if "mse" in utility and scale != 1.0:
        scale = scale ** (1 / 3)  # squares must not overflow
    rng = np.random.default_rng(k)
    problem = row_of(games_of([dividends_of(rng, k, 4 * k) * scale]), utility)
    objective = problem.objective
    size = len(problem.players)
    before = random_precedence(rng, size)[0] if size >= 4 else None
    start = np.arange(size)
    if before is not None:
        start = np.argsort(np.sum(before, axis=0), kind="stable")
    walked = []
    for walk in (annealing._walk(), annealing_steps.walk):
        monkeypatch.setattr(annealing, "_walk", lambda walk=walk: walk)
        made = Annealing(objective, before, np.random.default_rng(5))
        walked.append(made.cooled(start, 600, lambda _: True))
    assert np.array_equal(walked[0][0], walked[1][0])
    assert walked[0][1] == walked[1][1]
    order, cost = walked[0]
    assert np.array_equal(np.sort(order), np.arange(size))
    assert cost == float(np.sum(objective.along(order)))
    if before is not None:
        place = np.argsort(order)
        first, second = np.nonzero(before)
        assert np.all(place[first] < place[second])


def test_the_price_of_one_value_is_the_guided_cost(utility, games_of, dividends_of):
    problem = row_of(games_of([dividends_of(np.random.default_rng(1), 22, 60)]), utility)
    values = np.concatenate([np.random.default_rng(0).normal(scale=5, size=50), [0.0, problem.game.full]])
    assert np.array_equal(
        annealing_steps._costs(values, problem.objective.price()), problem.objective.guided(values[None])
    )


def test_without_numba_the_answer_is_the_same(games_of, dividends_of, monkeypatch):
    games = games_of([dividends_of(np.random.default_rng(3), 30, 120)])
    options = Options(node_limit=9)
    compiled = allocate_sparse(games, "inclusion_aup", "optimal", None, options)
    monkeypatch.setitem(sys.modules, "numba", None)
    plain = allocate_sparse(games, "inclusion_aup", "optimal", None, options)
    assert np.array_equal(compiled.attributions, plain.attributions)


def test_a_walk_beats_where_it_begins(games_of, dividends_of):
    problem = row_of(games_of([dividends_of(np.random.default_rng(2), 40, 200)]), "inclusion_aup")
    start = np.arange(len(problem.players))
    before = float(np.sum(problem.objective.along(start)))
    _, cost = Annealing(problem.objective, None, np.random.default_rng(0)).cooled(start, 20_000, lambda _: True)
    assert cost < 0.7 * before
    _, unmoved = Annealing(problem.objective, None, np.random.default_rng(0)).cooled(start, 20_000, lambda _: False)
    assert unmoved == before


@pytest.mark.parametrize("utility", ["inclusion_aup", "exclusion_aup"])
def test_a_descent_from_the_answer_finds_next_to_nothing(utility, games_of, dividends_of):
    """The walk ends warm: without settling after it, a descent from its end finds more."""
    objective = row_of(games_of([dividends_of(np.random.default_rng(4), 150, 900)]), utility).objective
    start = np.arange(objective.games[0].n_players)
    searched = Descent(objective, None, Budget(40, None))
    best = searched.run(start)[0]
    gained = abs(searched.priced(start).cost - best.cost)
    further = Descent(objective, None, Budget(None, None)).improved(best.players)
    assert best.cost - 1e-6 * gained <= further.cost <= best.cost


def test_heat_follows_the_unrest_around_a_place(games_of, dividends_of):
    """A place is as warm as the changes of cost near it are large, by hand, and never quite cold."""
    objective = row_of(games_of([dividends_of(np.random.default_rng(6), 150, 700)]), "inclusion_aup").objective
    order = np.random.default_rng(0).permutation(objective.games[0].n_players)
    count, cost = len(order), objective.along(order)
    found = Annealing(objective, None, np.random.default_rng(0)).unrest(cost)
    for place in (0, 1, 40, count // 2, count - 2, count - 1):
        change = abs(np.diff(cost))
        near = [change[k] for k in range(count - 2) if place - 51 <= k < place + 50]
        assert abs(found[place] - np.mean(near)) <= 1e-12 * np.max(change)
    assert np.min(found) > 0


def test_seconds_begin_with_the_walk_of_the_usual_search(games_of, dividends_of, monkeypatch):
    """A search limited in seconds used to begin with a walk of another length, and could end above the usual one."""
    objective = row_of(games_of([dividends_of(np.random.default_rng(7), 60, 300)]), "inclusion_aup").objective
    start = np.arange(objective.games[0].n_players)
    walks = []
    cooled = Annealing.cooled

    def noted(self, order, steps, more):
        walks.append((order.tolist(), steps))
        return cooled(self, order, steps, more)

    monkeypatch.setattr(Annealing, "cooled", noted)
    usual = Descent(objective, None, Budget(20, None)).run(start)[0]
    ticks = itertools.count()
    monkeypatch.setattr(descent, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    longer = Descent(objective, None, Budget(None, 200), 20).run(start)[0]
    assert len(walks) > 2
    assert walks[0] == walks[1]
    assert walks[2][1] == 2 * walks[1][1]
    assert longer.cost <= usual.cost + 1e-12 * abs(usual.cost)
