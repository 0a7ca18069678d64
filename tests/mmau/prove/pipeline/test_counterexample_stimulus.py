"""Faults of a design that are seen at its ports."""

from random import Random

import pytest

from mmau.prove.counterexample import golden_result
from mmau.prove.pipeline.pipeline_replay import Given, Seen, complaint, expected, flowing, stimulus
from mmau.prove.pipeline.shortest_trace import Cycle
from tests.mmau.prove.pipeline.designs import piped, small_tile

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
