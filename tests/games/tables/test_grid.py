"""Hybrid rows in all combinations, against one cell at a time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taylorpoda.games.tables.grid import HybridGrid
from taylorpoda.games.tables.numpy_table import NumpyTable
from taylorpoda.games.tables.pandas_table import PandasTable

DTYPES = ("f8", "f4", "i8", "i1", "?", "U3", "S5", "M8[s]", "c16", "O", "f2", ">f8")


def cell_by_cell(own, donors, present):
    return [
        [row[j] if known[j] else donor[j] for j in range(donors.shape[1])]
        for row in own
        for known in present
        for donor in donors
    ]


def cells(rng, shape, dtype):
    if dtype == "f8":  # bits that only an exact copy keeps: NaN with a payload, -0.0, subnormal numbers
        return rng.integers(0, 2**63, size=shape, dtype=np.uint64).view("f8")
    return rng.integers(0, 100, size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=12)
@given(
    n=st.integers(1, 13),
    rows=st.integers(1, 2),
    donors=st.integers(1, 4),
    calls=st.lists(st.integers(0, 300), min_size=1, max_size=3),
    seed=st.integers(0, 2**16),
)
def test_every_cell_is_copied_bit_for_bit_however_many_coalitions_come_at_once(dtype, n, rows, donors, calls, seed):
    rng = np.random.default_rng(seed)
    own, others = cells(rng, (rows, n), dtype), cells(rng, (donors, n), dtype)
    grid = HybridGrid(own, others)
    for count in calls:
        present = rng.random((count, n)) < 0.5
        expected = np.array(cell_by_cell(own, others, present), dtype=own.dtype).reshape(-1, n)
        got = grid(present)
        assert got.dtype == own.dtype
        assert got.shape == expected.shape
        assert got.tolist() == expected.tolist() if dtype == "O" else got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("shape", [(1, 300), (3, 20_000), (600, 9)])
def test_wide_and_long_tables_are_cut_into_pieces_that_fit(shape):
    """Where the donors alone fill the cache a piece has one column, and is not worth making."""
    rng = np.random.default_rng(0)
    donors, own = rng.normal(size=shape), rng.normal(size=(1, shape[1]))
    present = rng.random((260, shape[1])) < 0.5
    if donors.nbytes * len(present) > 2**27:
        present = present[:5]
    assert np.array_equal(
        HybridGrid(own, donors)(present), np.where(present[:, None], own, donors).reshape(-1, shape[1])
    )


@pytest.mark.parametrize("order", ["C", "F"])
def test_what_a_model_receives_is_its_own_to_write_on(order):
    """The mixtures of a piece are used again for the next coalitions."""
    array = np.asarray(np.random.default_rng(1).normal(size=(5, 8)), order=order)
    present = np.random.default_rng(2).random((300, 8)) < 0.5
    for table in (NumpyTable(array), PandasTable(pd.DataFrame(array))):
        grid = table.grid(np.array([0, 4]), np.array([3, 1, 2]))
        first = np.array(grid(present))
        received = grid(present)
        received[:] = -1.0
        assert np.array_equal(grid(present), first)
        assert first.tolist() == cell_by_cell(array[[0, 4]], array[[3, 1, 2]], present)


@pytest.mark.parametrize("dtype", [">f8", ">i4", "<f4"])
@pytest.mark.parametrize("coalitions", [3, 300])
def test_a_byte_order_reaches_the_model_as_it_is(dtype, coalitions):
    """`np.where` turned big-endian cells into native ones, so hybrid rows had another dtype than the explained rows."""
    array = np.random.default_rng(3).integers(0, 100, size=(5, 8)).astype(dtype)
    present = np.random.default_rng(4).random((coalitions, 8)) < 0.5
    rows, donors = np.zeros(coalitions, dtype=np.intp), np.full(coalitions, 2)
    for table in (NumpyTable(array), PandasTable(pd.DataFrame(array))):
        for mixed in (table.mix(rows, present, donors), table.grid(rows[:1], donors[:1])(present)):
            dtypes = {mixed.dtype} if isinstance(mixed, np.ndarray) else set(mixed.dtypes)
            assert dtypes == {array.dtype}
            assert np.asarray(mixed).tolist() == np.where(present, array[0], array[2]).tolist()
