"""The dense room: the transform against plain numpy passes at n = 20, and the "dirichlet" policy row by row.

Run: python benchmarks/dense.py
"""

from __future__ import annotations

import time

import numpy as np

import taylorpoda as tp

N, REPEATS = 20, 9
CANDIDATES, ROWS = 16, 100


def assigned(table):
    """A new array for every player, both halves written into it."""
    for player in range(N):
        halves = table.reshape(*table.shape[:-1], -1, 2, 1 << player)
        out = np.empty_like(halves)
        out[..., 0, :] = halves[..., 0, :]
        np.subtract(halves[..., 1, :], halves[..., 0, :], out=out[..., 1, :])
        table = out.reshape(table.shape)
    return table


def copied(table):
    """A copy for every player, one half changed."""
    for player in range(N):
        halves = table.reshape(*table.shape[:-1], -1, 2, 1 << player).copy()
        halves[..., 1, :] -= halves[..., 0, :]
        table = halves.reshape(table.shape)
    return table


def stacked(table):
    """The shortest to write."""
    for player in range(N):
        halves = table.reshape(*table.shape[:-1], -1, 2, 1 << player)
        table = np.stack([halves[..., 0, :], halves[..., 1, :] - halves[..., 0, :]], axis=-2).reshape(table.shape)
    return table


def fastest(call, repeats=REPEATS):
    """Seconds of processor time of the fastest call, and what it gave."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return best, result


def transform():
    print(f"harsanyi at n = {N}, processor time beside {N} out-of-place passes of plain numpy")
    print(f"{'table':24s}{'ours ms':>9s}{'plain ms':>10s}{'ratio':>7s}  fastest plain passes")
    rng = np.random.default_rng(0)
    for shape in ((1 << N,), (4, 1 << N)):
        for dtype in (np.float64, np.float32):
            values = rng.normal(size=shape).astype(dtype)
            ours, dividends = fastest(lambda values=values: tp.harsanyi(values))
            peers = {
                peer: fastest(lambda peer=peer, values=values: peer(values)) for peer in (assigned, copied, stacked)
            }
            assert all(np.array_equal(theirs, dividends) for _, theirs in peers.values())
            peer = min(peers, key=lambda one: peers[one][0])
            plain = peers[peer][0]
            name = f"{shape} {np.dtype(dtype).name}"
            print(f"{name:24s}{1e3 * ours:9.1f}{1e3 * plain:10.1f}{ours / plain:7.2f}  {peer.__name__}")
    values = rng.normal(size=1 << N)
    error = np.abs(tp.values_from(tp.harsanyi(values)) - values).max() / np.abs(values).max()
    print(f"values_from(harsanyi(v)) - v: {error:.1e} of the largest value")


def dirichlet():
    print(f"\npolicy='dirichlet', {CANDIDATES} candidates, {ROWS} rows from their tables, milliseconds a row")
    print(f"{'n':>3s}{'shared, first call':>20s}{'shared':>9s}{'independent':>13s}")
    rng = np.random.default_rng(0)
    for n in (6, 8, 10, 12):
        values = rng.normal(size=(ROWS, 1 << n))
        seeds = iter(range(10**6))

        def allocate(seed, draws, values=values):
            return tp.allocate(values, policy="dirichlet", candidates=CANDIDATES, draws=draws, random_state=seed).score

        first, _ = fastest(lambda seeds=seeds, allocate=allocate: allocate(next(seeds), "shared"))
        again, _ = fastest(lambda allocate=allocate: allocate(0, "shared"))
        independent, _ = fastest(lambda allocate=allocate: allocate(0, "independent"), repeats=3)
        print(f"{n:3d}" + "".join(f"{1e3 * t / ROWS:{w}.3f}" for t, w in ((first, 20), (again, 9), (independent, 13))))


if __name__ == "__main__":
    transform()
    dirichlet()
