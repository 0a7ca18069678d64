"""Every recorded row of x86 processors, by the twin of numerics.md, section 11: 0 differences, NaN payloads included."""

import numpy as np
import pytest

import golden
from tests.data.load import X86, Case, cases
from tests.golden.differences import differing_rows, first_difference
from tests.twin import x86_twin

RECORDINGS = cases(*X86)


@pytest.mark.slow
@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])
def test_twin_gives_the_recorded_rows(recording: Case, every: int) -> None:
    rule = x86_twin.RULES[recording.instruction_name.partition(".")[0].upper()]
    a, b, c, _, _ = recording.operands().rows(slice(None, None, every))
    d = recording.expected()[::every]
    got = np.array([rule(*row) for row in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)], d.dtype)
    found = differing_rows(got, d, any_nan=False)
    assert len(d) > 0
    assert found.size == 0, first_difference(found, got, d, hex)


def test_every_entry_that_says_recorded_has_rows() -> None:
    entries = [*golden.instructions("x86-amx"), *golden.instructions("x86-avx512")]
    recorded = {i.name for i in entries if i.evidence == "recorded"}
    assert recorded == {recording.instruction.name for recording in RECORDINGS}
