"""What holds of every table that is read, and of the checksum of its content."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from taylorpoda.datasets.base import content_checksum
from taylorpoda.datasets.cache import fetch, store
from taylorpoda.datasets.records import DataFormatError, read_arff, read_csv

numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)
tables = hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=numbers)
words = st.text(st.characters(whitelist_categories=("Ll", "Lu", "Nd"), max_codepoint=127), min_size=1, max_size=8)


@given(tables)
@settings(max_examples=60, deadline=None)
def test_numbers_come_back_to_the_bit_from_both_kinds_of_file(table):
    names = [f"column {k}" for k in range(table.shape[1])]
    stream = io.StringIO()
    csv.writer(stream).writerows([names, *(map(repr, row) for row in table.tolist())])
    arff = "@relation any\n" + "".join(f"@attribute '{name}' REAL\n" for name in names) + "@data\n"
    arff += "".join(",".join(map(repr, row)) + "\n" for row in table.tolist())
    for records in (read_csv(stream.getvalue().encode()), read_arff(arff.encode())):
        for k, name in enumerate(names):
            assert records.numbers(name).tobytes() == table[:, k].copy().tobytes()


@given(st.lists(words, min_size=1, max_size=6), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_codes_are_the_meanings_and_unknown_names_are_refused(cells, unknown):
    meaning = {word: number for number, word in enumerate(dict.fromkeys(cells))}
    records = read_csv("\n".join(["kind", *cells]).encode())
    assert records.codes(meaning, "kind").tolist() == [meaning[cell] for cell in cells]
    dropped = cells[unknown % len(cells)]
    less = {word: number for word, number in meaning.items() if word != dropped}
    with pytest.raises(DataFormatError, match="known"):
        records.codes(less, "kind")


@given(tables, st.data())
@settings(max_examples=60, deadline=None)
def test_the_checksum_tells_nine_digits_shape_and_order(table, data):
    target = np.arange(len(table))
    known = content_checksum(table, target)
    rounded = np.array([float(f"{cell:.12g}") for cell in table.ravel()]).reshape(table.shape)
    assert len(known) == 64
    assert content_checksum(table.copy(order="F"), target.astype(np.int32)) == known
    flat = [f"{cell + 0.0:.9g}" for cell in table.ravel()]
    if [f"{cell + 0.0:.9g}" for cell in rounded.ravel()] == flat:
        assert content_checksum(rounded, target) == known
    row, column = (data.draw(st.integers(0, size - 1)) for size in table.shape)
    changed = table.copy()
    changed[row, column] = 1.0 if changed[row, column] != 1.0 else 2.0
    assert content_checksum(changed, target) != known
    assert content_checksum(table, target + 1) != known
    assert content_checksum(table.reshape(-1, 1), target) != known or table.shape[1] == 1


@given(tables)
@settings(max_examples=20, deadline=None)
def test_what_is_cached_comes_back_to_the_bit(tmp_path_factory, table):
    directory = tmp_path_factory.mktemp("cache")
    store(directory, "any", table, np.arange(len(table)), "https://example.org/any.csv")
    found = fetch(directory, "any")
    assert found is not None
    assert found.X.tobytes() == table.tobytes()
    assert found.X.shape == table.shape
    assert found.source == "https://example.org/any.csv"
