"""Recordings of real parts, read as if nobody knew what made them."""

import pytest

from golden.stimulus import Operands
from probe.box import box_of_instruction
from probe.recorded import Reading, read_rows
from tests.data.load import X86Recording, x86_recordings
from tests.golden.test_x86 import instruction_of

pytestmark = pytest.mark.long

XEON = {f"{recording.instruction} K={recording.K}": recording for recording in reversed(x86_recordings()[:11])}
FOUND = {
    "TDPBF16PS K=4": "FTZ-EO-FMA L=4",
    "VDPBF16PS K=2": "FTZ-FMA L=2",
    "VFMADDPH K=1": "FMA rho=RNE-FP16 nan=first",
    "VPDPBUSD K=4": "IDPA overflow=wrap",
    "VPDPBUSDS K=4": "IDPA overflow=saturate",
}


def read(recording: X86Recording) -> Reading:
    a, b, c, d = (recording.array(key) for key in "abcd")
    return read_rows(box_of_instruction(instruction_of(recording)).shape, Operands(a, b, c, None, None), d)


@pytest.mark.parametrize("name", FOUND)
def test_a_processors_rows_are_one_operations_alone(name: str) -> None:
    reading = read(XEON[name])
    assert reading.rows == XEON[name].rows
    family, *keys = FOUND[name].split()
    assert [found.model.family for found in reading.consistent] == [family]
    model = reading.consistent[0].model
    assert {f"{key}={value}" for key, value in model.items} >= set(keys)
