"""Published multiply-adds at fixed commits are proved, and faults in one of them are refuted or proved equivalent."""

import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cosim.bench.comparison_rules import Compare
from cosim.dut.description import Dut, dut_from_table
from golden import Unit
from golden.operations import ADD, EFDPA, FMA, MUL
from mmau.prove.decision import PROVED, REFUTED, UserDesignDecision, WrongResult
from mmau.prove.user_design.proof import prove_user_design
from tests.docs.documents import ROOT, blocks
from tests.peers import unpacked

pytestmark = [pytest.mark.peer, pytest.mark.simulator]

SECONDS = 1800.0

PAGE = ROOT / "docs" / "guides" / "published-fma.md"
"""The page that proves CVFPU's multiply-add step by step."""

RESULTS = ROOT / "docs" / "evidence" / "published-designs.md"
"""The page with the tables of its inputs that choose the arithmetic, and of its flags."""

FORMATS = {"fp16": ("FP16", "0x7e00"), "bf16": ("FP16ALT", "0x7fc0"), "fp32": ("FP32", "0x7fc00000")}
"""The names of formats in CVFPU's package, and RISC-V's NaN."""

MODES = {"RNE": "RNE", "RZ": "RTZ", "RD": "RDN", "RU": "RUP", "RNA": "RMM"}
"""The names of rounding modes there."""


def unit(fmt: str = "fp16", mode: str = "RNE") -> Unit:
    """The unit that a published multiply-add of one format should equal, in one rounding mode."""
    operation = FMA(a=fmt, b=fmt, c=fmt, rho=f"{mode}-{fmt.upper()}", overflow="by-mode")  # type: ignore[arg-type]
    return Unit(name=f"fma-{fmt}-{mode}", operation=operation)


HANDSHAKE = {
    "clock": "clk_i", "reset": {"name": "rst_ni", "active": "low", "asynchronous": True}, "protocol": "valid-ready",
}  # fmt: skip


def described(
    top: str,
    sources: list[Path],
    fmt: str = "fp16",
    mode: str = "RNE",
    stages: int = 0,
    chosen: Mapping[str, Any] | None = None,
    **ties: Any,
) -> Dut:
    """A multiply-add with CVFPU's ports. `chosen`: tables of inputs that choose operation and mode, and of flags."""
    name, nan = FORMATS[fmt]
    ports = {"a": "operands_i[0]", "b": "operands_i[1]", "c": "operands_i[2]", "d": "result_o"}
    held = {"is_boxed_i": 7, "rnd_mode_i": f"fpnew_pkg::{MODES[mode]}", "op_i": "fpnew_pkg::FMADD", "op_mod_i": 0}
    held |= {"tag_i": 0, "aux_i": 0, "flush_i": 0, **ties}
    further = {} if chosen is None else dict(chosen)
    held = {port: value for port, value in held.items() if port not in further.get("controls", ())}
    if stages:
        ports |= {"in_valid": "in_valid_i", "in_ready": "in_ready_o", "out_valid": "out_valid_o", "out_ready": "out_ready_i"}
    else:
        held |= {"clk_i": 0, "rst_ni": 1, "in_valid_i": 1, "out_ready_i": 1}
    table = {
        "top": top, "sources": [str(source) for source in sources], "ports": ports, "tie": held,
        "include": [str(unpacked("common_cells") / "include")], "compare": {"nan": nan},
        "parameters": {"FpFormat": f"fpnew_pkg::{name}", "NumPipeRegs": stages, "PipeConfig": "fpnew_pkg::DISTRIBUTED"},
        "verilator_args": ["-Wno-WIDTHTRUNC", "-Wno-WIDTHEXPAND"], **(HANDSHAKE if stages else {}), **further,
    }  # fmt: skip
    return dut_from_table(table, Path())


CVFPU = ("fpnew_pkg", "fpnew_classifier", "fpnew_rounding", "fpnew_fma")


def cvfpu(
    fmt: str = "fp16",
    mode: str = "RNE",
    folder: Path | None = None,
    stages: int = 0,
    chosen: Mapping[str, Any] | None = None,
) -> Dut:
    """CVFPU's multiply-add, read from another folder if one is given, with pipeline registers in `stages` places."""
    cells, root = unpacked("common_cells") / "src", unpacked("cvfpu") / "src" if folder is None else folder
    package, *others = (root / f"{name}.sv" for name in CVFPU)
    sources = [cells / "cf_math_pkg.sv", package, cells / "lzc.sv", *others]
    return described("fpnew_fma", sources, fmt, mode, stages, chosen, mask_i=0, reg_ena_i=0)


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


