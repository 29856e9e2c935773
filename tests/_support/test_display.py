import datetime as dt
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taylorpoda._support.display import NumberFormat, cell, one_line, percent


@given(st.text(), st.integers(3, 60))
def test_one_line_is_bounded_printable_and_fits_a_utf8_file(text, limit):
    shown = one_line(text, limit)
    assert 0 < len(shown) <= max(limit, len("(empty)"))
    assert "\n" not in shown
    assert "\x00" not in shown
    shown.encode("utf-8")


def test_one_line_keeps_both_ends_of_long_names():
    long = "a" * 100 + "the end"
    assert one_line(long).startswith("aaa")
    assert one_line(long).endswith("the end")
    assert len(one_line(long)) == 40


def test_names_cannot_reverse_the_text_around_them():
    assert one_line("safe\u202eevil") == "safeevil"


def test_lone_surrogates_become_question_marks():
    assert one_line("a\ud800b") == "a?b"


class NAType:
    """A stand-in for pandas.NA, told by its type's name."""


@pytest.mark.parametrize("gap", [None, float("nan"), np.float32("nan"), np.datetime64("NaT"), NAType()])
def test_gaps_are_named(gap):
    assert cell(gap) == "missing"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (True, "True"),
        (np.bool_(False), "False"),
        (np.int64(-7), "\N{MINUS SIGN}7"),
        (2015, "2015"),
        (10**20, "1e20"),
        (12.0, "12"),
        (1 / 3, "0.3333"),
        (-1.5e-7, "\N{MINUS SIGN}1.5e\N{MINUS SIGN}7"),
        (np.float32(0.1), "0.1"),
        (float("inf"), "inf"),
        ("  two\nlines ", "two lines"),
        (b"bytes", "bytes"),
        (np.datetime64("2024-01-03T04:00:00"), "2024-01-03 04:00"),
        (dt.datetime(2024, 1, 3), "2024-01-03"),  # noqa: DTZ001 - a table's cell has no zone
        (dt.date(2024, 1, 3), "2024-01-03"),
        (dt.datetime(2024, 1, 3, 4, 5, 6, tzinfo=dt.UTC), "2024-01-03 04:05:06+00:00"),
        (np.timedelta64(3, "h"), "3:00:00"),
        ("x" * 50, "x" * 14 + "…" + "x" * 9),
        ("", "(empty)"),
    ],
)
def test_cells_read_as_their_owner_wrote_them(value, shown):
    assert cell(value) == shown


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=8))
def test_printed_numbers_are_right_to_half_a_digit_of_the_largest(values):
    number = NumberFormat.of(values)
    largest = max(map(abs, values))
    for value in values:
        back = float(number(value).replace("\N{MINUS SIGN}", "-").replace(",", ""))
        assert abs(back - value) <= 0.00501 * largest + 1e-300
        noise = abs(value) <= 1.01e-13 * largest
        assert noise or (back > 0) == (value > 0)
        assert noise or number(value, signed=True).startswith("+") == (value > 0)


def test_a_small_number_beside_a_large_one_is_not_printed_as_zero():
    number = NumberFormat.of([1000.0, 0.01])
    assert number(0.01) == "0.01"
    assert number(1000.0) == "1,000"


def test_rounding_noise_is_printed_as_zero():
    number = NumberFormat.of([63.2, 2e-15])
    assert number(2e-15, signed=True) == "0"
    assert number(2e-9, signed=True) == "+2e\N{MINUS SIGN}9"


def test_what_is_no_number_is_said():
    number = NumberFormat.of([math.nan, 1.0])
    assert number(math.nan) == "n/a"
    assert number(-math.inf) == "\N{MINUS SIGN}inf"
    assert NumberFormat.of([])(0.0) == "0"


def test_a_rounded_zero_share_has_no_sign():
    assert percent(-0.001) == "0%"
    assert percent(-0.5) == "\N{MINUS SIGN}50%"


def test_nearly_all_is_not_all():
    assert percent(0.9999999) == "99.9%"
    assert percent(1 - 1e-12) == "100%"
    assert percent(1.2) == "120%"
