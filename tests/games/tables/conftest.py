"""One mixed table in four containers, and functions that compute the same from each."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

N = 26


@pytest.fixture(scope="session")
def mixed():
    """{library: table} with integers, floats with NaN, text, booleans, times, categories and nullable integers."""
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    counts = [None if k % 5 == 0 else k % 3 for k in range(N)]
    cells = {
        "i": rng.integers(0, 5, N),
        "f": np.where(rng.random(N) < 0.2, np.nan, rng.normal(size=N)),
        "s": rng.choice(list("abc"), N),
        "b": rng.random(N) < 0.5,
        "d": pd.date_range("2020", periods=N, freq="h").to_numpy(),
        "c": rng.choice(["u", "v"], N),
    }
    pandas = pd.DataFrame(cells).assign(n=pd.array(counts, dtype="Int64")).astype({"c": "category"})
    polars = pl.DataFrame({name: column.tolist() if name in "sc" else column for name, column in cells.items()})
    polars = polars.with_columns(pl.col("c").cast(pl.Enum(["u", "v"])), pl.Series("n", counts, dtype=pl.Int64))
    arrow = pa.table(
        {
            "i": cells["i"],
            "f": cells["f"],
            "s": pa.array(cells["s"].tolist()),
            "b": cells["b"],
            "d": pa.array(cells["d"]),
            "c": pa.array(cells["c"].tolist()).dictionary_encode(),
            "n": pa.array(counts, type=pa.int64()),
        }
    )
    return {"pandas": pandas, "polars": polars, "pyarrow": arrow}


def _value(i, f, s, b, d, c, n):
    hours = (d - np.datetime64("2020-01-01")) / np.timedelta64(1, "h")
    return i + np.where(np.isnan(f), -3.0, f) * (s == "a") + 2.0 * b + 0.01 * hours + (c == "u") + n * i


def _cells(rows):
    columns = []
    for name in "ifsbdcn":
        cells = rows[name].to_pylist() if hasattr(rows[name], "to_pylist") else list(rows[name])
        if name == "n":
            cells = [9 if cell is None or cell is pd.NA else cell for cell in cells]
        if name == "d":
            cells = [np.datetime64(cell.isoformat() if isinstance(cell, dt.datetime) else cell) for cell in cells]
        columns.append(np.array(cells))
    return columns


@pytest.fixture(scope="session")
def model(mixed):
    """A function of any of the containers that refuses rows whose types are not exactly those it was made for."""

    def of(library):
        table = mixed[library]

        def predict(rows):
            assert type(rows) is type(table)
            if library == "pandas":
                assert list(rows.dtypes) == list(table.dtypes)
            else:
                assert rows.schema == table.schema
            return _value(*_cells(rows))

        return predict

    return of