@pytest.mark.parametrize("fmt", ["fp16", "fp32"])
def test_cvfpu_with_three_registers_is_proved(fmt: str) -> None:
    found = prove_user_design(unit(fmt), cvfpu(fmt, stages=3), SECONDS)
    assert proved(found)
    assert "handshake: all 12 states after reset, at most 3 operands under way" in found.decided[0]


def test_cvfpu_with_an_addend_of_another_format_is_proved() -> None:
    """`fpnew_fma_multi`: an exact sum of one product and c, within ranges of their distance."""
    cells, root = unpacked("common_cells") / "src", unpacked("cvfpu") / "src"
    package, *others = (root / f"{name}.sv" for name in (*CVFPU[:-1], "fpnew_fma_multi"))
    formats = {"src_fmt_i": "FP16", "src2_fmt_i": "FP32", "dst_fmt_i": "FP32"}
    ties: dict[str, Any] = {port: f"fpnew_pkg::{name}" for port, name in formats.items()}
    ties |= {"operands_i[0][31:16]": 0xFFFF, "operands_i[1][31:16]": 0xFFFF, "is_boxed_i": 0x7FFF, "mask_i": 0}
    parameters: dict[str, Any] = {"FpFmtConfig": "5'b10100", "NumPipeRegs": 0, "PipeConfig": "fpnew_pkg::DISTRIBUTED"}
    of_ports = described("fpnew_fma_multi", [cells / "cf_math_pkg.sv", package, cells / "lzc.sv", *others])
    dut = replace(
        of_ports,
        ports={**of_ports.ports, "a": ("operands_i[0][15:0]",), "b": ("operands_i[1][15:0]",)},
        tie={**of_ports.tie, **ties, "reg_ena_i": 0},
        parameters=parameters,
        compare=Compare(nan="0x7fc00000"),
    )
    sums: dict[str, Any] = {"a": "fp16", "b": "fp16", "c": "fp32", "L": 1, "rho": "RNE-FP32"}
    mixed = Unit(name="mixed", operation=EFDPA(**sums, overflow="by-mode", zero="ieee"))
    assert proved(prove_user_design(mixed, dut, SECONDS))


def test_cvfpu_is_proved_with_flags_for_every_operation_and_mode() -> None:
    tables = tomllib.loads(next(block for block in blocks(RESULTS) if "[controls]" in block.text).text)
    chosen = {"controls": tables["controls"], "flags": tables["flags"]}
    found = prove_user_design(unit(), cvfpu(chosen=chosen), 4 * SECONDS)
    assert proved(found)
    same = [line for line in found.decided if "the same question as with Verilator's macros: " in line]
    assert len(same) == 2 * (12 - 5) + 2 * 24  # negated operands; the two other texts


def test_the_page_describes_this_design() -> None:
    page = next(block for block in blocks(PAGE) if block.language == "toml" and "fpnew_fma" in block.text)
    text = page.text
    for name in ("common_cells", "cvfpu"):
        text = text.replace(f'"{name}/', f'"{unpacked(name)}/')
    assert dut_from_table(tomllib.loads(text), Path()) == cvfpu(stages=3)


def test_redmule_is_proved() -> None:
    assert proved(prove_user_design(unit(), redmule(), SECONDS))


AROUND = Path(__file__).parent / "designs" / "hardfloat" / "around.sv"
"""HardFloat's multiply-add with ports in IEEE formats."""


def hardfloat(fmt: str) -> Dut:
    """HardFloat's multiply-add of a format, specialised for RISC-V; it computes with normalised operands."""
    root = unpacked("hardfloat") / "source"
    parts = (
        "HardFloat_primitives",
        "HardFloat_rawFN",
        "isSigNaNRecFN",
        "RISCV/HardFloat_specialize",
        "fNToRecFN",
        "recFNToFN",
    )
    table = {
        "top": "around_mul_add", "sources": [*(str(root / f"{name}.v") for name in (*parts, "mulAddRecFN")), str(AROUND)],
        "include": [str(root), str(root / "RISCV")], "compare": {"nan": FORMATS[fmt][1]},
        "parameters": {"fp16": {"E": 5, "S": 11}, "fp32": {"E": 8, "S": 24}}[fmt],
        "verilator_args": ["-Wno-WIDTHTRUNC", "-Wno-WIDTHEXPAND"],
    }  # fmt: skip
    return dut_from_table(table, Path())


