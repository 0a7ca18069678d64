"""Converters of one's own, fp16 to e5m2: ports a and d alone, right and wrong designs, in co-simulation and in proofs."""

from pathlib import Path

import pytest

import cosim
from cosim.dut.description import Dut, dut_from_table
from golden import Unit
from golden.operations import CVT
from golden.units.unit_file import unit_from_table
from mmau.prove.decision import PROVED, REFUTED
from mmau.prove.user_design.proof import prove_user_design
from rtl.verilog.emit import to_verilog

UNIT = unit_from_table({"name": "half", "operation": "CVT", "a": "fp16", "rho": "RNE-E5M2", "nan": "first"})

TEXT = """
module half_to_e5m2(input [15:0] half_i, output [7:0] d_o, output [4:0] flags_o);
  wire [15:0] a = `ifdef SUBNORMAL_AS_ZERO {half_i[15], half_i[14:10] != 0 ? half_i[14:0] : 15'h0} `else half_i `endif;
  wire sign = a[15], nan = a[14:0] > 15'h7c00, infinite = a[14:0] == 15'h7c00;
  wire guard = a[7], sticky = `ifdef STICKY_LOST 1'b0 `else |a[6:0] `endif;
  wire up = `ifdef TRUNCATES 1'b0 `elsif TIES_AWAY guard `else guard & (sticky | a[8]) `endif;
  wire [7:0] once = a[14:7] + {7'h0, a[6] & (|a[5:0] | a[7])};
  wire [6:0] r = `ifdef ROUNDS_TWICE once[7:1] + {6'h0, once[0] & once[1]} `else a[14:8] + {6'h0, up} `endif;
  wire over = r >= 7'h7c && !infinite;
  wire [6:0] finite = `ifdef OVERFLOW_WRAPS over ? r & 7'h3 : r `elsif OVERFLOW_SATURATES over ? 7'h7b : r
    `elsif SUBNORMAL_FLUSHED r[6:2] == 0 ? 7'h0 : r `elsif CARRY_LOST {a[14:10], a[9:8] + {1'b0, up}} `else r `endif;
  wire zero_sign = `ifdef SIGN_OF_ZERO_LOST (finite != 0) & sign `else sign `endif;
  assign d_o = nan ? `ifdef PAYLOAD_LOST {sign, 7'h7e} `else {sign, 5'h1f, 1'b1, a[8]} `endif
             : infinite ? {sign, 7'h7c} : {zero_sign, finite};
  wire inexact = !nan & !infinite & (|a[7:0]), tiny = a[14:10] == 0 & !(&a[9:6]);
  assign flags_o = {`ifdef NV_OF_EVERY_NAN nan `else nan & !a[9] `endif, 1'b0, over & !nan,
                    inexact & `ifdef TINY_BEFORE a[14:10] == 0 `else tiny `endif, inexact | (over & !nan)};
endmodule
"""

WRONG = (
    "SUBNORMAL_AS_ZERO", "STICKY_LOST", "TRUNCATES", "TIES_AWAY", "ROUNDS_TWICE", "OVERFLOW_WRAPS",
    "OVERFLOW_SATURATES", "SUBNORMAL_FLUSHED", "CARRY_LOST", "SIGN_OF_ZERO_LOST", "PAYLOAD_LOST",
)  # fmt: skip
"""Faults of d, by macro."""

WRONG_FLAGS = ("NV_OF_EVERY_NAN", "TINY_BEFORE")

FLAGS = {"flags_o": ["NX", "UF", "OF", "DZ", "NV"]}


def converter(folder: Path, *macros: str) -> Dut:
    (folder / "design.sv").write_text(TEXT, encoding="utf-8")
    table = {
        "sources": ["design.sv"], "top": "half_to_e5m2", "ports": {"a": "half_i", "d": "d_o"}, "flags": FLAGS,
        "defines": dict.fromkeys(macros, ""), "compare": {"nan": "unit"},
    }  # fmt: skip
    return dut_from_table(table, folder)


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["cocotb", "volume"])
def test_right_converter_passes(tmp_path: Path, mode: str) -> None:
    report = cosim.run(UNIT, dut=converter(tmp_path), vectors=2000 if mode == "cocotb" else 40_000, mode=mode)
    assert report.failures == ()
    assert report.not_compared == ()


@pytest.mark.simulator
@pytest.mark.costly
@pytest.mark.attack("dut")
@pytest.mark.parametrize("macro", [*WRONG, *WRONG_FLAGS])
def test_wrong_converter_is_noticed(tmp_path: Path, macro: str) -> None:
    report = cosim.run(UNIT, dut=converter(tmp_path, macro), vectors=2000)
    assert "results differ from the golden model" in report.failures[0]
    assert {row.products for row in report.differing} >= ({"flags flags_o"} if macro in WRONG_FLAGS else {""})


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.attack("dut")
@pytest.mark.parametrize("macro", ["", *WRONG, *WRONG_FLAGS])
def test_converter_is_proved_or_refuted(tmp_path: Path, macro: str) -> None:
    found = prove_user_design(UNIT, converter(tmp_path, *([macro] if macro else [])), seconds=300)
    assert found.verdict == (REFUTED if macro else PROVED), found.reason


@pytest.mark.simulator
@pytest.mark.slow
def test_the_flags_of_a_generated_converter_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = Unit(name="u", operation=CVT(a="bf16", rho="RU-FP16", flags=True, tininess="before"))  # type: ignore[arg-type]
    assert cosim.run(unit, vectors=600).passed
    wrong = to_verilog(unit, "unit").replace("assign flags[3:0] = { 1'h0,", "assign flags[3:0] = { 1'h1,")
    assert wrong != to_verilog(unit, "unit")
    monkeypatch.setattr("cosim.dut.generated.to_verilog", lambda *of: wrong)
    assert {row.products for row in cosim.run(unit, vectors=600).differing} == {"flags flags"}
