"""The bottom room: what came, what is allowed, and nothing global touched."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taylorpoda._support.choices import Registry, check_choice
from taylorpoda._support.integers import whole_number
from taylorpoda._support.memory import free_memory, human_bytes, parse_memory
from taylorpoda._support.optional import require
from taylorpoda._support.progress import ProgressBar
from taylorpoda._support.seeds import resolve_seed, stream


@given(st.integers(1, 2**50))
def test_bytes_are_read_back(size):
    assert parse_memory(size) == size
    assert parse_memory(f"{size}B") == size


@pytest.mark.parametrize(
    ("text", "size"), [("2GiB", 2**31), ("1.5 kb", 1500), (" 3 MiB ", 3 * 2**20), ("7", 7), ("1gb", 10**9)]
)
def test_memory_with_units(text, size):
    assert parse_memory(text) == size


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ("two", ValueError),
        ("2 apples", ValueError),
        (0, ValueError),
        (-5, ValueError),
        (1.5, TypeError),
        ([], TypeError),
    ],
)
def test_bad_memory_says_what_is_allowed(bad, error):
    with pytest.raises(error, match="max_memory="):
        parse_memory(bad)


def test_the_default_is_a_quarter_of_what_is_free():
    assert abs(parse_memory(None) / (free_memory() / 4) - 1) < 0.2


def test_sizes_a_person_reads():
    assert [human_bytes(size) for size in (12, 1536, 2**31, 2**60)] == ["12 B", "1.5 KiB", "2.0 GiB", "1024.0 PiB"]


@given(st.integers(0, 2**62), st.integers(0, 5))
def test_a_stream_depends_on_its_key_alone(seed, key):
    first = stream(seed, key).normal(size=3)
    stream(seed, key + 1).normal(size=9)
    assert np.array_equal(first, stream(seed, key).normal(size=3))
    assert not np.array_equal(first, stream(seed, key + 1).normal(size=3))


def test_seeds_from_every_source():
    assert resolve_seed(7) == 7
    assert resolve_seed(np.int64(7)) == 7
    assert resolve_seed(None) != resolve_seed(None)
    assert resolve_seed(np.random.default_rng(0)) == resolve_seed(np.random.default_rng(0))
    assert resolve_seed(np.random.RandomState(0)) == resolve_seed(np.random.RandomState(0))


@pytest.mark.parametrize("bad", [True, 1.5, "1", object()])
def test_other_seeds_are_refused(bad):
    with pytest.raises(TypeError, match="random_state="):
        resolve_seed(bad)


def test_choices_suggest_the_nearest():
    with pytest.raises(
        ValueError, match=r"color='gren' is not known. Did you mean 'green'\? Allowed: 'blue', 'green'."
    ):
        check_choice("color", "gren", ("green", "blue"))
    registry = Registry("color", {"green": 1})
    registry.register("blue", 2)
    assert registry["blue"] == 2
    assert "red" not in registry
    with pytest.raises(ValueError, match="color=3 is not known"):
        registry[3]  # type: ignore[index]


def test_a_missing_dependency_names_the_line_that_installs_it():
    with pytest.raises(ImportError, match=r"drawing needs no_such_package: pip install 'taylorpoda\[plots\]'"):
        require("no_such_package.part", "plots", "drawing")


def test_a_progress_bar_is_silent_when_nobody_watches(capsys):
    with ProgressBar("working", 3) as bar:
        bar.advance(3)
    assert capsys.readouterr() == ("", "")


def test_a_progress_bar_opens_after_a_second_on_a_terminal(monkeypatch):
    import io
    import sys
    import time

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    clock = iter([0.0, 0.5, 2.0, 3.0])
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock, 9.0))
    with ProgressBar("working", 3) as bar:
        bar.advance()
        assert screen.getvalue() == ""
        bar.advance()
        bar.advance()
    assert "working" in screen.getvalue()


@pytest.mark.parametrize("value", [1.0, "3", None, True, np.float64(2), [1]])
def test_what_is_no_whole_number_is_refused_with_its_type(value):
    with pytest.raises(TypeError, match=rf"steps=.* has type {type(value).__name__}; allowed: an integer >= 1\."):
        whole_number("steps", value, least=1)


@given(st.integers(-5, 5), st.integers(-5, 5))
def test_whole_numbers_are_those_of_at_least_the_least(value, least):
    if value >= least:
        assert whole_number("steps", np.int32(value), least=least) == value
    else:
        with pytest.raises(ValueError, match=f"steps={value} is not allowed; allowed: that many"):
            whole_number("steps", value, least=least, allowed="that many")
