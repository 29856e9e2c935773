"""Kernels are compiled once: what another process needs lies beside the package, or in the user's cache folder."""

from __future__ import annotations

import subprocess
import sys

EXPLAIN = """
import numpy as np
from numba.core import event
from sklearn.tree import DecisionTreeRegressor

import taylorpoda as tp


class Compilations(event.Listener):
    count = 0

    def on_start(self, event):
        self.count += 1

    def on_end(self, event):
        pass


listener = Compilations()
event.register("numba:compile", listener)
rows = np.random.default_rng(0).normal(size=(60, 4))
model = DecisionTreeRegressor(max_depth=4).fit(rows, rows[:, 0] * rows[:, 1])
explanation = tp.Explainer(model, rows[:9], policy="shapley")(rows[:2])
explanation.values, explanation.dividends(0)
print(explanation.engine, listener.count)
"""


def test_a_second_process_compiles_nothing():
    first, second = (
        subprocess.run([sys.executable, "-c", EXPLAIN], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    )
    assert first[0] == "trees"
    assert second == ["trees", "0"]
