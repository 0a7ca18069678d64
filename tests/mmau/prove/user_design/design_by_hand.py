"""The form of designs by hand that are wrong: text, ports, description, and the reason why nothing is decided."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cosim.dut.description import Dut, Reset
from golden import Unit
from golden.operations import IDPA
from tests.mmau.prove.provable_units import unit_of

PRODUCT: Unit = unit_of(IDPA(a="int8", b="int8", c="int32", L=1))  # type: ignore[arg-type]
"""The unit that every design claims to compute."""

RIGHT = "logic signed [31:0] r; assign r = signed'(c) + 32'(signed'(a)) * 32'(signed'(b));\n"
"""The right result."""

OPERANDS = "input logic [7:0] a, b, input logic [31:0] c, output logic [31:0] d"

HANDSHAKE = "input logic clk, rst, in_valid, out_ready, output logic in_ready, out_valid, "

VALID = "input logic clk, rst, in_valid, output logic out_valid, "


@dataclass(frozen=True)
class Wrong:
    """A wrong design.

    Attributes:
        body: of its module. says: a part of the reason why nothing is decided; empty where operands show a difference.
        ports: beside those of the operands. keys: of its description. beside: text before its module.
    """

    body: str
    says: str
    ports: str = ""
    keys: Mapping[str, Any] = field(default_factory=dict)
    beside: str = ""

    def described(self, folder: Path) -> Dut:
        """The design with its source in a folder."""
        source = folder / "mine.sv"
        text = f"{self.beside}\nmodule mine({self.ports}{OPERANDS});\n{RIGHT}{self.body}\nendmodule\n"
        source.write_text(text, encoding="utf-8")
        return replace(Dut(top="mine", sources=(source,)), **self.keys)


CLOCKED: Mapping[str, Any] = {"protocol": "fixed-latency", "latency": 1, "clock": "clk"}

RESET: Mapping[str, Any] = {**CLOCKED, "reset": Reset("rst")}


def clocked(body: str, says: str, ports: str = "input logic clk, ", beside: str = "", **keys: Any) -> Wrong:
    """A design with a result a cycle after its operands."""
    return Wrong(body, says, ports, {**CLOCKED, **keys}, beside)


def handshake(body: str, says: str) -> Wrong:
    """A design with valid and ready, and its result in a register d_q."""
    register = "logic [31:0] d_q; logic full; wire taken = in_valid && in_ready;\n"
    return Wrong(f"{register}{body}", says, HANDSHAKE, {"protocol": "valid-ready", "clock": "clk", "reset": Reset("rst")})


SHIFT = "always_ff @(posedge clk) d <= r;\n"

WHILE_F = "always_ff @(posedge clk) d <= f ? r : 32'd0;\n"

TAKE = "assign d = d_q; always_ff @(posedge clk) if (taken) d_q <= r;\n"

FULL = """always_ff @(posedge clk) if (rst) full <= 1'b0; else full <= taken || (full && !out_ready);
"""

LEAVES = FULL.replace("full && !out_ready", "full && !(out_valid && out_ready)")
