"""Every bad input of the tables beside this file, each with the error it gets: its type and what it says."""

from __future__ import annotations

import re
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest

ROOMS = sorted(Path(__file__).parent.glob("bad_*.py"))
CASES = {
    f"{room.stem.removeprefix('bad_')}: {name}": case
    for room in ROOMS
    for name, case in runpy.run_path(str(room))["CASES"].items()
}
LONGEST = 1_600


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_in_words(name, world):
    """The type of error, the words, one line, no warning of numpy's on the way, no random number drawn."""
    call, error, words = CASES[name]
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002 - the global state is what must not change
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(error, match=re.escape(words).replace(r"\.\.\.", ".*")) as raised:
            call(world)
    said = str(raised.value)
    assert "\n" not in (said.rpartition("\n")[2] if error is SystemExit else said)
    assert len(said) < LONGEST
    assert "Traceback" not in said
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002 - as above


def test_they_are_many_and_all_different():
    assert len(CASES) >= 500
    assert all(len(words) > 8 for _, _, words in CASES.values())


def test_a_good_input_is_accepted(world):
    """The model, the table and the command line that all cases start from are fine."""
    assert world.explanation().values.shape == (2, 3)
    with pytest.raises(AssertionError, match="prints no result"):
        world.bad_explain("--rows", "0")
