"""The segments of a volume run: a long one, in which a design grows old, and short ones for parallel processes."""

import pytest

from cosim.volume.segments import LONG_SEGMENT, SEGMENT, native_parts


@pytest.mark.parametrize("rows", [0, 1, SEGMENT + 1, LONG_SEGMENT, LONG_SEGMENT + 5, 5 * LONG_SEGMENT])
def test_parts_hold_every_row_once(rows: int) -> None:
    parts = native_parts(rows)
    assert [first for first, _ in parts] == [sum(count for _, count in parts[:n]) for n in range(len(parts))]
    assert sum(count for _, count in parts) == rows


def test_one_segment_is_as_long_as_the_run_or_half_of_it() -> None:
    assert native_parts(LONG_SEGMENT) == [(0, LONG_SEGMENT)]
    assert native_parts(10 * LONG_SEGMENT)[0] == (0, 5 * LONG_SEGMENT)
    assert {count for _, count in native_parts(10 * LONG_SEGMENT)[1:]} == {SEGMENT}
