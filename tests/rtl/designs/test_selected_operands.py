"""Circuits that select b by metadata: co-simulated in both modes, and proved; wrong ones are seen; and designs of users."""

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.dut.connection import PortMismatch
from cosim.dut.description import Dut, dut_from_table
from golden import Implementation
from mmau.prove import prove
from mmau.prove.decision import PROVED, REFUTED
from mmau.prove.design_proof import answered
from mmau.prove.pipeline.questions import pipeline_questions
from mmau.prove.proof_identity import specification_digest
from mmau.prove.user_design.proof import prove_user_design
from rtl import ControlledDesign, to_verilog
from rtl.verilog.lint import readers, write_and_lint
from tests.golden.units.test_selection import BOTH, unit


def design(kind: str = "T", stages: int = 0, **changed: object) -> ControlledDesign:
    return ControlledDesign.of(replace(unit(kind, **changed), implementation=Implementation(stages=stages)))


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "stages"), [("T", 2), ("PAIR", 1)])
def test_circuit_is_the_unit(kind: str, stages: int) -> None:
    """Co-simulated, and proved for every input."""
    of = design("IDPA", stages, L=2, a="int4", b="uint4") if kind == "PAIR" else design(kind, stages)
    assert cosim.run(of, vectors=800).failures == ()
    assert prove(of, 600.0).verdict == PROVED


@pytest.mark.simulator
@pytest.mark.slow
def test_circuit_with_a_mask_too(tmp_path: Path) -> None:
    of = design("E", controls=BOTH)
    assert cosim.run(of, vectors=400).failures == ()
    assert write_and_lint(of, tmp_path, readers()) == {}


@pytest.mark.simulator
@pytest.mark.slow
def test_mask_beside_block_scales() -> None:
    scaled: dict[str, Any] = {"operation": "ST-FDPA", "a": "e2m1", "b": "e2m1", "K_block": 2, "scale": "ue8m0"}
    of = design(**scaled, controls={"mask_i": {"key": "mask"}})
    assert cosim.run(of, vectors=400).failures == ()
    assert prove(of, 600.0).verdict == PROVED


WRONG = {
    "the first place is never 2": (0, r"meta_i\[1\] \? \S+ : ", ""),
    "the second place is never 1": (
        0,
        r"assign decode_y_1_code = meta_i\[3\] \? (\S+)\s+: \S+;",
        r"assign decode_y_1_code = \1 ;",
    ),
    "the code of the other group": (0, r"meta_i\[5\]", "meta_i[1]"),
    "a bit of the other place": (0, r"meta_i\[2\]", "meta_i[0]"),
    "an element of the other group": (0, r"meta_i\[7\] \? (\S+)\s+: b\[47:40\]", r"meta_i[7] ? \1 : b[15:8]"),
}
"""What is wrong with a circuit: its stages, a text and what stands in its place."""


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.attack("generator")
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_circuit_is_noticed_and_refuted(tmp_path: Path, wrong: str) -> None:
    stages, text, other = WRONG[wrong]
    of = design("T", stages)
    verilog, count = re.subn(text, other, to_verilog(of, "unit"))
    assert count == 1
    (tmp_path / "wrong.v").write_text(verilog)
    report = cosim.run(of, vectors=600, dut=cosim.dut_like(of, [tmp_path / "wrong.v"], "unit"))
    assert any(re.fullmatch(r"\d[\d,]* of 600 results differ from the golden model", each) for each in report.failures)
    row = report.differing[0]
    assert [
        row.ports["b"][4 * k + place] for k, code in enumerate(row.ports["meta_i"]) for place in (code & 3, code >> 2)
    ] == [*row.b]
    assert REFUTED in dict(answered(pipeline_questions(of, verilog), time.monotonic() + 600)).values()


@pytest.mark.simulator
@pytest.mark.costly
def test_circuit_in_volume(tmp_path: Path) -> None:
    """Native code draws the vectors after the first 20,000."""
    of = design()
    report = cosim.run(of, vectors=40_000, mode="volume")
    assert (report.failures, report.received) == ((), 40_000)
    _, text, other = WRONG["an element of the other group"]
    (tmp_path / "wrong.v").write_text(re.sub(text, other, to_verilog(of, "unit")))
    report = cosim.run(of, vectors=30_000, mode="volume", dut=cosim.dut_like(of, [tmp_path / "wrong.v"], "unit"))
    assert not report.passed
    assert any(row.vector >= 20_000 for row in report.differing)


def test_records_tell_sparse_units() -> None:
    dense = unit(controls={"mask_i": {"key": "mask"}})
    assert specification_digest(ControlledDesign.of(dense)) != specification_digest(design())


@pytest.mark.parametrize("name", ["metadata", "a", "d", "flags", "clk", "out_ready"])
def test_a_word_of_generated_circuits_is_no_input(name: str) -> None:
    """An input called a took the place of a, and one called clk that of the clock."""
    of = design(controls={name: {"key": "metadata"}})
    with pytest.raises(
        ValueError, match=rf"^u: \[controls\] {name} is a word of generated circuits: name the port {name}_i$"
    ):
        to_verilog(of, "unit")


TEXT = """
module sparse(input [15:0] a, input [31:0] b, input [63:0] c, input [7:0] meta_i, output [63:0] d);
  for (genvar r = 0; r < 2; r++) begin : result
    wire [1:0] p = meta_i[4*r +: 2], q = meta_i[4*r + 2 +: 2];
    wire [3:0] y0 = b[16*r + 4*p +: 4], y1 = `ifdef WRONG b[16*r + 4 + 8*q[1] +: 4] `else b[16*r + 4*q +: 4] `endif ;
    wire [3:0] x0 = a[8*r +: 4], x1 = a[8*r + 4 +: 4];
    assign d[32*r +: 32] = c[32*r +: 32] + 32'(signed'(x0)) * 32'(signed'(y0)) + 32'(signed'(x1)) * 32'(signed'(y1));
  end
endmodule
"""
PAIR = {"L": 2, "a": "int4", "b": "int4", "overflow": "wrap"}


def sparse(folder: Path, *macros: str, bits: str = "meta_i") -> Dut:
    """A design of four to one multiplexers and two results at once."""
    (folder / "sparse.sv").write_text(TEXT)
    table = {
        "top": "sparse", "sources": ["sparse.sv"], "protocol": "combinational", "results": 2,
        "defines": dict.fromkeys(macros, ""), "controls": {bits: {"key": "metadata"}},
    }  # fmt: skip
    return dut_from_table(table, folder)


PLAIN = replace(unit("IDPA", **PAIR), controls=())


@pytest.mark.simulator
@pytest.mark.slow
def test_designs_of_users(tmp_path: Path) -> None:
    """Each result has codes of its own."""
    assert cosim.run(PLAIN, dut=sparse(tmp_path), vectors=300).failures == ()
    report = cosim.run(PLAIN, dut=sparse(tmp_path, "WRONG"), vectors=300)
    assert not report.passed
    with pytest.raises(PortMismatch, match=r"\[controls\] meta_i_3_0 must have 2 bits for each product, 8; it has 4"):
        cosim.run(PLAIN, dut=sparse(tmp_path, bits="meta_i[3:0]"), vectors=10)


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.attack("proof")
def test_design_of_a_user_is_proved(tmp_path: Path) -> None:
    """Its multiplexers may do anything with codes that select nothing."""
    found = prove_user_design(PLAIN, sparse(tmp_path), 300.0)
    assert (found.verdict, found.reason) == (PROVED, "")
    assert prove_user_design(PLAIN, sparse(tmp_path, "WRONG"), 300.0).verdict == REFUTED
