"""`[operands]` of a dut.toml: designs without c, with a narrow integer c, and with a fixed-point d."""

import re
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.bench.coverage import Coverage
from cosim.bench.operand_widths import FixedPoint, OperandWidths
from cosim.bench.products import Element
from cosim.bench.stimulus import specification_of
from cosim.coverage.coverage_model import Counts, whole
from cosim.dut.description import Dut, widths_from_table
from golden import Unit
from golden.operations import EFDPA, FMA, IDPA, MUL
from golden.operations.base import Operation
from mmau.prove.decision import OPEN, PROVED, REFUTED
from mmau.prove.user_design.proof import decided_by_solvers
from rtl import UnitDesign
from rtl.verilog.emit import to_verilog

INTEGERS = Unit(name="integers", operation=IDPA(a="int8", b="int8", c="int32", L=2))  # type: ignore[arg-type]
NUMBERS = Unit(name="numbers", operation=EFDPA(a="e3m2", b="e3m2", c="fp32", L=2))  # type: ignore[arg-type]

VECTORS = 300


def dut_of(text: str, folder: Path, **operands: Any) -> Dut:
    source = folder / "mine.sv"
    source.write_text(text)
    return Dut(top="mine", sources=(source,), widths=widths_from_table(operands))


SUM = "32'(signed'(a[7:0])) * 32'(signed'(b[7:0])) + 32'(signed'(a[15:8])) * 32'(signed'(b[15:8]))"


def integers(c: str, extended: str, bits: int) -> str:
    return f"module mine(input [15:0] a, b, {c}output [{bits - 1}:0] d); assign d = {bits}'({extended}{SUM}); endmodule\n"


WITHOUT_C = integers("", "", 32)
NARROW = integers("input [15:0] c, ", "32'(signed'(c)) + ", 32)
UNSIGNED = integers("input [15:0] c, ", "32'(c) + ", 32)

FIXED = """
module mine(input [11:0] a, b, output [16:0] d);
  function automatic signed [31:0] number(input [5:0] x);
    automatic logic [31:0] sig = {29'd0, |x[4:2], x[1:0]};
    automatic logic [31:0] magnitude = sig << (x[4:2] == 0 ? 0 : x[4:2] - 1);
    return x[5] ? -signed'(magnitude) : signed'(magnitude);
  endfunction
  wire signed [31:0] sum = number(a[5:0]) * number(b[5:0]) + number(a[11:6]) * number(b[11:6]);
  assign d = 17'(sum SHIFTED);
endmodule
"""
"""The exact sum in units of 2^-8: the smallest numbers are 2^-4."""


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"e": 1}, "[operands] key must be one of c, d; got 'e'"),
        ({"c": "16"}, "[operands] c must be \"none\" or {bits = 16}, got '16'"),
        ({"c": {"bits": 33}}, "[operands] c bits must be an integer from 1 to 32, got 33"),
        ({"d": 16}, "[operands] d must be {bits = 73, fraction = 32}, got 16"),
        ({"d": {"fraction": 3}}, "[operands] d must be {bits = 73, fraction = 32}, got {'fraction': 3}"),
        ({"d": {"bits": 513}}, "bits of a fixed-point number must be an integer from 1 to 512, got 513"),
        (
            {"d": {"bits": 8, "fraction": -1}},
            "fraction bits of a fixed-point number must be an integer from 0 to 512, got -1",
        ),
    ],
)
def test_wrong_table_says_what_is_expected(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        widths_from_table(table)


@pytest.mark.parametrize(
    ("widths", "operation", "message"),
    [
        (
            OperandWidths(c_bits=16),
            NUMBERS.operation,
            '[operands] c has fewer bits only where it is an integer: of E-FDPA with c in fp32 it must be "none" or have at '
            "most 31 bits, got 16",
        ),
        (
            OperandWidths(d=FixedPoint(16)),
            cosim.main_job()[0].operation,
            "[operands] d is a fixed-point number only of E-FDPA and IDPA, whose sums are exact; got T-FDPA",
        ),
    ],
)
def test_operation_without_such_an_operand_is_refused(widths: OperandWidths, operation: Operation, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        widths.check(operation)


@pytest.mark.simulator
def test_volume_of_a_fixed_point_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"^mode 'volume' compares codes of the unit's d, not fixed-point numbers: leave --mode out$"
    ):
        cosim.run(UnitDesign(INTEGERS), dut=dut_of(WITHOUT_C, tmp_path, c="none", d={"bits": 32}), mode="volume")


def mismatches(unit: Unit, dut: Dut, **request: Any) -> int:
    return cosim.run(UnitDesign(unit), vectors=VECTORS, dut=dut, **request).mismatches


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("text", "operands", "are_right"),
    [
        pytest.param(WITHOUT_C, {"c": "none"}, True, id="no c", marks=pytest.mark.long),
        pytest.param(NARROW, {"c": {"bits": 16}}, True, id="c of 16 bits"),
        pytest.param(
            UNSIGNED,
            {"c": {"bits": 16}},
            False,
            id="c without its sign",
            marks=(pytest.mark.long, pytest.mark.attack("designs by hand, in cosim")),
        ),
    ],
)
def test_other_c_in_volume(text: str, operands: dict[str, Any], are_right: bool, tmp_path: Path) -> None:
    assert (mismatches(INTEGERS, dut_of(text, tmp_path, **operands), mode="volume") == 0) == are_right


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize("c", ["none", {"bits": 16}])
def test_native_vectors_have_the_c_of_the_design(c: Any, tmp_path: Path) -> None:
    dut = dut_of(WITHOUT_C if c == "none" else NARROW, tmp_path, c=c)
    report = cosim.run(UnitDesign(INTEGERS), vectors=40_000, dut=dut, mode="volume")
    assert (report.received, report.mismatches) == (40_000, 0)
    assert report.input_bits == (32 if c == "none" else 48)


