"""Recordings of real parts, read as if nobody knew what made them."""

import pytest

from mmau.probe.device_under_test import dut_of
from mmau.probe.from_recording import Reading, read_rows
from tests.data.load import Case, cases

pytestmark = pytest.mark.long

XEON = {case.instruction_name: case for case in cases("xeon")}
FOUND = {
    "tdpbf16ps.m16n16k4": "FTZ-EO-FMA L=4",
    "vdpbf16ps": "FTZ-FMA L=2",
    "vfmaddph": "FMA rho=RNE-FP16 nan=first",
    "vpdpbusd": "IDPA overflow=wrap",
    "vpdpbusds": "IDPA overflow=saturate",
}


def read(case: Case) -> Reading:
    return read_rows(dut_of(case.instruction).shape, case.operands(), case.expected())


ALSO = {"tdpbf16ps.m16n16k4": ["FMA"], "vfmaddph": ["E-FDPA"]}
"""Families that have the same arithmetic too: an FMA that flushes, in a chain of the even and one of the odd products; the
exact sum of one product and c, with zeros of IEEE 754."""


@pytest.mark.parametrize("name", FOUND)
def test_a_processors_rows_are_one_operations_alone(name: str) -> None:
    reading = read(XEON[name])
    assert reading.rows == XEON[name].rows
    family, *keys = FOUND[name].split()
    found = {each.model.family: each.model for each in reading.consistent}
    assert sorted(found) == sorted([family, *ALSO.get(name, [])])
    model = found[family]
    assert {f"{key}={value}" for key, value in model.items} >= set(keys)
