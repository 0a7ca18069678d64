"""Designs in which inputs choose the arithmetic and outputs return an input; a macro makes each of them wrong in one way."""

from ast import literal_eval
from dataclasses import replace
from pathlib import Path
from typing import Any

from cosim.dut.description import Dut, dut_from_table
from golden import Unit
from golden.arithmetic.flags import FLAGS
from golden.operations import FMA, IDPA, TFDPA
from golden.units.unit_file import unit_from_table
from rtl.verilog.emit import to_verilog

MODES = ("RNE", "RZ")
FORMATS = ("fp16", "bf16")
SMALL_FORMATS = ("e5m2", "e4m3ieee")

BASE = unit_from_table({"name": "chosen", "operation": "FMA", "a": "fp16", "b": "fp16", "c": "fp16"})
SMALL = unit_from_table({"name": "chosen", "operation": "FMA", "a": "e5m2", "b": "e5m2", "c": "e5m2"})

CONTROLS = {
    "rm_i": {"key": "rho", "values": {"0": "RNE-FP16", "modes::TO_ZERO": "RZ-FP16"}},
    "op_i[1:0]": {
        "key": "operation",
        "values": {"0": "FMA", "1": {"c": "-c"}, "2": {"operation": "ADD", "a": "b", "b": "c"}, "0b11": "MUL"},
    },
    "fmt_i": {"key": "formats", "values": {"0": "fp16", "1": "bf16"}},
}

TEXT = """
package modes; localparam logic TO_ZERO = 1'b1; endpackage
module chosen(
  input clk, rst_n, in_valid, input [15:0] a, b, c, input rm_i, input [2:0] op_i, input fmt_i, input [7:0] tag_i,
  output out_valid, output [15:0] d, output [7:0] tag_o, output [4:0] status_o);
  logic v, rm, fmt; logic [2:0] op; logic [15:0] ra, rb, rc; logic [7:0] tag;
  always_ff @(posedge clk or negedge rst_n) if (!rst_n) v <= 0; else v <= in_valid;
  always_ff @(posedge clk) if (in_valid) {rm, op, fmt, ra, rb, rc, tag} <= {rm_i, op_i, fmt_i, a, b, c, tag_i};
  wire [15:0] one = fmt ? 16'h3f80 : 16'h3c00;
  wire mode = `ifdef MODE_OF_THE_NEXT rm_i `else rm `endif, kind = `ifdef FORMAT_HELD 1'b0 `else fmt `endif;
  wire [15:0] x = op[1:0] == 2 ? one : ra;
  wire [15:0] z = op[1:0] == 1 ? `ifdef NOT_NEGATED rc `else rc ^ 16'h8000 `endif :
                  op[1:0] == 3 ? `ifdef PLUS_ZERO 16'h0000 `else 16'h8000 ^ {~(ra[15] ^ rb[15]), 15'd0} `endif : rc;
  wire [15:0] d_0_0, d_0_1, d_1_0, d_1_1;
  wire [4:0] f_0_0, f_0_1, f_1_0, f_1_1;
  fma_0_0 u00(.a(x), .b(rb), .c(z), .d(d_0_0), .flags(f_0_0)); fma_0_1 u01(.a(x), .b(rb), .c(z), .d(d_0_1), .flags(f_0_1));
  fma_1_0 u10(.a(x), .b(rb), .c(z), .d(d_1_0), .flags(f_1_0)); fma_1_1 u11(.a(x), .b(rb), .c(z), .d(d_1_1), .flags(f_1_1));
  assign d = kind ? (mode ? d_1_1 : d_1_0) : (mode ? d_0_1 : d_0_0);
  wire [4:0] raised = kind ? (mode ? f_1_1 : f_1_0) : (mode ? f_0_1 : f_0_0);
  assign status_o = `ifdef FLAGS_OF_A_SUM op[1:0] == 2 ? raised & 5'h1e : raised `else raised `endif;
  assign tag_o = `ifdef TAG_OF_THE_NEXT tag_i `else tag `endif;
  assign out_valid = v;
endmodule
"""

WRONG = ("MODE_OF_THE_NEXT", "FORMAT_HELD", "NOT_NEGATED", "PLUS_ZERO", "TAG_OF_THE_NEXT", "FLAGS_OF_A_SUM")

LANES = Unit(name="lanes", operation=TFDPA(a="e2m1", b="e2m1", c="fp16", L=2, F=14, rho="RZ-FP16", e_zero=-20))  # type: ignore[arg-type]

MASKED = """
module masked(
  input clk, rst_n, in_valid, input [7:0] a, b, input [15:0] c, input [1:0] mask_i, input rm_i, neg_i,
  output out_valid, output [15:0] d, output [1:0] mask_o);
  logic v, rm, neg; logic [7:0] ra, rb; logic [15:0] rc, d_0, d_1; logic [1:0] mask;
  always_ff @(posedge clk or negedge rst_n) if (!rst_n) v <= 0; else v <= in_valid;
  always_ff @(posedge clk) if (in_valid) {ra, rb, rc, mask, rm, neg} <= {a, b, c, mask_i, rm_i, neg_i};
  wire [7:0] keep = {{4{mask[1]}}, {4{mask[0]}}};
  wire [15:0] z = {rc[15] ^ `ifdef NEVER_NEGATED 1'b0 `else neg `endif, rc[14:0]};
  lanes_0 u0(.a(ra & keep), .b(rb), .c(z), .d(d_0)); lanes_1 u1(.a(ra & keep), .b(rb), .c(z), .d(d_1));
  wire rare = `ifdef RARE {neg, mask, ra, rb, rc} == {3'd7, 32'h35523a5c} `else 1'b0 `endif;
  assign d = `ifdef MODE_OF_THE_NEXT rm_i `else rm `endif ? d_1 ^ {15'd0, rare} : d_0;
  assign mask_o = `ifdef MASK_SWAPPED {mask[0], mask[1]} `else mask `endif;
  assign out_valid = v;
endmodule
"""

