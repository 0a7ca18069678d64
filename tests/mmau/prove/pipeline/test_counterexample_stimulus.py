"""Faults of a design that are seen at its ports, in cycles that are given and in Verilator."""

from random import Random

import pytest

from mmau.prove.counterexample import golden_result
from mmau.prove.pipeline.handshake_rules import Cycle
from mmau.prove.pipeline.pipeline_replay import Given, Seen, broken, complaint, expected, flowing, stimulus
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

DESIGN = piped(1)

HIGH, FALLEN = "out_valid is high, but the pipeline is empty", "out_valid fell before the result was taken"

CHANGED = "d changed from 0x5 to 0x6 while it waited"

(OPERANDS,) = (each.operands for each in stimulus(DESIGN, flowing(DESIGN), Random(3))[:1])

D = golden_result(DESIGN.unit, OPERANDS)

RESET, BOTH, IN, OUT = Cycle(1, 0, 0), Cycle(0, 1, 1), Cycle(0, 1, 0), Cycle(0, 0, 1)


@pytest.mark.parametrize(
    ("cycles", "seen", "told"),
    [
        ([RESET, IN, OUT], [(0, 1, 7), (1, 0, 0), (1, 1, D)], None),
        ([RESET, IN, OUT], [(0, 1, 7), (1, 0, 0), (1, 1, D ^ 1)], (2, f"result 0 is {D ^ 1:#x}, expected {D:#x}")),
        ([RESET, OUT], [(0, 0, 0), (1, 1, 0)], (1, HIGH)),
        ([RESET, IN], [(0, 0, 0), (0, 0, 0)], (1, "in_ready is low, but the pipeline is empty")),
        ([RESET, IN, IN, IN], [(1, 0, 0), (1, 0, 0), (0, 1, D), (0, 0, D)], (3, FALLEN)),
        ([RESET, IN, IN, IN], [(1, 0, 0), (1, 0, 0), (0, 1, 5), (0, 1, 6)], (3, CHANGED)),
        ([RESET, IN, OUT, OUT], [(1, 0, 0), (1, 0, 0), (1, 1, D), (1, 1, D)], (3, HIGH)),
        ([OUT, OUT], [(0, 1, 0), (0, 1, 0)], None),  # before the first reset
        ([RESET, IN, RESET, OUT], [(1, 0, 0), (1, 0, 0), (1, 1, D), (1, 0, D)], None),
    ],
)  # fmt: skip
def test_complaints(cycles: list[Cycle], seen: list[tuple[int, int, int]], told: tuple[int, str] | None) -> None:
    given = [Given(cycle, OPERANDS) for cycle in cycles]
    assert complaint(DESIGN, given, [Seen(*each) for each in seen]) == told


def test_a_tile_adds_step_after_step() -> None:
    steps = [each.operands for each in stimulus(small_tile(), flowing(small_tile()), Random(1))[:4]]
    i = small_tile().instruction

    def numbers(operands: int, row: int, is_signed: bool) -> list[int]:
        codes = [operands >> 8 * (4 * row + k) & 0xFF for k in range(4)]
        return [code - 256 if is_signed and code > 127 else code for code in codes]

    signs = i.a.name == "int8", i.b.name == "int8"
    d = 0
    for row in range(2):
        for column in range(2):
            total = steps[0]["c"] >> 32 * (2 * row + column) & 0xFFFFFFFF
            for operands in steps:
                pairs = zip(numbers(operands["a"], row, signs[0]), numbers(operands["b"], column, signs[1]), strict=True)
                total += sum(x * y for x, y in pairs)
            d |= (total & 0xFFFFFFFF) << 32 * (2 * row + column)
    assert expected(small_tile(), steps) == d


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
