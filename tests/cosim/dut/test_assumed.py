"""Operands that a design need not take: none is sent, and the report and the proof say so."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim.bench.assumed import CLASSES, Assumed, Taken, assumed_of
from cosim.bench.operand_widths import OperandWidths
from cosim.bench.stimulus import specification_of
from cosim.volume.segments import DIRECTED
from golden import Unit
from golden.arithmetic.formats import FP16, FP32
from golden.operations import ADD, MUL
from golden.stimulus import Operands
from golden.units.controls import Source
from mmau.prove.decision import PROVED, REFUTED
from mmau.prove.user_design.proof import prove_user_design
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.emit import to_verilog

RANGES = [
    Taken("a", ("zero", "normal"), (-7, 7)),
    Taken("a", ("subnormal",)),
    Taken("a", ("zero",)),
    Taken("a", ("normal", "infinity"), (15, 15)),
    Taken("a", tuple(each for each in CLASSES if each != "nan")),
]


@pytest.mark.parametrize("taken", RANGES, ids=str)
def test_every_code_is_moved_to_one_that_is_taken(taken: Taken) -> None:
    codes = np.arange(1 << 16, dtype=np.uint16)
    is_taken = np.array([taken.takes(code, FP16) for code in codes.tolist()])
    moved = taken.within(codes, FP16)
    assert (moved[is_taken] == codes[is_taken]).all()
    assert set(moved.tolist()) == set(codes[is_taken].tolist()), "all that are taken, and no others"
    ranges = [range(low, high + 1) for low, high in taken.magnitudes(FP16)]
    assert [any(code & 0x7FFF in each for each in ranges) for code in codes.tolist()] == is_taken.tolist()


def test_operands_beyond_the_range_are_spread_over_it() -> None:
    codes = np.random.default_rng(0).integers(0, 1 << 32, 5000, np.uint32)
    moved = Taken("a", ("normal",), (-30, 30)).within(codes, FP32)
    counts = np.bincount((moved >> 23 & 0xFF) - 97, minlength=61)
    assert (len(counts), counts.min() > 40, counts.max() < 160) == (61, True, True)


PAIR = Operands(
    np.array([[0x7BFF], [0x7BFF], [0x7C00], [1]], np.uint16), np.full((4, 1), 0x4000, np.uint16), np.zeros(4, np.uint16)
)
RESULTS = [0x7C00, 0x7BFF, 0x7C00, 2]
KINDS = {"a": FP16, "b": FP16, "d": FP16}


def test_rows_that_must_be_taken() -> None:
    assert Assumed(no_overflow=True).takes(PAIR, RESULTS, KINDS).tolist() == [False, True, True, True]
    normal = Assumed((Taken("a", ("normal",)),))
    assert normal.takes(PAIR, RESULTS, KINDS).tolist() == [True, True, False, False]
    assert normal.takes(normal.within(PAIR, KINDS), RESULTS, KINDS).all()


def test_operands_of_an_operation_are_those_of_its_ports() -> None:
    of_ports = Assumed((Taken("b", ("zero",)), Taken("c", ("normal",))))
    add = ADD(a=FP16, b=FP16)
    found = of_ports.of(add, {"a": Source("b"), "b": Source("c", is_negated=True)})
    assert [(each.operand, each.classes) for each in found.operands] == [("a", ("zero",)), ("b", ("normal",))]
    assert [each.operand for each in of_ports.of(add, {}).operands] == ["b"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"d": {}}, r"\[assume\] key must be one of a, b, c, result; got 'd'"),
        ({"a": {"class": ["zero"]}}, r"\[assume\] a key must be one of classes, exponents; got 'class' .*"),
        ({"a": {"classes": "zero"}}, r"\[assume\] a classes must be a list, got 'zero'"),
        ({"a": {"classes": ["big"]}}, r"\[assume\] a classes must be one of zero, .*; got 'big'"),
        ({"a": {"classes": ["nan"]}}, r"\[assume\] a classes must have one of zero, subnormal and normal, got \['nan'\]"),
        ({"a": {"exponents": [3, 2]}}, r"\[assume\] a exponents must be the least and the greatest, like .*, got \[3, 2\]"),
        ({"a": {"classes": ["zero"], "exponents": [1, 2]}}, r"\[assume\] a exponents go with the class normal, got .*"),
        ({"result": {"no_overflow": 1}}, r"\[assume\] result no_overflow must be true, or left out, got 1"),
    ],
)
def test_wrong_table_refused(table: dict[str, dict[str, object]], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        assumed_of(table)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"a": {"exponents": [-200, 0]}}, r"\[assume\] a exponents must be from -14 to 15 in fp16, got \[-200, 0\]"),
        ({"c": {"classes": ["zero"]}}, r"\[assume\] operand must be one of a, b; got 'c'"),
    ],
)
def test_table_of_another_unit_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        specification_of(UnitDesign(UNIT), widths=OperandWidths(assumed=assumed_of(table)))


def test_operands_that_all_overflow_refused() -> None:
    table = {name: {"classes": ["normal"], "exponents": [15, 15]} for name in "ab"} | {"result": {"no_overflow": True}}
    rows = specification_of(UnitDesign(UNIT), widths=OperandWidths(assumed=assumed_of(table)))
    with pytest.raises(ValueError, match=r"^\[assume\] no_overflow leaves no operands"):
        next(rows.chunks(100, 0))


def test_results_that_may_saturate_refused() -> None:
    toward_zero = Unit(name="mul", operation=MUL(a=FP16, b=FP16, rho="RZ-FP16", overflow="by-mode"))
    with pytest.raises(ValueError, match=r"^\[assume\] no_overflow is for results that overflow to infinity"):
        specification_of(UnitDesign(toward_zero), widths=OperandWidths(assumed=Assumed(no_overflow=True)))


UNIT = Unit(name="mul", operation=MUL(a=FP16, b=FP16))


def flushing(folder: Path, assume: dict[str, object] | None) -> tuple[Unit, cosim.Dut]:
    """A multiplier, and a design that takes subnormal operands and results for zeros."""
    design = Unit(name="mul", operation=MUL(a=FP16, b=FP16, flush_inputs=True, flush_results=True))
    (folder / "mul.v").write_text(to_verilog(design, "mul"), encoding="utf-8")
    described = {"top": "mul", "sources": ["mul.v"]} | ({} if assume is None else {"assume": assume})
    return UNIT, cosim.dut_from_table(described, folder)


NORMAL_A = ("zero", "normal"), (-7, 14)
NORMAL = {name: {"classes": ["zero", "normal"], "exponents": [-7, 14]} for name in "ab"}


@pytest.mark.costly
@pytest.mark.parametrize(
    ("assume", "passes"),
    [(None, False), (NORMAL, True), (NORMAL | {"result": {"no_overflow": True}}, True), ({"a": NORMAL["a"]}, False)],
    ids=["nothing", "both", "no overflow", "one"],
)
def test_design_is_compared_within_what_is_assumed(assume: dict[str, object] | None, passes: bool, tmp_path: Path) -> None:
    unit, dut = flushing(tmp_path, assume)
    report = cosim.run(unit, dut=dut, vectors=2000)
    assert report.passed is passes
    assert bool(report.assumed) is (assume is not None)
    assert [line for line in report.not_looked_at if "[assume]" in line] == (
        [f"operands within [assume] alone: {'; '.join(report.assumed)}"] if assume else []
    )
    if assume and "result" in assume:
        assert report.result_classes["infinity"] == 0
    if assume and not passes:
        assert report.minimised is not None
        assert all(Taken("a", *NORMAL_A).takes(code, FP16) for code in report.minimised.row.a)
    volume = cosim.run(unit, dut=dut, mode="volume", vectors=DIRECTED + 2000)
    assert (volume.passed, volume.sent) == (passes, DIRECTED + 2000)


FINITE = {name: {"classes": ["zero", "subnormal", "normal"]} for name in "ab"}

WITHOUT_SPECIALS = """module top(input [15:0] a, b, output [15:0] d);
  wire [15:0] product;
  mul m(.a(a), .b(b), .d(product));
  assign d = &a[14:10] || &b[14:10] ? 16'd0 : product;
endmodule
"""


@pytest.mark.costly
@pytest.mark.parametrize(("assume", "verdict"), [(None, REFUTED), (FINITE, PROVED), ({"a": FINITE["a"]}, REFUTED)])
def test_proof_assumes_it(assume: dict[str, object] | None, verdict: str, tmp_path: Path) -> None:
    (tmp_path / "top.v").write_text(to_verilog(UNIT, "mul") + WITHOUT_SPECIALS, encoding="utf-8")
    described = {"top": "top", "sources": ["top.v"]} | ({} if assume is None else {"assume": assume})
    found = prove_user_design(UNIT, cosim.dut_from_table(described, tmp_path), 3600)
    assert found.verdict == verdict, found.reason
    assert ("a: zero, subnormal, normal" in found.assumed) is (assume is not None)
