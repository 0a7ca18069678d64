"""A counter-example of a pipeline in Verilator."""

import pytest

from mmau.prove.pipeline.pipeline_replay import broken
from mmau.prove.pipeline.questions import handshake_trace
from tests.mmau.prove.pipeline.designs import (
    PIPELINE_FAULTS,
    TILE_FAULTS,
    faulty,
    piped,
    small_tile,
    verilog_of,
    waiting_for_the_consumer,
)


@pytest.mark.simulator
@pytest.mark.long
def test_a_fault_is_seen_that_rests_on_the_state_at_first() -> None:
    verilog = faulty(verilog_of(piped(3)), *PIPELINE_FAULTS["a stage without a reset"])
    found = broken(piped(3), verilog, handshake_trace(piped(3), verilog, 10))
    assert found is not None
    lines = found.lines()
    assert lines[0] == "cycle 0: rst"
    assert lines[-1] == f"cycle {len(found.given) - 1}: {found.fault}"
    assert len(lines) < 12


@pytest.mark.simulator
@pytest.mark.long
def test_values_that_are_mixed_up_are_seen_without_a_trace() -> None:
    verilog = faulty(verilog_of(small_tile()), *TILE_FAULTS["results in another order"])
    assert handshake_trace(small_tile(), verilog, 10) is None
    found = broken(small_tile(), verilog, None)
    assert found is not None
    assert "expected" in found.fault
    assert broken(small_tile(), verilog_of(small_tile()), None) is None


@pytest.mark.simulator
@pytest.mark.long
def test_a_result_that_waits_for_the_consumer_is_seen() -> None:
    verilog = waiting_for_the_consumer(verilog_of(piped(3)))
    trace = handshake_trace(piped(3), verilog, 10)
    assert trace is not None
    found = broken(piped(3), verilog, trace)
    assert found is not None
    assert found.fault == "out_valid is low, 3 cycles after the operands came into an empty pipeline"
