"""A design whose registers have an enable: nothing may change while it is low."""

import re
from pathlib import Path
from typing import Any

import pytest

import cosim
from golden import Unit
from golden.arithmetic.formats import E2M3, E3M2, FP32
from golden.operations import TFDPA
from rtl import to_verilog

pytestmark = pytest.mark.simulator

UNIT = Unit(name="unit", operation=TFDPA(a=E3M2, b=E2M3, c=FP32, L=2, F=25, rho="RZ-FP32", e_zero=-133))

REGISTERED = """
module registered #(parameter OPERANDS_ALWAYS = 0, parameter VALID_ALWAYS = 0, parameter STAGES_ALWAYS = 0) (
  input clk, input en, input in_valid, output reg out_valid,
  input [11:0] a, input [11:0] b, input [31:0] c, output reg [31:0] d
);
  reg [11:0] a_q, b_q;
  reg [31:0] c_q;
  reg valid_q;
  wire [31:0] sum;
  core core(.a(a_q), .b(b_q), .c(c_q), .d(sum));
  always @(posedge clk) begin
    if (en || OPERANDS_ALWAYS) begin a_q <= a; b_q <= b; c_q <= c; end
    if (en || VALID_ALWAYS) valid_q <= in_valid;
    if (en || STAGES_ALWAYS) begin d <= sum; out_valid <= valid_q; end
  end
endmodule
"""


def described(folder: Path, protocol: str, **parameters: int) -> cosim.Dut:
    (folder / "core.v").write_text(to_verilog(UNIT, "core"))
    (folder / "registered.v").write_text(REGISTERED)
    table: dict[str, Any] = {
        "top": "registered",
        "sources": ["core.v", "registered.v"],
        "verilator_args": ["-Wno-WIDTHTRUNC"],
        "protocol": protocol,
        "clock": "clk",
        "enable": "en",
        "parameters": parameters,
        "ports": {port: port for port in ("a", "b", "c", "d")},
    }
    if protocol == "fixed-latency":
        table |= {"latency": 2, "tie": {"in_valid": 1}}
    else:
        table["ports"] = {**table["ports"], "in_valid": "in_valid", "out_valid": "out_valid"}
    return cosim.dut_from_table(table, folder)


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["valid", "fixed-latency"])
def test_sound_design_passes(protocol: str, tmp_path: Path) -> None:
    report = cosim.run(UNIT, vectors=1000, seed=3, dut=described(tmp_path, protocol))
    assert (report.failures, report.sent, report.received) == ((), 1000, 1000)


@pytest.mark.parametrize(
    ("protocol", "ignored", "message"),
    [
        ("valid", "OPERANDS_ALWAYS", r"of [\d,]+ results differ"),
        pytest.param("valid", "VALID_ALWAYS", r"results came out|results differ", marks=pytest.mark.long),
        pytest.param(
            "valid", "STAGES_ALWAYS", r"^an output changed at a clock edge without enable$", marks=pytest.mark.long
        ),
        pytest.param("fixed-latency", "OPERANDS_ALWAYS", r"of [\d,]+ results differ", marks=pytest.mark.long),
    ],
)
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_register_without_the_enable_is_found(protocol: str, ignored: str, message: str, tmp_path: Path) -> None:
    report = cosim.run(UNIT, vectors=1000, seed=3, dut=described(tmp_path, protocol, **{ignored: 1}))
    assert any(re.search(message, failure) for failure in report.failures), report.failures


GIVES = """
module gives #(parameter FAULT = 0) (
  input clk, input rst, input en, input in_valid, output in_ready, output out_valid, input out_ready,
  input [11:0] a, input [11:0] b, input [31:0] c, output [31:0] d
);
  reg [11:0] a_q, b_q;
  reg [31:0] c_q;
  reg full, given;
  core core(.a(a_q), .b(b_q), .c(c_q), .d(d));
  assign in_ready = ~full | out_ready;
  assign out_valid = full;
  always @(posedge clk) begin
    given <= ~en & full & out_ready;
    if (rst) full <= 0;
    else if (en & in_ready) full <= in_valid;
    else if (FAULT == 1 & out_ready & ~in_valid) full <= 0;
    else if (FAULT == 2 & out_ready & given) full <= 0;
    if (en & in_ready & in_valid) begin a_q <= a; b_q <= b; c_q <= c; end
  end
endmodule
"""
"""A register with valid and ready, and two faults: a disabled design gives its result where no operands are offered, or
loses it where out_ready stays high."""


@pytest.mark.parametrize("mode", ["volume", pytest.param("cocotb", marks=pytest.mark.long)])
@pytest.mark.parametrize("fault", [0, 1, 2])
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_result_that_a_disabled_design_gives_is_found(fault: int, mode: str, tmp_path: Path) -> None:
    (tmp_path / "core.v").write_text(to_verilog(UNIT, "core"))
    (tmp_path / "gives.v").write_text(GIVES)
    ports = ("a", "b", "c", "d", "in_valid", "in_ready", "out_valid", "out_ready")
    table: dict[str, Any] = {
        "top": "gives", "sources": ["core.v", "gives.v"], "parameters": {"FAULT": fault}, "protocol": "valid-ready",
        "clock": "clk", "enable": "en", "reset": {"name": "rst"}, "ports": {port: port for port in ports},
    }  # fmt: skip
    report = cosim.run(UNIT, vectors=2000, seed=3, dut=cosim.dut_from_table(table, tmp_path), mode=mode)
    assert report.failures[:1] == (("an output changed at a clock edge without enable",) if fault else ())
