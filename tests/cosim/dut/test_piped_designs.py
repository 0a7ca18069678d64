"""A pipelined dot product whose mode comes too late, or whose sum forgets: with a held mode both pass."""

from pathlib import Path
from typing import Any

import pytest

import cosim
from golden import Unit
from golden.operations import TFDPA
from rtl.verilog.emit import to_verilog

UNIT = Unit(name="dot2", operation=TFDPA(a="fp16", b="fp16", c="fp32", L=2, F=24, rho="RZ-FP32", e_zero=-132))  # type: ignore[arg-type]

PIPED = """
module piped(input clk, rst_n, input [31:0] a, b, c, output [31:0] d, input in_valid, output out_valid, input mode_i);
  reg [31:0] ra, rb, rc, q1, q2, sum; reg v0, v1, v2, m0, m1, m2, open; wire [31:0] x;
  dot2 u(.a(ra), .b(rb), .c(rc), .d(x));
  always @(posedge clk or negedge rst_n)
    if (!rst_n) {v0, v1, v2, open} <= 0;
    else begin v0 <= in_valid; v1 <= ENDS; v2 <= v1; if (in_valid) open <= ~mode_i; end
  always @(posedge clk) begin
    ra <= a; rb <= b; rc <= STARTS; {m0, m1, m2} <= {mode_i, m0, m1}; q1 <= x; q2 <= q1; if (v0) sum <= x;
  end
  assign d = q2 ^ {SIGN, 31'd0}; assign out_valid = v2;
endmodule
"""

NEGATES = {"ENDS": "v0", "STARTS": "c", "SIGN": "m2"}
ADDS = {"ENDS": "v0 & m0", "STARTS": "open ? (v0 ? x : sum) : c", "SIGN": "1'b0"}

CONTROLS = {
    "controls": {"mode_i": {"key": "operation", "values": {"0": {}, "1": {"a": "-a", "c": "-c"}}}},
    "compare": {"nan": "any", "zero_sign": "ignore"},
}
BEATS = {"beats": {"count": {"from": 1, "to": 4}, "last": "mode_i"}}


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.needs("icarus")
@pytest.mark.attack("dut")
@pytest.mark.parametrize(
    ("text", "described", "passes"),
    [
        (NEGATES, CONTROLS, True),
        (NEGATES | {"SIGN": "mode_i"}, CONTROLS, False),
        (NEGATES | {"SIGN": "mode_i"}, {"tie": {"mode_i": 0}}, True),
        (ADDS, BEATS, True),
        (ADDS | {"STARTS": "c"}, BEATS, False),
        (ADDS | {"STARTS": "c"}, {"tie": {"mode_i": 1}}, True),
    ],
    ids=["mode", "mode too late", "held at 0", "sum", "forgotten sum", "sums of one"],
)
def test_mode_or_sum(text: dict[str, str], described: dict[str, Any], passes: bool, tmp_path: Path) -> None:
    verilog = PIPED
    for name, expression in text.items():
        verilog = verilog.replace(name, expression)
    (tmp_path / "piped.v").write_text(to_verilog(UNIT, "dot2") + verilog, encoding="utf-8")
    table = {
        "top": "piped", "sources": ["piped.v"], "protocol": "valid", "clock": "clk",
        "reset": {"name": "rst_n", "active": "low", "asynchronous": True},
    }  # fmt: skip
    report = cosim.run(UNIT, dut=cosim.dut_from_table(table | described, tmp_path), vectors=600, simulator="icarus")
    assert report.passed is passes
    assert dict(report.held) == described.get("tie", {})
