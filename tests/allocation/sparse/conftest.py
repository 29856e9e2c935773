"""Random sparse games, their tables, and what rankings cost by the definition."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from taylorpoda.dividends.dense import values_from
from taylorpoda.dividends.sparse import SparseDividends

UTILITIES = ("inclusion_aup", "exclusion_aup", "inclusion_mse", "exclusion_mse", "inclusion_auc", "exclusion_auc")


@dataclass
class ListedGames:
    """Games out of a list; of rows of classes where classes compete."""

    listed: list[SparseDividends]
    threshold: float = 0.0
    classes: int = 0
    lead: tuple[int, ...] = field(init=False)
    full: Any = field(init=False)

    def __post_init__(self):
        self.lead = (len(self.listed),) if not self.classes else (len(self.listed) // self.classes, self.classes)
        self.full = np.array([game.full_value for game in self.listed]).reshape(self.lead)

    @property
    def n_players(self):
        return self.listed[0].n_players

    @property
    def base(self):
        return np.array([game.base_value for game in self.listed]).reshape(self.lead)

    @property
    def shapley(self):
        return np.array([game.shapley() for game in self.listed]).reshape(*self.lead, self.n_players)

    @property
    def competing(self):
        return self.classes > 0

    def dividends(self, row):
        return self.listed[row]

    def rivals(self, row):
        first = row // self.classes * self.classes
        return self.listed[first : first + self.classes]

    def tables(self):
        """All values, shape (..., 2**n)."""
        return np.array([values_from(game.to_dense()) for game in self.listed]).reshape(*self.lead, -1)

    def labels(self):
        """The class of every coalition, shape (rows, 2**n), or None."""
        return np.argmax(self.tables(), axis=1) if self.classes else None

    def target(self, utility):
        """A label for every row."""
        if "auc" not in utility:
            return None
        return np.arange(self.lead[0]) % max(self.classes, 2)


def random_dividends(rng, n_players, count, *, players=None, largest=5, singles=True):
    """Coalitions of up to `largest` of some players, dividends that shrink with size."""
    among = np.arange(n_players) if players is None else np.asarray(players)
    sets = [[]]
    values = [rng.normal()]
    if singles:
        sets += [[int(player)] for player in among]
        values += rng.normal(size=len(among)).tolist()
    for _ in range(count):
        size = int(rng.integers(2, min(largest, len(among)) + 1)) if len(among) > 1 else 1
        sets.append(sorted(rng.choice(among, size=size, replace=False).tolist()))
        values.append(float(rng.normal() * 1.5 / size))
    return SparseDividends.from_sets(sets, values, n_players)


@pytest.fixture(scope="session")
def games_of():
    """The class."""
    return ListedGames


@pytest.fixture(scope="session")
def dividends_of():
    """The maker of random dividends."""
    return random_dividends


@pytest.fixture(params=UTILITIES)
def utility(request):
    """Each of the paper's six."""
    return request.param


@pytest.fixture(scope="session")
def check_shares():
    """Shares are valid, and give the attributions: straight from the definition, one coalition at a time."""

    def check(dividends, view, attributions, scale):
        coalitions = dividends.coalitions
        total = dividends.singletons()
        seen = 0
        for place, number in enumerate(coalitions.numbers()):
            if coalitions.sizes[place] < 2 or dividends.values[place] == 0:
                assert number not in view
                continue
            seen += 1
            share = view[number]
            members = coalitions.members[coalitions.indptr[place] : coalitions.indptr[place + 1]]
            assert np.min(share) >= 0
            assert np.max(share) <= 1
            assert abs(np.sum(share) - 1) <= 1e-9
            assert abs(np.sum(share[members]) - 1) <= 1e-9
            total = total + share * dividends.values[place]
        assert seen == len(view)
        assert np.max(abs(total - attributions)) <= 1e-8 * scale

    return check


@pytest.fixture(scope="session")
def brute_score():
    """The utility of attributions, one coalition at a time through `value_of`."""

    def score(dividends, attributions, utility, target=None, threshold=0.0, rivals=()):
        n = len(attributions)
        order = sorted(range(n), key=lambda player: (-abs(attributions[player]), player))
        full = dividends.full_value
        total = 0.0
        for m in range(1, n + 1):
            present = np.zeros(n, dtype=bool)
            present[order[:m]] = True
            if utility.startswith("exclusion"):
                present = ~present
            if utility.endswith("auc"):
                if rivals:
                    total += float(int(np.argmax([game.value_of(present) for game in rivals])) == target)
                else:
                    total += float((dividends.value_of(present) > threshold) == (target == 1))
                continue
            away = abs(full - dividends.value_of(present))
            total += away if utility.endswith("aup") else away**2
        return total

    return score
