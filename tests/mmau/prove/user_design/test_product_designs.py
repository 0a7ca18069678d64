"""Dot products of several transfers, and matrices, are proved element by element over all of their steps."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cosim.dut.description import Dut, dut_from_table, load_dut
from golden import Unit, load_unit
from golden.operations import IDPA
from mmau.cli.main import main
from mmau.prove.decision import PROVED, REFUTED
from mmau.prove.user_design.proof import decided_by_solvers, prove_user_design
from rtl.verilog.emit import to_verilog
from tests.cosim.dut.sequence_designs import SEQUENCES

pytestmark = pytest.mark.slow


def described(folder: Path, name: str, fault: str | None = None) -> tuple[Unit, Dut]:
    """A design of two transfers to a dot product, or a copy with a fault."""
    design = SEQUENCES[name]
    design = replace(design, described=re.sub(r"count = \{.*\}", "count = 2", design.described))
    for file, text in design.files(fault).items():
        (folder / file).write_text(text, encoding="utf-8")
    return load_unit(folder / "unit.toml"), load_dut(folder / "dut.toml")


@pytest.mark.parametrize("name", ["first and last", "start and done"])
def test_right_sum_is_proved(name: str, tmp_path: Path) -> None:
    found = decided_by_solvers(*described(tmp_path, name), 300)
    assert found.verdict == PROVED, found.reason


@pytest.mark.simulator
@pytest.mark.attack("dut")
@pytest.mark.parametrize(
    ("name", "fault"), [("first and last", "the accumulator is stale"), ("a matrix", "rows are swapped")]
)
def test_wrong_design_is_refuted(name: str, fault: str, tmp_path: Path) -> None:
    assert prove_user_design(*described(tmp_path, name, fault), 300).verdict == REFUTED


@pytest.mark.simulator
@pytest.mark.attack("dut")
def test_a_design_that_takes_a_transfer_in_a_gap_is_not_proved(tmp_path: Path) -> None:
    found = decided_by_solvers(*described(tmp_path, "first and last", "a transfer is taken in a gap"), 300)
    assert found.reason.startswith("its handshake: a result depends on other operands than its own")


def test_transfers_of_a_design_without_valid_come_without_pauses(tmp_path: Path) -> None:
    text = """module steady(input clk, rst, input signed [7:0] a, b, input first, output reg signed [31:0] d);
  always @(posedge clk) d <= rst ? 32'd0 : (first ? 32'd0 : d) + 32'(a) * 32'(b);
endmodule
"""
    (tmp_path / "steady.sv").write_text(text, encoding="utf-8")
    table = {
        "top": "steady", "sources": ["steady.sv"], "clock": "clk", "protocol": "fixed-latency", "latency": 1,
        "reset": {"name": "rst"}, "operands": {"c": "none"}, "beats": {"count": 3, "first": "first"},
    }  # fmt: skip
    unit = Unit(name="steady", operation=IDPA(a="int8", b="int8", c="int32", L=1))  # type: ignore[arg-type]
    found = decided_by_solvers(unit, dut_from_table(table, tmp_path), 100)
    assert (found.verdict, found.reason) == (PROVED, "")


CARRY_SAVE = """module add(input x, y, z, output s, c);
  assign s = x ^ y ^ z, c = x & y | y & z | z & x;