WRONG_LANES = ("MODE_OF_THE_NEXT", "NEVER_NEGATED", "MASK_SWAPPED", "MASK_UNREAD")


PAIR = Unit(name="pair", operation=IDPA(a="int8", b="int8", c="int32", L=2))  # type: ignore[arg-type]

VHDL = """library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;
entity Pair is port (clk : in std_logic; A, B : in signed(15 downto 0); c : in signed(31 downto 0);
  Mask_i : in std_logic_vector(1 downto 0); tag_i : in std_logic; Tag_o : out std_logic; d : out signed(31 downto 0));
end entity;
architecture rtl of Pair is
  function product(keep : std_logic; x, y : signed) return signed is
  begin if keep = '1' then return resize(x * y, 32); else return to_signed(0, 32); end if; end function;
begin
  process (clk) begin if rising_edge(clk) then
    d <= c + product(Mask_i(0), A(7 downto 0), B(7 downto 0)) + product(Mask_i(1), A(15 downto 8), B(15 downto 8));
    Tag_o <= tag_i;
  end if; end process;
end architecture;
"""


IN_8_BITS = {
    "[15:0]": "[7:0]", "16'h3f80 : 16'h3c00": "8'h38 : 8'h3c", "16'h8000": "8'h80", "16'h0000": "8'h00", "15'd0": "7'd0",
    "[15]": "[7]",
}  # fmt: skip


def chosen(folder: Path, *macros: str, small: bool = False, **keys: Any) -> Dut:
    """The design with rounding modes, operations, formats, flags and a tag; `keys` replace those of its description.

    Args:
        small: whether its formats have 8 bits.
    """
    text, controls = TEXT, str(CONTROLS)
    for wide, narrow in IN_8_BITS.items() if small else ():
        text = text.replace(wide, narrow)
    for wide, narrow in zip(FORMATS, SMALL_FORMATS, strict=True) if small else ():
        controls = controls.replace(wide, narrow).replace(wide.upper(), narrow.upper())
    parts = [text]
    for f, name in enumerate(SMALL_FORMATS if small else FORMATS):
        for m, mode in enumerate(MODES):
            operation = FMA(a=name, b=name, c=name, rho=f"{mode}-{name.upper()}", flags=True)  # type: ignore[arg-type]
            parts.append(to_verilog(Unit(name="u", operation=operation), f"fma_{f}_{m}"))
    table = {
        "top": "chosen", "sources": ["chosen.sv"], "protocol": "valid", "clock": "clk", "controls": literal_eval(controls),
        "flags": {"status_o": list(FLAGS)},
        "reset": {"name": "rst_n", "active": "low", "asynchronous": True}, "echo": {"tag_o": "tag_i"},
        "tie": {"op_i[2:2]": 0}, "defines": dict.fromkeys(macros, ""),
    }  # fmt: skip
    return _described(folder / "chosen.sv", "\n".join(parts), table | keys)


def masked(folder: Path, *macros: str, **keys: Any) -> Dut:
    """The design with a mask of its products, which it returns, two rounding modes and a negated c."""
    table = {
        "top": "masked", "sources": ["masked.sv"], "protocol": "valid", "clock": "clk",
        "reset": {"name": "rst_n", "active": "low", "asynchronous": True}, "echo": {"mask_o": "mask_i"},
        "controls": {
            "mask_i": {"key": "mask"}, "rm_i": {"key": "rho", "values": {"0": "RZ-FP16", "1": "RNE-FP16"}},
            "neg_i": {"key": "operation", "values": {"0": {}, "1": {"c": "-c"}}},
        }, "defines": dict.fromkeys(macros, ""),
    }  # fmt: skip
    modes = [replace(LANES, operation=LANES.operation.changed(rho=f"{mode}-FP16")) for mode in ("RZ", "RNE")]
    text = MASKED.replace("ra & keep", "`ifdef MASK_UNREAD ra `else ra & keep `endif")
    text += "".join(to_verilog(unit, f"lanes_{number}") for number, unit in enumerate(modes))
    return _described(folder / "masked.sv", text, table | keys)


def in_vhdl(folder: Path, text: str = VHDL) -> Dut:
    """The design in VHDL with a mask and a tag."""
    table = {
        "top": "Pair", "sources": ["pair.vhd"], "protocol": "fixed-latency", "latency": 1, "clock": "clk",
        "controls": {"Mask_i": {"key": "mask"}}, "echo": {"Tag_o": "tag_i"},
    }  # fmt: skip
    return _described(folder / "pair.vhd", text, table)


def _described(source: Path, text: str, table: dict[str, Any]) -> Dut:
    source.write_text(text, encoding="utf-8")
    return dut_from_table(table, source.parent)
