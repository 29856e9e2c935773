import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from taylorpoda.report.scale import Scale

numbers = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(st.lists(numbers, min_size=1, max_size=6))
def test_every_value_lands_between_the_ends(values):
    scale = Scale.over(*values, left=100, right=500)
    assert all(100 <= scale(value) <= 500 for value in values)


@given(numbers, numbers)
def test_ticks_are_inside_in_order_and_written_apart(low, high):
    assume(abs(high - low) > 1e-6 * max(abs(low), abs(high), 1e-3))
    scale = Scale.over(low, high, left=0, right=100)
    ticks = scale.ticks()
    values = [value for value, _ in ticks]
    assert 2 <= len(ticks) <= 10
    assert values == sorted(values)
    assert all(-0.01 <= scale(value) <= 100.01 for value in values)
    assert len({written for _, written in ticks}) == len(ticks)


@pytest.mark.parametrize(
    ("low", "high", "written"),
    [(0, 1, ["0", "0.5", "1.0"]), (0, 0.15, ["0", "0.05", "0.10", "0.15"]), (0, 40000, ["0", "10,000", "20,000"])],
)
def test_ticks_are_round(low, high, written):
    shown = [text for _, text in Scale.over(low, high, left=0, right=1).ticks()]
    assert shown[: len(written)] == written
