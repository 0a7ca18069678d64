"""Designs of users with an input of random bits: two results at once, in both modes, and proofs."""

from dataclasses import replace
from pathlib import Path

import pytest

import cosim
from cosim.dut.connection import PortMismatch
from cosim.dut.description import Dut, dut_from_table
from mmau.prove.decision import PROVED, REFUTED
from mmau.prove.user_design.proof import prove_user_design
from rtl import as_design, to_verilog
from tests.golden.units.test_random_bits import unit

TEXT = """
module rounded(input clk, rst_n, in_valid, input [7:0] a, b, input [7:0] c, input [5:0] rnd_i,
  output out_valid, output [7:0] d);
  logic v; logic [7:0] ra, rb; logic [7:0] rc; logic [5:0] rnd;
  always_ff @(posedge clk or negedge rst_n) if (!rst_n) v <= 0; else v <= in_valid;
  always_ff @(posedge clk) if (in_valid) {ra, rb, rc, rnd} <= {a, b, c, rnd_i};
  step u0(.a(ra[3:0]), .b(rb[3:0]), .c(rc[3:0]), .random(rnd[2:0]), .d(d[3:0]));
  step u1(.a(ra[7:4]), .b(rb[7:4]), .c(rc[7:4]),
          .random(`ifdef SHARED rnd[2:0] `elsif NEXT rnd_i[5:3] `else rnd[5:3] `endif), .d(d[7:4]));
  assign out_valid = v;
endmodule
"""


def rounded(folder: Path, *macros: str, bits: int = 3) -> Dut:
    """The design, around the generated datapath of one product."""
    generated = to_verilog(as_design(STEP), "step")
    (folder / "rounded.sv").write_text(TEXT + generated)
    table = {
        "top": "rounded", "sources": ["rounded.sv"], "protocol": "valid", "clock": "clk", "results": 2,
        "reset": {"name": "rst_n", "active": "low", "asynchronous": True}, "defines": dict.fromkeys(macros, ""),
        "controls": {"rnd_i": {"key": "random", "bits": bits}},
    }  # fmt: skip
    return dut_from_table(table, folder)


STEP = replace(unit("numbers"), operation=unit("numbers").operation.changed(L=1))
PLAIN = replace(STEP, controls=())
"""The unit without its random bits, which the description of the design adds."""


@pytest.mark.simulator
@pytest.mark.slow
def test_each_result_has_bits_of_its_own(tmp_path: Path) -> None:
    assert cosim.run(PLAIN, dut=rounded(tmp_path), vectors=600).failures == ()
    for macro in ("SHARED", "NEXT"):
        report = cosim.run(PLAIN, dut=rounded(tmp_path, macro), vectors=600)
        assert {row.place for row in report.differing} == {"result 1"}
        assert all(len(row.ports["rnd_i"]) == 1 for row in report.differing)
        assert report.explanation is None


@pytest.mark.simulator
@pytest.mark.costly
def test_native_code_draws_bits_too(tmp_path: Path) -> None:
    assert cosim.run(PLAIN, dut=rounded(tmp_path), vectors=30_000, mode="volume").failures == ()
    report = cosim.run(PLAIN, dut=rounded(tmp_path, "SHARED"), vectors=30_000, mode="volume")
    assert any(row.vector >= 20_000 for row in report.differing)
    assert {row.place for row in report.differing} == {"result 1"}


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.attack("proof")
def test_design_is_proved(tmp_path: Path) -> None:
    found = prove_user_design(PLAIN, rounded(tmp_path), 300.0)
    assert (found.verdict, found.reason) == (PROVED, "")
    for macro in ("SHARED", "NEXT"):
        assert prove_user_design(PLAIN, rounded(tmp_path, macro), 300.0).verdict == REFUTED


@pytest.mark.simulator
def test_input_has_the_bits_of_all_results(tmp_path: Path) -> None:
    message = r"\[controls\] rnd_i must have the random bits of each result, 8; it has 6"
    dut = rounded(tmp_path, bits=4)
    with pytest.raises(PortMismatch, match=message):
        cosim.run(PLAIN, dut=dut, vectors=10)