@pytest.mark.parametrize("fmt", ["fp16", "fp32"])
def test_hardfloat_is_proved(fmt: str) -> None:
    found = prove_user_design(unit(fmt), hardfloat(fmt), SECONDS)
    assert proved(found)
    assert any("a second term of zero" in line for line in found.decided)


def fpu_sp(operation: str) -> Dut:
    """The whole unit of fpu-sp, one operation tied; it normalises its operands, and shifts them into two registers."""
    root = unpacked("fpu-sp") / "verilog" / "src"
    first, cells = ("lzc/lzc_wire", "float/fp_wire"), [f"lzc/lzc_{width}" for width in (4, 8, 16, 32, 64, 128)]
    parts = ("cmp", "cvt", "exe", "ext", "fdiv", "fma", "mac", "max", "rnd", "sgnj", "unit")
    sources = [root / f"{name}.sv" for name in (*first, *cells, *(f"float/fp_{part}" for part in parts))]
    held = {f"fp_unit_i[{place}]": int(place == {"ADD": 20, "MUL": 18}[operation]) for place in range(6, 25)}
    held |= {"fp_unit_i[56:25]": 0, "fp_unit_i[5:4]": 0, "fp_unit_i[3:1]": 0, "fp_unit_i[0]": 1, "clear": 0}
    table = {
        "top": "fp_unit", "sources": [str(source) for source in sources], "tie": held, "compare": {"nan": "0x7fc00000"},
        "ports": {"a": "fp_unit_i[120:89]", "b": "fp_unit_i[88:57]", "d": "fp_unit_o[37:6]"},
        "protocol": "fixed-latency", "latency": 2, "clock": "clock", "reset": {"name": "reset", "active": "low"},
        "verilator_args": ["-Wno-WIDTHTRUNC", "-Wno-WIDTHEXPAND"],
    }  # fmt: skip
    return dut_from_table(table, Path())


@pytest.mark.parametrize("operation", [ADD, MUL])
def test_a_unit_that_normalises_its_operands_is_proved(operation: type[ADD] | type[MUL]) -> None:
    name = operation.__name__
    specified = operation(a="fp32", b="fp32", rho="RNE-FP32", overflow="by-mode")  # type: ignore[arg-type]
    found = prove_user_design(Unit(name=f"{name}-fp32", operation=specified), fpu_sp(name), SECONDS)
    assert (found.verdict, found.reason) == (PROVED, "")
    expected = "a second term of zero" if operation is ADD else "one variable for the product on both sides"
    assert any(expected in line for line in found.decided)


@pytest.mark.parametrize(("top", "operation"), [("multiplier", MUL), ("adder", ADD)])
def test_a_unit_that_takes_a_cycle_for_each_place_is_proved(top: str, operation: type[ADD] | type[MUL]) -> None:
    """dawsonjon's units, whose control depends on data, with a handshake for each operand."""
    ports = {"a": "input_a", "b": "input_b", "d": "output_z", "out_valid": "output_z_stb", "out_ready": "output_z_ack"}
    ports |= {f"{name}_valid": f"input_{name}_stb" for name in "ab"} | {
        f"{name}_ready": f"input_{name}_ack" for name in "ab"
    }
    table = {
        "top": top, "sources": [str(unpacked("dawsonjon-fpu") / top / f"{top}.v")], "ports": ports,
        "protocol": "operand-handshakes", "clock": "clk", "reset": {"name": "rst"},
        "verilator_args": ["-Wno-WIDTHTRUNC", "-Wno-WIDTHEXPAND"],
    }  # fmt: skip
    specified = operation(a="fp32", b="fp32", rho="RNE-FP32")  # type: ignore[arg-type]
    found = prove_user_design(Unit(name=top, operation=specified), dut_from_table(table, Path()), SECONDS)
    assert (found.verdict, found.reason) == (PROVED, "")
    assert "cycles whose control depends on data" in found.decided[0]


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
    "an addend that reaches one place too few": Fault("signed'(PRECISION_BITS + 2))", "signed'(PRECISION_BITS + 1))"),
    "infinity less infinity times a subnormal": Fault(
        "info_c.is_inf && effective_subtraction)", "info_c.is_inf && effective_subtraction && ~info_b.is_subnormal)"
    ),
    "one product of two significands": Fault(
        "mantissa_a * mantissa_b;", "mantissa_a * mantissa_b ^ (mantissa_a == 1447 && mantissa_b == 1877);"
    ),
    "the smallest number as addend": Fault(
        "{1'b0, ~info_c.is_normal})", "{1'b0, ~info_c.is_normal & (operand_c.mantissa != 1)})"
    ),
    "a difference less the bits below it, which has none": Fault(
        "addend_after_shift - product_shifted;", "addend_after_shift - product_shifted - sticky_before_add;", equivalent=True
    ),
    "positive ties of one binade rounded up": Fault(
        "2'b10: round_up = abs_value_i[0];", "2'b10: round_up = abs_value_i[0] | (abs_value_i[14:10] == 17 & ~sign_i);",
        "fpnew_rounding",
    ),
}  # fmt: skip
"""Faults that few vectors show, or none."""