endmodule
module kept(input clk, rst, en, first, last, input signed [7:0] a0, a1, b0, b1, input [31:0] c, output [31:0] d);
  reg [31:0] s, k;
  wire signed [31:0] p = a0 * b0, q = a1 * b1;
  wire [31:0] s0 = first ? c : s, k0 = first ? 0 : k, s1, k1, s2, k2;
  genvar i;
  for (i = 0; i < 32; i = i + 1) begin : place
    add one(s0[i], k0[i], p[i], s1[i], k1[i]), other(s1[i], i > 0 ? k1[i - 1] : 1'b0, q[i], s2[i], k2[i]);
  end
  always @(posedge clk) if (en) {s, k} <= {s2, KEPT};
  assign d = s + k;
endmodule
"""
"""An accumulator in carry-save form: full adders place by place, and one adder behind the registers."""


@pytest.mark.parametrize(
    ("kept", "verdict"),
    [("k2 << 1", PROVED), pytest.param("(k2 & ~4096) << 1", REFUTED, marks=[pytest.mark.simulator, pytest.mark.costly])],
)
def test_accumulator_in_carry_save_form(kept: str, verdict: str, tmp_path: Path) -> None:
    (tmp_path / "kept.sv").write_text(CARRY_SAVE.replace("KEPT", kept), encoding="utf-8")
    unit = Unit(name="kept", operation=IDPA(a="int8", b="int8", c="int32", L=2, overflow="wrap"))  # type: ignore[arg-type]
    table = {
        "top": "kept", "sources": ["kept.sv"], "clock": "clk", "reset": {"name": "rst"}, "protocol": "fixed-latency",
        "latency": 1, "beats": {"count": 4, "first": "first", "last": "last"},
        "ports": {"in_valid": "en", "a": ["a0", "a1"], "b": ["b0", "b1"]},
    }  # fmt: skip
    found = decided_by_solvers(unit, dut_from_table(table, tmp_path), 300)
    assert found.verdict == verdict, found.reason


CHOSEN = """module chosen(input [7:0] a, b, input [31:0] c, input sat_i, input [2:0] tag_i,
  output [31:0] d, output [2:0] tag_o);
  function automatic [31:0] add(input signed [31:0] s, input signed [3:0] x, y, input sat);
    logic signed [32:0] t;
    t = 33'(s) + 33'(x) * 33'(y);
    add = sat && t[32] != t[31] ? {t[32], {31{~t[32]}}} : t[31:0];
  endfunction
  assign d = add(add(c, a[3:0], b[3:0], sat_i), a[7:4], b[7:4], LAST), tag_o = tag_i;
endmodule
"""
"""Two steps, whose sums wrap around or saturate."""


@pytest.mark.parametrize(
    ("last", "verdict"),
    [("sat_i", PROVED), pytest.param("1'b0", REFUTED, marks=[pytest.mark.simulator, pytest.mark.costly])],
)
def test_each_choice_of_several_steps(last: str, verdict: str, tmp_path: Path) -> None:
    (tmp_path / "chosen.sv").write_text(CHOSEN.replace("LAST", last), encoding="utf-8")
    unit = Unit(name="chosen", operation=IDPA(a="int4", b="int4", c="int32", L=1, overflow="wrap"))  # type: ignore[arg-type]
    table = {
        "top": "chosen", "sources": ["chosen.sv"], "products": 2, "echo": {"tag_o": "tag_i"},
        "controls": {"sat_i": {"key": "overflow", "values": {"0": "wrap", "1": "saturate"}}},
    }  # fmt: skip
    found = decided_by_solvers(unit, dut_from_table(table, tmp_path), 300)
    assert found.verdict == verdict, found.reason
    if verdict == PROVED:
        named = {line.partition(":")[0] for line in found.decided}
        assert named == {"sat_i = 0 (overflow = wrap)", "sat_i = 1 (overflow = saturate)", "tag_o"}


COLUMN = """module column(input [15:0] a, input [7:0] b, input [63:0] c, output [63:0] d);
  wire signed [31:0] a00 = $signed(a[3:0]), a01 = $signed(a[7:4]), a10 = $signed(a[11:8]), a11 = $signed(a[15:12]);
  wire signed [31:0] b0 = $signed(b[3:0]), b1 = $signed(b[7:4]);
  assign d = {c[63:32] + FIRST * b0 + a11 * b1, c[31:0] + a00 * b0 + a01 * b1};
endmodule
"""
"""Two rows of A, of two elements, with one column of B."""


@pytest.mark.parametrize(("first", "verdict"), [("a10", PROVED), pytest.param("a00", REFUTED, marks=pytest.mark.simulator)])
def test_elements_of_several_steps(first: str, verdict: str, tmp_path: Path) -> None:
    (tmp_path / "column.v").write_text(COLUMN.replace("FIRST", first), encoding="utf-8")
    unit = Unit(name="column", operation=IDPA(a="int4", b="int4", c="int32", L=1, overflow="wrap"))  # type: ignore[arg-type]
    table = {
        "top": "column", "sources": ["column.v"], "products": 2, "matrix": {"rows": 2, "columns": 1},
        "verilator_args": ["-Wno-WIDTHEXPAND"],
    }  # fmt: skip
    found = decided_by_solvers(unit, dut_from_table(table, tmp_path), 300)
    assert found.verdict == verdict, found.reason
    if verdict == PROVED:
        assert {line.partition(":")[0] for line in found.decided} == {"element [0][0]", "element [1][0]"}


MASKED = """module masked(input [7:0] a, b, input [31:0] c, input [1:0] mask_i, output [31:0] d);
  wire signed [31:0] a0 = $signed(a[3:0]), a1 = $signed(a[7:4]), b0 = $signed(b[3:0]), b1 = $signed(b[7:4]);
  assign d = c + (FIRST ? a0 * b0 : 0) + (SECOND ? a1 * b1 : 0);
endmodule
"""


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("mask_i[0]", "mask_i[1]", PROVED),
        pytest.param("mask_i[1]", "mask_i[0]", REFUTED, marks=[pytest.mark.simulator, pytest.mark.costly]),
        pytest.param("mask_i[0]", "1'b1", REFUTED, marks=[pytest.mark.simulator, pytest.mark.costly]),
    ],
)
def test_mask_of_several_steps(first: str, second: str, verdict: str, tmp_path: Path) -> None:
    (tmp_path / "masked.v").write_text(MASKED.replace("FIRST", first).replace("SECOND", second), encoding="utf-8")
    unit = Unit(name="masked", operation=IDPA(a="int4", b="int4", c="int32", L=1, overflow="wrap"))  # type: ignore[arg-type]
    table = {
        "top": "masked", "sources": ["masked.v"], "products": 2, "controls": {"mask_i": {"key": "mask"}},
        "verilator_args": ["-Wno-WIDTHEXPAND"],
    }  # fmt: skip
    found = decided_by_solvers(unit, dut_from_table(table, tmp_path), 300)
    assert found.verdict == verdict, found.reason


FLAGGED = """module flagged(input [11:0] a, b, input [5:0] c, output [5:0] d, output [4:0] flags_o);
  wire [5:0] sum;
  wire [4:0] of_first, of_last;
  fma f0(.a(a[5:0]), .b(b[5:0]), .c(c), .d(sum), .flags(of_first));
  fma f1(.a(a[11:6]), .b(b[11:6]), .c(sum), .d(d), .flags(of_last));
  assign flags_o = RAISED;
endmodule
"""
"""Two multiply-adds, one after the other, and what they raise together."""

TINY = """name = "tiny"
operation = "FMA"
a = "tiny"
b = "tiny"
c = "tiny"
rho = "RNE-tiny"
flags = true

[formats.tiny]
exp_bits = 3
man_bits = 2
bias = 3
specials = "ieee"
"""


@pytest.mark.parametrize(
    ("raised", "verdict"),
    [
        ("of_first | of_last", PROVED),
        pytest.param("of_last", REFUTED, marks=[pytest.mark.simulator, pytest.mark.costly]),
        pytest.param("of_first | of_last & 5'b11101", REFUTED, marks=[pytest.mark.simulator, pytest.mark.costly]),
    ],
)
def test_flags_of_several_steps(raised: str, verdict: str, tmp_path: Path) -> None:
    (tmp_path / "unit.toml").write_text(TINY, encoding="utf-8")
    unit = load_unit(tmp_path / "unit.toml")
    text = FLAGGED.replace("RAISED", raised) + to_verilog(unit, "fma")
    (tmp_path / "flagged.v").write_text(text, encoding="utf-8")
    names = ["NX", "UF", "OF", "DZ", "NV"]
    table = {"top": "flagged", "sources": ["flagged.v"], "products": 2, "flags": {"flags_o": names}}
    found = decided_by_solvers(unit, dut_from_table(table, tmp_path), 300)
    assert found.verdict == verdict, found.reason
    if verdict == PROVED:
        assert any(line.startswith("flags_o") for line in found.decided), found.decided


FLAGGED_COLUMN = """module flagged(input [11:0] a, input [5:0] b, input [11:0] c, output [11:0] d, output [4:0] flags_o);
  wire [4:0] of_first, of_last;
  fma f0(.a(a[5:0]), .b(b), .c(c[5:0]), .d(d[5:0]), .flags(of_first));
  fma f1(.a(a[11:6]), .b(b), .c(c[11:6]), .d(d[11:6]), .flags(of_last));
  assign flags_o = RAISED;
endmodule
"""


@pytest.mark.parametrize(
    ("raised", "verdict"),
    [
        ("of_first | of_last", PROVED),
        pytest.param("of_first", REFUTED, marks=[pytest.mark.simulator, pytest.mark.costly]),
    ],
)
def test_flags_of_a_matrix(raised: str, verdict: str, tmp_path: Path) -> None:
    (tmp_path / "unit.toml").write_text(TINY, encoding="utf-8")
    unit = load_unit(tmp_path / "unit.toml")
    text = FLAGGED_COLUMN.replace("RAISED", raised) + to_verilog(unit, "fma")
    (tmp_path / "flagged.v").write_text(text, encoding="utf-8")
    table = {
        "top": "flagged", "sources": ["flagged.v"], "matrix": {"rows": 2, "columns": 1},
        "flags": {"flags_o": ["NX", "UF", "OF", "DZ", "NV"]},
    }  # fmt: skip
    found = decided_by_solvers(unit, dut_from_table(table, tmp_path), 300)
    assert found.verdict == verdict, found.reason


LAST_FLAGS = """module last_flags(input clk, rst_n, input [5:0] a, b, c, input in_valid, first, last,
  output reg out_valid, output reg [5:0] d, output reg [4:0] flags_o);
  wire [5:0] sum;
  wire [4:0] raised;
  fma f0(.a(a), .b(b), .c(first ? c : d), .d(sum), .flags(raised));
  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin out_valid <= 0; d <= 0; flags_o <= 0; end
    else begin
      out_valid <= in_valid & last;
      if (in_valid) begin d <= sum; flags_o <= RAISED; end
    end
endmodule
"""


@pytest.mark.parametrize(
    ("raised", "verdict"),
    [
        ("raised", PROVED),
        pytest.param("first ? raised : raised | flags_o", REFUTED, marks=[pytest.mark.simulator, pytest.mark.costly]),
    ],
)
def test_flags_of_the_last_step(raised: str, verdict: str, tmp_path: Path) -> None:
    (tmp_path / "unit.toml").write_text(TINY, encoding="utf-8")
    unit = load_unit(tmp_path / "unit.toml")
    text = LAST_FLAGS.replace("RAISED", raised) + to_verilog(unit, "fma")
    (tmp_path / "last_flags.v").write_text(text, encoding="utf-8")
    table = {
        "top": "last_flags", "sources": ["last_flags.v"], "clock": "clk", "protocol": "valid",
        "reset": {"name": "rst_n", "active": "low", "asynchronous": True},
        "beats": {"count": 2, "first": "first", "last": "last", "flags": "last"},
        "flags": {"flags_o": ["NX", "UF", "OF", "DZ", "NV"]},
    }  # fmt: skip
    found = decided_by_solvers(unit, dut_from_table(table, tmp_path), 300)
    assert found.verdict == verdict, found.reason


def test_several_lengths_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file, text in SEQUENCES["first and last"].files().items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    assert main(["prove", "--unit", str(tmp_path / "unit.toml"), "--dut", str(tmp_path / "dut.toml")]) == 2
    assert "[beats] count must be one number for a proof; mmau cosim draws the others" in capsys.readouterr().err
