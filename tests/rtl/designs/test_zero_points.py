"""Circuits of integers with zero points: co-simulated in both modes, and proved; wrong ones are seen; designs of users."""

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
from tests.golden.units.test_zero_points import ZERO_A, ZERO_B, unit

BLOCKS: dict[str, Any] = {"a": "e2m1", "F": 10}
SIGNED = BLOCKS | {"b": "int4", "scale": "ue8m0"}


def design(kind: str = "blocks", stages: int = 0, **changed: Any) -> ControlledDesign:
    given = SIGNED | changed if kind == "blocks" else changed
    return ControlledDesign.of(replace(unit(kind, **given), implementation=Implementation(stages=stages)))


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "stages", "changed"), [
    ("blocks", 2, {}), ("blocks", 0, {"b": "uint3"}), ("IDPA", 1, {"L": 2, "a": "int4", "b": "uint3"}),
])  # fmt: skip
def test_circuit_is_the_unit(kind: str, stages: int, changed: dict[str, Any]) -> None:
    """Co-simulated, and proved for every input; two blocks in a step have zero points of their own."""
    of = design(kind, stages, **changed)
    assert cosim.run(of, vectors=600).failures == ()
    assert prove(of, 600.0).verdict == PROVED


@pytest.mark.simulator
@pytest.mark.slow
def test_text_cost_and_ports(tmp_path: Path) -> None:
    """Cells simulated as gates give the unit's results; every reader takes the text."""
    of = design("tensor", L=2, a="e2m1", b="int3", F=6)
    assert write_and_lint(of, tmp_path, readers()) == {}
    (zeros,) = (port for port in design().ports if port.name == "zb")
    assert (zeros.width, zeros.count, zeros.meaning) == (8, 2, "zero points of b: int4")


WRONG = {
    "the zero point of the other block": (r"zb\[7:4\]", "zb[3:0]"),
    "added": (r"(\$signed\(b\[11:8\]\)) - ", r"\1 + "),
    "without its sign": (r"(\$signed\(b\[7:4\]\)) - \$signed\(zb\[3:0\]\)", r"\1 - $signed({1'b0, zb[3:0]})"),
}
"""What is wrong with a circuit: a text and what stands in its place."""


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.attack("generator")
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_circuit_is_noticed_and_refuted(tmp_path: Path, wrong: str) -> None:
    of = design()
    verilog, count = re.subn(*WRONG[wrong], to_verilog(of, "unit"))
    assert count
    (tmp_path / "wrong.v").write_text(verilog)
    report = cosim.run(of, vectors=400, dut=cosim.dut_like(of, [tmp_path / "wrong.v"], "unit"))
    assert any(re.fullmatch(r"\d[\d,]* of 400 results differ from the golden model", each) for each in report.failures)
    assert len(report.differing[0].ports["zb"]) == 2
    assert REFUTED in dict(answered(pipeline_questions(of, verilog), time.monotonic() + 600)).values()


@pytest.mark.simulator
@pytest.mark.costly
def test_circuit_in_volume(tmp_path: Path) -> None:
    """The rows after the first 20,000 are of other seeds, drawn like those before."""
    of = design()
    report = cosim.run(of, vectors=40_000, mode="volume")
    assert (report.failures, report.received) == ((), 40_000)
    (tmp_path / "wrong.v").write_text(re.sub(*WRONG["added"], to_verilog(of, "unit")))
    report = cosim.run(of, vectors=30_000, mode="volume", dut=cosim.dut_like(of, [tmp_path / "wrong.v"], "unit"))
    assert not report.passed
    assert any(row.vector >= 20_000 for row in report.differing)


def test_records_tell_units_with_zero_points() -> None:
    """Those of one side from those of the other, of signed elements from unsigned ones, and from none."""
    digests = [
        specification_digest(design("IDPA", L=1, a=a, b=b, controls=controls))
        for a, b in (("int4", "int4"), ("uint4", "uint4"), ("int5", "int5"))
        for controls in (ZERO_A, ZERO_B, {"m": {"key": "mask"}})
    ]
    assert len({*digests}) == len(digests)


TEXT = """
module quantised(input [15:0] a, input [15:0] b, input [7:0] zb, input [63:0] c, output [63:0] d);
  for (genvar r = 0; r < 2; r++) begin : result
    wire signed [4:0] z = {1'b0, zb[4*r +: 4]};
    wire signed [4:0] y0 = {1'b0, b[8*r +: 4]} - z, y1 = {1'b0, b[8*r + 4 +: 4]} `ifdef WRONG + `else - `endif z;
    wire signed [3:0] x0 = a[8*r +: 4], x1 = a[8*r + 4 +: 4];
    assign d[32*r +: 32] = c[32*r +: 32] + 32'(x0) * 32'(y0) + 32'(x1) * 32'(y1);
  end
endmodule
"""
PLAIN = replace(unit("IDPA", L=2, a="int4", b="uint4"), controls=())


def quantised(folder: Path, *macros: str, port: str = "zb") -> Dut:
    """A design of two results at once, each with a zero point of its own."""
    (folder / "quantised.sv").write_text(TEXT)
    table = {
        "top": "quantised", "sources": ["quantised.sv"], "protocol": "combinational", "results": 2,
        "defines": dict.fromkeys(macros, ""), "controls": {port: {"key": "zero_b"}},
    }  # fmt: skip
    return dut_from_table(table, folder)


@pytest.mark.simulator
@pytest.mark.slow
def test_designs_of_users(tmp_path: Path) -> None:
    assert cosim.run(PLAIN, dut=quantised(tmp_path), vectors=300).failures == ()
    assert not cosim.run(PLAIN, dut=quantised(tmp_path, "WRONG"), vectors=300).passed
    with pytest.raises(PortMismatch, match=r"\[controls\] zb_3_0 must have the zero points of each result, 8; it has 4"):
        cosim.run(PLAIN, dut=quantised(tmp_path, port="zb[3:0]"), vectors=10)


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.attack("proof")
def test_design_of_a_user_is_proved(tmp_path: Path) -> None:
    found = prove_user_design(PLAIN, quantised(tmp_path), 300.0)
    assert (found.verdict, found.reason) == (PROVED, "")
    assert prove_user_design(PLAIN, quantised(tmp_path, "WRONG"), 300.0).verdict == REFUTED
