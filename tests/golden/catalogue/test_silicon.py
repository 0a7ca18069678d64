"""Every row that others recorded on NVIDIA's GPUs, every bit, NaN included: 42 recordings of seven devices by
MATLAB-tensor-core, whose rows are benign, and five by Tensorscope with special operands. 0 differences."""

from dataclasses import replace

import pytest

from tests.data.load import MATLAB, TENSORSCOPE, Case, cases
from tests.golden.differences import differing_rows, first_difference

BENIGN = cases(MATLAB)
SPECIAL = cases(TENSORSCOPE)


@pytest.mark.slow
def test_recordings_are_42_of_seven_devices_and_five_of_three_generations() -> None:
    assert (len(BENIGN), len({case.device for case in BENIGN})) == (42, 7)
    assert {case.rows for case in BENIGN} == {2000}
    assert all(case.recording.header.licence == "BSD-2-Clause" for case in BENIGN)
    assert [(case.arch, case.rows) for case in SPECIAL] == [
        ("sm_70", 89),
        ("sm_80", 89),
        ("sm_80", 89),
        ("sm_90", 89),
        ("sm_90", 89),
    ]


def check(case: Case, engine: str | None, every: int) -> None:
    """The model's d of every so manyth row, computed by an engine, against the recorded one."""
    recording = replace(case.recording, operands=case.operands().rows(slice(None, None, every)))
    got, expected = recording.dot(engine=engine), case.expected()[::every]
    rows = differing_rows(got, expected, any_nan=False)
    assert len(got) == len(expected) == len(range(0, case.rows, every))
    assert rows.size == 0, first_difference(rows, got, expected, case.instruction.d.describe)


@pytest.mark.slow
@pytest.mark.parametrize("case", BENIGN, ids=str)
def test_model_equals_benign_recording(case: Case) -> None:
    check(case, None, 1)
    check(case, "reference", 4)


@pytest.mark.long
@pytest.mark.parametrize("case", BENIGN, ids=str)
def test_reference_equals_benign_recording(case: Case) -> None:
    check(case, "reference", 1)


@pytest.mark.parametrize("case", SPECIAL, ids=str)
def test_model_equals_recording_of_special_operands(case: Case) -> None:
    check(case, None, 1)
    check(case, "reference", 1)