PRODUCT = "module mine(input [15:0] a, b, output [15:0] d); {text} endmodule\n"
WITH_ITS_SIGN = PRODUCT.format(text="fma f(.a(a), .b(b), .c(16'h8000), .d(d));")
WITHOUT_SIGNS_OF_ZEROS = PRODUCT.format(
    text="wire [15:0] x; fma f(.a(a), .b(b), .c(16'h8000), .d(x)); assign d = x[14:0] == 0 ? 16'h0 : x;"
)
MULTIPLY_ADD = Unit(name="fma", operation=FMA(a="fp16", b="fp16", c="fp16"))  # type: ignore[arg-type]
MULTIPLIER = Unit(name="mul", operation=MUL(a="fp16", b="fp16"))  # type: ignore[arg-type]


def multiplier(text: str, folder: Path, unit: Unit) -> Dut:
    """A multiplier that is a multiply-add with its c tied to −0, described as a unit with c or as one without."""
    operands = {"c": "none"} if "c" in unit.operation.operands else {}
    return dut_of(to_verilog(MULTIPLY_ADD, "fma") + text, folder, **operands)


@pytest.mark.simulator
@pytest.mark.attack("designs by hand, in cosim")
@pytest.mark.parametrize("unit", [MULTIPLY_ADD, MULTIPLIER], ids=["FMA without c", "MUL"])
@pytest.mark.parametrize("mode", ["cocotb", pytest.param("volume", marks=pytest.mark.long)])
def test_zero_product_has_its_own_sign(unit: Unit, mode: str, tmp_path: Path) -> None:
    """The right multiplier passes without a waiver, and the one that loses the sign of every zero fails."""
    assert mismatches(unit, multiplier(WITH_ITS_SIGN, tmp_path, unit), mode=mode) == 0
    assert mismatches(unit, multiplier(WITHOUT_SIGNS_OF_ZEROS, tmp_path, unit), mode=mode) > 0


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.attack("designs by hand, in prove")
@pytest.mark.parametrize("unit", [MULTIPLY_ADD, MULTIPLIER], ids=["FMA without c", "MUL"])
def test_zero_product_has_its_own_sign_in_a_proof(unit: Unit, tmp_path: Path) -> None:
    assert decided_by_solvers(unit, multiplier(WITH_ITS_SIGN, tmp_path, unit), 100.0).verdict == PROVED
    assert decided_by_solvers(unit, multiplier(WITHOUT_SIGNS_OF_ZEROS, tmp_path, unit), 100.0).verdict == REFUTED


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("shifted", "d", "are_right"),
    [
        pytest.param("", {"bits": 17, "fraction": 8}, True, id="exact"),
        pytest.param("", {"bits": 17, "fraction": 9}, False, id="another unit", marks=pytest.mark.long),
        pytest.param(">>> 1", {"bits": 17, "fraction": 7}, False, id="cut, not rounded", marks=pytest.mark.long),
    ],
)
@pytest.mark.attack("designs by hand, in cosim")
def test_fixed_point_result(shifted: str, d: dict[str, int], are_right: bool, tmp_path: Path) -> None:
    dut = dut_of(FIXED.replace("SHIFTED", shifted), tmp_path, c="none", d=d)
    assert (mismatches(NUMBERS, dut) == 0) == are_right


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("text", "operands", "verdict"),
    [
        (NARROW, {"c": {"bits": 16}}, PROVED),
        (WITHOUT_C, {"c": "none"}, PROVED),
        (UNSIGNED, {"c": {"bits": 16}}, REFUTED),
        (WITHOUT_C, {"c": "none", "d": {"bits": 32}}, OPEN),
    ],
)
@pytest.mark.attack("designs by hand, in prove")
def test_other_operands_in_a_proof(text: str, operands: dict[str, Any], verdict: str, tmp_path: Path) -> None:
    assert decided_by_solvers(INTEGERS, dut_of(text, tmp_path, **operands), 100.0).verdict == verdict


def test_bins_of_an_absent_c_are_not_missed() -> None:
    """FMA with c = "none" is covered as MUL: the same bins, with the same hits."""

    def counts(operation: Operation) -> tuple[Counts, ...]:
        unit, coverage = Unit(name="mine", operation=operation), Coverage()
        (chunk,) = specification_of(UnitDesign(unit), widths=OperandWidths(c_bits=0)).chunks(VECTORS, 1)
        coverage.count([Element(chunk.products[0], row, "") for row in range(VECTORS)])
        return coverage.counts()

    keys: dict[str, Any] = {"a": "fp16", "b": "fp16", "rho": "RZ-FP16"}
    (found,) = counts(FMA(**keys, c="fp16"))  # type: ignore[arg-type]
    assert found.model.operation == MUL(**keys)
    assert found.hits.keys() == counts(MUL(**keys))[0].hits.keys()
    assert not [name for name in whole([found]).missed if re.search(r"\bc\b", name)]