CHANGES = (
    (r" \+ 1\b", " + 2"), (r" \+ 2\b", " + 3"), (r" \+ 3\b", " + 2"), (r" \+ 4\b", " + 5"), (r" - 1\b", " - 2"),
    (" > ", " >= "), (" >= ", " > "), (" <= signed", " < signed"), (" < ", " <= "), (" && ", " || "), (r" \|\| ", " && "),
    (" & ", " | "), (" ~", " "), ("1'b0", "1'b1"), ("'0;", "'1;"), (r"\(\| ", "(& "), (r" \+ ", " - "), (" == ", " != "),
)  # fmt: skip
"""What a mutant changes: a pattern in a line of code, and the text in its place."""

FIRST = {"fpnew_fma": "exponent_a = signed", "fpnew_rounding": "begin : rounding_decision"}
"""Where the part of each file begins that computes a finite result and its flags."""

NO_CODE = re.compile("pipe|logic|localparam|parameter|typedef|case")

SEEDS = (2, 28, 0, 1, 3, 5, 7, 8, 13, 14, 15, 16, 18, 19, 20)
"""Those of mutants, with first those that 1,000,000 vectors do not show."""

EQUIVALENT = {2, 28}


def places() -> Iterator[tuple[str, int, int, str]]:
    """The places of all mutants, in order: file, begin and end in its text, and the text in its place."""
    for file, first in FIRST.items():
        text = (unpacked("cvfpu") / "src" / f"{file}.sv").read_text(encoding="utf-8")
        begin = text.index(first)
        found = set[tuple[str, int, int, str]]()
        for line in re.finditer(r"[^\n]*\n", text):
            code = line[0].partition("//")[0]
            if line.start() >= begin and re.search(r"[=?:]|if \(", code) and not NO_CODE.search(code):
                for pattern, put in CHANGES:
                    at = ((line.start() + each.start(), line.start() + each.end()) for each in re.finditer(pattern, code))
                    found |= {(file, low, high, put) for low, high in at}
        yield from sorted(found)


def changed(folder: Path, file: str, begin: int, end: int, put: str) -> Path:
    """A folder with CVFPU in which a part of a file is another text."""
    for each in CVFPU:
        shutil.copy(unpacked("cvfpu") / "src" / f"{each}.sv", folder)
    path = folder / f"{file}.sv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:begin] + put + text[end:], encoding="utf-8")
    return folder


def check_decided(found: UserDesignDecision, equivalent: bool) -> None:
    """Check that a fault is proved equivalent or refuted by a result."""
    if equivalent:
        assert proved(found)
    else:
        assert found.verdict == REFUTED
        assert isinstance(found.counterexample, WrongResult)
        assert found.counterexample.got != found.counterexample.expected


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.attack("published designs, in prove")
def test_a_fault_in_cvfpu_is_refuted_or_proved_equivalent(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    text = (unpacked("cvfpu") / "src" / f"{fault.file}.sv").read_text(encoding="utf-8")
    assert text.count(fault.found) == 1
    begin = text.index(fault.found)
    folder = changed(tmp_path, fault.file, begin, begin + len(fault.found), fault.put)
    check_decided(prove_user_design(unit(mode=fault.mode), cvfpu(mode=fault.mode, folder=folder), SECONDS), fault.equivalent)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.attack("published designs, in prove")
def test_a_mutant_of_cvfpu_is_refuted_or_proved_equivalent(seed: int, tmp_path: Path) -> None:
    folder = changed(tmp_path, *Random(seed).choice(list(places())))
    check_decided(prove_user_design(unit(), cvfpu(folder=folder), SECONDS), seed in EQUIVALENT)
