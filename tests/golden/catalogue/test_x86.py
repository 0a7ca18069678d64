"""Every recorded row of x86 processors, by the twin of numerics.md, section 11: 0 differences, NaN payloads included."""

from collections.abc import Callable

import numpy as np
import pytest

import golden
from tests.data.load import X86, Bits, Case, cases
from tests.golden.differences import differing_rows, first_difference
from tests.twin import x86_twin

RECORDINGS = cases(*X86)


def columns(recording: Case, rows: slice) -> tuple[Bits, Bits, Bits, Bits]:
    """a, b, c and d of some rows."""
    a, b, c, _, _ = recording.operands().rows(rows)
    return a, b, c, recording.expected()[rows]


Rule = Callable[[list[int], list[int], int], int]


def check(recording: Case, rows: slice) -> None:
    """The twin's d of some rows against the recorded one."""
    a, b, c, d = columns(recording, rows)
    rule: Rule = x86_twin.RULES[recording.instruction_name.partition(".")[0].upper()]
    got = np.array([rule(*row) for row in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)], d.dtype)
    found = differing_rows(got, d, any_nan=False)
    assert len(d) > 0
    assert found.size == 0, first_difference(found, got, d, hex)


@pytest.mark.slow
@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_every_fourth_row(recording: Case) -> None:
    check(recording, slice(None, None, 4))


@pytest.mark.long
@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_every_row(recording: Case) -> None:
    check(recording, slice(None))


def replayed(recording: Case, engine: str, rows: slice) -> np.ndarray:
    """Which of the rows an engine gets wrong, NaN payloads counted."""
    a, b, c, d = columns(recording, rows)
    got = recording.instruction.dot(a, b, c, engine=engine)
    assert len(got) == len(d) > 0
    return differing_rows(got, d, any_nan=False)


@pytest.mark.slow
@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_catalogue_gives_every_row(recording: Case) -> None:
    assert replayed(recording, "native", slice(None)).size == 0
    assert replayed(recording, "reference", slice(None, None, 32)).size == 0
    assert recording.instruction.evidence == "recorded"


@pytest.mark.long
@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_reference_gives_every_row(recording: Case) -> None:
    assert replayed(recording, "reference", slice(None)).size == 0


def test_every_entry_that_says_recorded_has_rows() -> None:
    entries = [*golden.instructions("x86-amx"), *golden.instructions("x86-avx512")]
    recorded = {i.name for i in entries if i.evidence == "recorded"}
    assert recorded == {recording.instruction.name for recording in RECORDINGS}
