"""One row of docs/results.md that stays below the ceiling, and the linear programs that prove it must."""  # noqa: INP001

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linprog

import taylorpoda as tp
from taylorpoda.datasets import load
from taylorpoda.paper.sample import sample
from taylorpoda.paper.task_models import restore, train
from taylorpoda.paper.value_tables import value_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.paper import Settings

DATA, MODEL, UTILITY = "titanic", "mlp_tanh", "inclusion_auc"


def lead_over(table: NDArray[np.float64], player: int, rival: int) -> float:
    """The most by which |a_player| can exceed a_rival > 0: two linear programs over the shares themselves.

    Args:
        table: Values of all coalitions, shape (2**n,).
        player: Whom to put in front.
        rival: Of whom; its admissible interval is positive.
    """
    n = len(table).bit_length() - 1
    dividends = tp.harsanyi(table)
    sets = [s for s in range(1, 1 << n) if s.bit_count() > 1]
    shares = [(place, s, i) for place, s in enumerate(sets) for i in range(n) if s >> i & 1]
    sums = np.zeros((len(sets), len(shares)))
    gained = np.zeros((n, len(shares)))
    for column, (place, s, i) in enumerate(shares):
        sums[place, column], gained[i, column] = 1.0, dividends[s]
    alone = dividends[1 << np.arange(n)]
    leads = []
    for sign in (1, -1):
        solved = linprog(gained[rival] - sign * gained[player], A_eq=sums, b_eq=np.ones(len(sets)), bounds=(0, 1))
        leads.append(sign * alone[player] - alone[rival] - solved.fun)
    return float(max(leads))


def worked_example(settings: Settings) -> tuple[list[list[str]], dict[str, str]]:
    """The row that stays farthest below the ceiling of those one feature holds back: lines of a table, and numbers."""
    dataset = load(DATA)
    made = sample(dataset, rows=settings.rows, seed=settings.explaining_seed)
    network = settings.network(DATA, MODEL)
    model = restore(
        network, train(network, dataset.task, made["train"], made["train_y"], seed=settings.seed), dataset.task
    )
    tables = value_table(model, made["train"], made["rows"], surrogate="paper", task=dataset.task, seed=settings.seed)
    labels = made["y"].astype(np.int64)
    optimal = tp.allocate(tables, UTILITY, "optimal", labels)
    for row in np.argsort(np.asarray(optimal.score) - np.asarray(optimal.ceiling), kind="stable").tolist():
        told = _proof(dataset.names, tables[row], int(labels[row]), optimal, row)
        if told is not None:
            return told
    msg = f"no row of {DATA} is proved by the argument that docs/results.md.in makes."
    raise RuntimeError(msg)


def _proof(
    names: Any, table: NDArray[np.float64], label: int, optimal: Any, row: int
) -> tuple[list[list[str]], dict[str, str]] | None:
    """The argument of docs/results.md.in, or None where it does not hold or leaves a better ranking open."""
    n = len(names)
    rival = int(np.argmax(table[1 << np.arange(n)]))
    if (
        optimal.lower[row, rival] <= 0
        or label != 0
        or any((table > 0.5)[s] == label for s in range(1 << n) if s >> rival & 1)
    ):
        return None
    leads = {player: lead_over(table, player, rival) for player in range(n) if player != rival}
    orders = np.array(list(permutations(range(n))))
    place = orders.argsort(axis=1)
    open_ones = np.all([place[:, j] > place[:, rival] for j, lead in leads.items() if lead < 0], axis=0)
    scores = ((table[np.cumsum(1 << orders, axis=1)] > 0.5) == label).sum(axis=1)
    lines = [
        [
            f"`{name}`",
            f"{table[1 << j]:.2f}",
            f"{optimal.lower[row, j]:+.3f} to {optimal.upper[row, j]:+.3f}",
            "" if j == rival else f"{leads[j]:+.3f}",
        ]
        for j, name in enumerate(names)
    ]
    best = int(scores[open_ones].max())
    if best != int(optimal.score[row]):
        return None
    first = [name for j, name in enumerate(names) if j != rival and leads[j] >= 0]
    return lines, {
        "example_row": str(row),
        "example_prediction": f"{table[-1]:.2f}",
        "example_rival": str(names[rival]),
        "example_alone": f"{table[1 << rival]:.2f}",
        "example_score": str(best),
        "example_ceiling": str(int(optimal.ceiling[row])),
        "example_shapley": str(int(optimal.shapley_score[row])),
        "example_n": str(n),
        "example_shares": str(n * 2 ** (n - 1) - n),
        "example_first": " and ".join(f"`{name}`" for name in first),
        "example_orders": f"{len(orders):,}",
        "example_open": f"{int(open_ones.sum()):,}",
    }
