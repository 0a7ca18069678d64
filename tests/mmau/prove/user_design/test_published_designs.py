"""Published multiply-adds at fixed commits are proved, and faults in one of them are refuted or proved equivalent."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cosim.dut.description import Dut, dut_from_table
from golden import Unit
from golden.operations import FMA
from mmau.prove.decision import PROVED, REFUTED, UserDesignDecision, WrongResult
from mmau.prove.user_design.proof import prove_user_design
from tests.peers import unpacked

pytestmark = [pytest.mark.peer, pytest.mark.simulator]

SECONDS = 1800.0

FORMATS = {"fp16": ("FP16", "0x7e00"), "bf16": ("FP16ALT", "0x7fc0"), "fp32": ("FP32", "0x7fc00000")}
"""The names of formats in CVFPU's package, and RISC-V's NaN."""

MODES = {"RNE": "RNE", "RD": "RDN"}
"""The names of rounding modes there."""


def unit(fmt: str = "fp16", mode: str = "RNE") -> Unit:
    """The unit that a published multiply-add of one format should equal, in one rounding mode."""
    operation = FMA(a=fmt, b=fmt, c=fmt, rho=f"{mode}-{fmt.upper()}", overflow="by-mode")  # type: ignore[arg-type]
    return Unit(name=f"fma-{fmt}-{mode}", operation=operation)


def described(top: str, sources: list[Path], fmt: str = "fp16", mode: str = "RNE", **ties: Any) -> Dut:
    """A multiply-add with CVFPU's ports, without registers."""
    name, nan = FORMATS[fmt]
    ports = {"a": "operands_i[0]", "b": "operands_i[1]", "c": "operands_i[2]", "d": "result_o"}
    held = {"is_boxed_i": 7, "rnd_mode_i": f"fpnew_pkg::{MODES[mode]}", "op_i": "fpnew_pkg::FMADD", "op_mod_i": 0}
    held |= {"tag_i": 0, "aux_i": 0, "flush_i": 0, "clk_i": 0, "rst_ni": 1, "in_valid_i": 1, "out_ready_i": 1, **ties}
    table = {
        "top": top, "sources": [str(source) for source in sources], "ports": ports, "tie": held,
        "include": [str(unpacked("common_cells") / "include")], "compare": {"nan": nan},
        "parameters": {"FpFormat": f"fpnew_pkg::{name}", "NumPipeRegs": 0},
        "verilator_args": ["-Wno-WIDTHTRUNC", "-Wno-WIDTHEXPAND"],
    }  # fmt: skip
    return dut_from_table(table, Path())


CVFPU = ("fpnew_pkg", "fpnew_classifier", "fpnew_rounding", "fpnew_fma")


def cvfpu(fmt: str = "fp16", mode: str = "RNE", folder: Path | None = None) -> Dut:
    """CVFPU's multiply-add, read from another folder if one is given."""
    cells, root = unpacked("common_cells") / "src", unpacked("cvfpu") / "src" if folder is None else folder
    package, *others = (root / f"{name}.sv" for name in CVFPU)
    sources = [cells / "cf_math_pkg.sv", package, cells / "lzc.sv", *others]
    return described("fpnew_fma", sources, fmt, mode, mask_i=0, reg_ena_i=0)


def redmule() -> Dut:
    """RedMulE's multiply-add."""
    cells, root = unpacked("common_cells") / "src", unpacked("pulp-cvfpu") / "src"
    package, *others = (root / f"{name}.sv" for name in ("fpnew_pkg", "lfsr_sr", "fpnew_classifier", "fpnew_rounding"))
    sources = [cells / "cf_math_pkg.sv", package, cells / "lzc.sv", *others]
    return described("redmule_fma", [*sources, unpacked("redmule") / "rtl" / "redmule_fma.sv"], reg_enable_i=1)


def proved(found: UserDesignDecision) -> bool:
    """Whether a design is proved, for a reason that is stated."""
    shared = [line for line in found.decided if line.endswith("one variable for the product on both sides")]
    return (found.verdict, found.reason) == (PROVED, "") and len(shared) >= 4


@pytest.mark.parametrize(("fmt", "mode"), [*(("fp16", mode) for mode in MODES), ("bf16", "RNE"), ("fp32", "RNE")])
def test_cvfpu_is_proved(fmt: str, mode: str) -> None:
    assert proved(prove_user_design(unit(fmt, mode), cvfpu(fmt, mode), SECONDS))


def test_redmule_is_proved() -> None:
    assert proved(prove_user_design(unit(), redmule(), SECONDS))


@dataclass(frozen=True)
class Fault:
    """A fault in CVFPU: a text in one of its files, and another one in its place; `equivalent` if no result is wrong."""

    found: str
    put: str
    file: str = "fpnew_fma"
    equivalent: bool = False
    mode: str = "RNE"


FAULTS = {
    "the lowest sticky bit left out": Fault("(| addend_sticky_bits)", "(| (addend_sticky_bits >> 1))"),
    "a carry that ignores the lowest sticky bit": Fault("& ~sticky_before_add;", "& ~(| (addend_sticky_bits >> 1));"),
    "one short after a deep cancellation": Fault(
        "+ 2 + leading_zero_count;", "+ 2 + leading_zero_count - (leading_zero_count == 19 && exponent_difference_q == 1);"
    ),
    "sticky lost far below the normal numbers": Fault(
        "(| {sum_sticky_bits})", "exponent_product_q >= -8 && (| {sum_sticky_bits})"
    ),
    "the sign of a zero that cancels at one distance": Fault(
        "{rounded_sign, rounded_abs}", "{rounded_sign & ~(result_zero & exponent_difference_q == 1), rounded_abs}", mode="RD"
    ),
    "a carry of the rounding lost in one binade": Fault(
        "abs_value_i + round_up", "abs_value_i + (round_up && abs_value_i != 15'h27ff)", "fpnew_rounding"
    ),
    "a shift limited one early": Fault("-2 * PRECISION_BITS - 1", "-2 * PRECISION_BITS", equivalent=True),
    "the limit of normal results one off": Fault("+ 1 >= 0)", "+ 1 > 0)"),
    "cancellation looked for one distance short": Fault("exponent_difference_q <= 2)", "exponent_difference_q <= 1)"),
}  # fmt: skip
"""Faults that few vectors show, or none."""


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.attack("published designs, in prove")
def test_a_fault_in_cvfpu_is_refuted_or_proved_equivalent(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    for each in CVFPU:
        shutil.copy(unpacked("cvfpu") / "src" / f"{each}.sv", tmp_path)
    file = tmp_path / f"{fault.file}.sv"
    text = file.read_text(encoding="utf-8")
    assert text.count(fault.found) == 1
    file.write_text(text.replace(fault.found, fault.put), encoding="utf-8")
    found = prove_user_design(unit(mode=fault.mode), cvfpu(mode=fault.mode, folder=tmp_path), SECONDS)
    if fault.equivalent:
        assert proved(found)
    else:
        assert found.verdict == REFUTED
        assert isinstance(found.counterexample, WrongResult)
        assert found.counterexample.got != found.counterexample.expected
