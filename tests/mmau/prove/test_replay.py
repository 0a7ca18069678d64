"""A vector replayed in a simulation: its result and its explanation."""

import pytest

from mmau.prove.replay import replayed
from tests.mmau.prove.datapath.test_unit_questions import FAULTS, faulty
from tests.mmau.prove.provable_units import SMALL, unit_of, verilog_of

INPUTS = {"a": 0x777, "b": 0x3CF3CF & (1 << 3 * SMALL.b.width) - 1, "c": 0x3C00}


@pytest.mark.simulator
@pytest.mark.parametrize("is_faulty", [pytest.param(False, marks=pytest.mark.long), True])
def test_a_vector_is_compared_with_golden(is_faulty: bool) -> None:
    verilog = verilog_of(SMALL)
    report = replayed(
        unit_of(SMALL), INPUTS, faulty(verilog, *FAULTS["a product of significands"]) if is_faulty else verilog
    )
    assert report.received == 1
    assert bool(report.differing) == is_faulty == (report.explanation is not None)
