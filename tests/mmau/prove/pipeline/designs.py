"""Designs with registers that are proved in a moment, and faults of them."""

from functools import cache
from typing import Any

from golden import Implementation, Unit
from golden.units.unit import Array
from mmau.prove.pipeline.array_states import COMES_IN, GOES_ON, IS_READY, IS_RESULT, ON_TIME, STAYS_VALID
from mmau.prove.pipeline.pipeline_targets import combinational
from rtl.designs.sample_units import TILES, tile_designs
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.emit import to_verilog
from tests.mmau.prove.provable_units import SMALL


def piped(stages: int) -> UnitDesign:
    """A small unit with registers."""
    return UnitDesign(Unit(name="unit", operation=SMALL, implementation=Implementation(stages=stages)))


@cache
def small_tile() -> TileDesign:
    """Four elements, four steps, one stage."""
    number = next(k for k, tile in enumerate(TILES) if tile[1] == "tdpbusd.m16n16k16")
    return tile_designs()[number]


@cache
def verilog_of(design: UnitDesign | TileDesign) -> str:
    """The Verilog generated for a design."""
    return to_verilog(design, "unit")


@cache
def datapath_of(design: UnitDesign | TileDesign) -> str:
    """The Verilog generated for its combinational datapath."""
    return to_verilog(combinational(design), "unit")


def faulty(verilog: str, there: str, instead: str) -> str:
    """The Verilog with one text replaced, which occurs in it once."""
    assert verilog.count(there) == 1, there
    return verilog.replace(there, instead)


def waiting_for_operands(verilog: str) -> str:
    """The Verilog of the small tile, whose result is there only in cycles in which operands are, and leaves in no other: so
    nothing is lost, but what waits is taken back."""
    wires = ("assign \\told  = \\$32  & in_valid;", "assign \\taken  = out_ready & in_valid;")
    declared = "  wire \\told ;\n  wire \\taken ;\n" + "".join(f"  {wire}\n" for wire in wires)
    for there, instead in (
        ("  assign \\$1  = in_step == 2'h3;\n", declared + "  assign \\$1  = in_step == 2'h3;\n"),
        ("out_valid = \\out_valid$40  & \\$32 ;", "out_valid = \\out_valid$40  & \\told ;"),
        ("\\$27  ? out_ready : \\$31", "\\$27  ? \\taken  : \\$31"),
    ):
        verilog = faulty(verilog, there, instead)
    return verilog


def waiting_for_the_consumer(verilog: str) -> str:
    """The Verilog of the small unit with three stages, whose result is shown only while out_ready is high: nothing is lost,
    but a consumer that waits for it before it is ready waits for ever."""
    before, top = verilog.split("module unit(")
    for there, instead in (
        ("  reg out_valid;", "  wire out_valid;\n  reg there;\n  assign out_valid = there & out_ready;"),
        ("~ out_valid;", "~ there;"),
        ("out_valid <=", "there <="),
        ("valid_accumulate : out_valid;", "valid_accumulate : there;"),
    ):
        top = faulty(top, there, instead)
    return f"{before}module unit({top}"


_SUM_EXP = "takes_accumulate ? max_exp_sum_exp : accumulate_sum_exp"

_VALID = "takes_accumulate ? valid_max_exp : valid_accumulate"

PIPELINE_FAULTS: dict[str, tuple[str, str]] = {
    "a register without an enable": (_SUM_EXP, "1'h1 ? max_exp_sum_exp : accumulate_sum_exp"),
    "an enable of the stage behind": (_SUM_EXP, "takes_encode ? max_exp_sum_exp : accumulate_sum_exp"),
    "an enable of the stage before": (_SUM_EXP, "in_ready ? max_exp_sum_exp : accumulate_sum_exp"),
    "a result dropped at a stall": (_VALID, "takes_accumulate ? valid_max_exp : 1'h0"),
    "a result that is there twice": (_VALID, "valid_max_exp | valid_accumulate"),
    "a register that is passed by": (".e_max(accumulate_sum_exp)", ".e_max(max_exp_sum_exp)"),
    "a reset that leaves a stage full": ("rst ? 1'h0 : \\$procmux$51_Y", "rst ? 1'h1 : \\$procmux$51_Y"),
    "a stage without a reset": ("assign \\$5  = rst ? 1'h0 : \\$procmux$51_Y", "assign \\$5  = \\$procmux$51_Y"),
    "a result that changes while it waits": ("takes_encode ? sum_encode_d : d", "1'h1 ? sum_encode_d : d"),
    "bubbles that do not close": ("takes_accumulate = \\$2  | takes_encode", "takes_accumulate = takes_encode"),
    "operands taken when full": ("in_ready = \\$1  | takes_accumulate", "in_ready = 1'h1"),
    "a value made of the handshake": ("takes_accumulate ? max_exp_special_nan", "takes_accumulate ? out_ready"),
}
"""Faults of the small unit with three stages: a text of its Verilog, and its replacement."""

TILE_FAULTS: dict[str, tuple[str, str]] = {
    "the result of another element": ("\\$7  ? \\d$17  : c[31:0]", "\\$7  ? \\d$25  : c[31:0]"),
    "c of another element": ("\\$7  ? \\d$17  : c[31:0]", "\\$7  ? \\d$17  : c[63:32]"),
    "results in another order": ("{ \\d$37 , \\d$31 , \\d$25 , \\d$17  }", "{ \\d$37 , \\d$25 , \\d$31 , \\d$17  }"),
    "a result shown only when it is taken": (
        "{ \\d$37 , \\d$31 , \\d$25 , \\d$17  }",
        "out_ready ? { \\d$37 , \\d$31 , \\d$25 , \\d$17  } : 128'h0",
    ),
    "a step too few": ("assign \\$4  = out_step == 2'h3", "assign \\$4  = out_step == 2'h2"),
    "a step counted that does not come": ("in_transfer ? \\$3 [1:0] : in_step", "in_valid ? \\$3 [1:0] : in_step"),
    "a sum that does not wait": ("\\$27  ? out_ready : \\$31", "\\$27  ? out_ready : 1'h1"),
    "a step that is not counted at reset": ("\\$33  = rst ? 2'h0 : \\$procmux$29_Y", "\\$33  = \\$procmux$29_Y"),
}
"""Faults of the small tile."""


@cache
def small_array(**keys: Any) -> TileDesign:
    """An array of four elements, whose weights stay, with a second set of them."""
    stays: dict[str, Any] = {"stationary": "weights", "depth": 2, "double_buffer": True}
    shape = {"rows": 2, "columns": 2, "steps": 2} | stays | keys
    built = Implementation(stages=1)
    return TileDesign.of_unit(Unit(name="unit", operation=SMALL, implementation=built, array=Array(**shape)))


ARRAY_FAULTS: dict[str, tuple[str, str, str]] = {
    "weights of an element that are not taken": ("\\$22  ? b[71:54]", "1'h0 ? b[71:54]", IS_RESULT),
    "weights of the next step": ("\\b$72  = late_2_first ? b_1_1_next : b_1_1;", "\\b$72  = b_1_1_next;", IS_RESULT),
    "weights in another order": ("? b[71:54]", "? { b[65:60], b[71:66], b[59:54] }", IS_RESULT),
    "the sum of another row of A": (
        ".read(\\c$67 ),\n    .read_row(late_1_row)", ".read(\\c$67 ),\n    .read_row(late_2_row)", IS_RESULT,
    ),
    "a sum that passes by an element": (".decode_z_code(\\c$73 )", ".decode_z_code(\\c$67 )", IS_RESULT),
    "a row of A a cycle late": ("\\a$52  <= row_1_late_1_a", "\\a$52  <= \\a$46 ", IS_RESULT),
    "steps counted one row early": ("\\$5  = in_transfer & row", "\\$5  = in_transfer & \\$9 ", COMES_IN),
    "more rows under way than sums": ("\\$48  = in_flight < 2'h2", "\\$48  = in_flight < 2'h3", IS_RESULT),
    "sums that take c in each step": ("assign load = \\$43  & \\$44 ", "assign load = \\$43 ", IS_RESULT),
    "a bank that keeps the last tile's sums": ("\\load$60  = \\$46  & \\$47 ", "\\load$60  = 1'h0", IS_RESULT),
    "a result one row early": ("\\$12  = in_transfer & row", "\\$12  = in_transfer & \\$9 ", COMES_IN),
    "a result one step early": ("\\$14  = \\$12  & step", "\\$14  = \\$12 ", COMES_IN),
    "a result that does not wait": ("\\$27  = out_valid & \\$26 ", "\\$27  = 1'h0", STAYS_VALID),
    "operands that wait": ("in_ready = \\$49  & \\$58 ", "in_ready = \\$49  & out_ready", IS_READY),
    "a step that begins a cycle late": ("\\$49  = \\$48  | late_3_valid", "\\$49  = \\$48 ", ON_TIME),
    "a step that never begins": ("\\$53  = step | \\$52 ", "\\$53  = \\$52 ", GOES_ON),
}  # fmt: skip
"""Faults of the small array: a text of its Verilog, its replacement, and the claim that is broken first."""

SYSTOLIC: dict[str, Any] = {
    "stationary": "outputs", "depth": 1, "feed": "systolic", "decoders": "edge", "double_buffer": False,
}  # fmt: skip
"""Keys of the small array with results that stay, and operands that pass from neighbour to neighbour."""

SYSTOLIC_FAULTS: dict[str, tuple[str, str, str]] = {
    "a that passes by a neighbour": (".a(\\a$114 )", ".a(\\a$108 )", IS_RESULT),
    "b of the row's neighbour": ("\\b$115  <= \\b$103 ", "\\b$115  <= \\b$109 ", IS_RESULT),
    "c taken in each step": ("\\$32  = in_transfer & \\$31 ", "\\$32  = in_transfer", IS_RESULT),
    "c a cycle early": ("\\c$116  = late_2_first", "\\c$116  = late_1_first", IS_RESULT),
    "a step a cycle early": (".in_valid(\\in_valid$118 )", ".in_valid(\\in_valid$106 )", IS_RESULT),
    "a sum that leaves a cycle early": (".out_ready(late_2_out_ready)", ".out_ready(late_1_out_ready)", IS_RESULT),
    "a result before that of the last element": ("\\$69  = behind == 2'h2", "\\$69  = behind == 2'h1", IS_RESULT),
    "a result with that of the first element": ("out_valid = \\$68  & \\$69 ", "out_valid = \\$68 ", IS_RESULT),
    "a result counted from the first step on": (
        "\\$8  = \\out_valid$69  & out_step", "\\$8  = \\out_valid$69 ", IS_RESULT,
    ),
    "a result that leaves inside, and is not shown": ("\\$62  = out_ready & \\$61 ", "\\$62  = out_ready", IS_RESULT),
    "results of elements in another order": (
        "{ \\d$117 , \\d$111 , \\d$105 , \\d$99  }", "{ \\d$117 , \\d$105 , \\d$111 , \\d$99  }", IS_RESULT,
    ),
    "a late valid bit that a reset leaves": (
        "\\$101  = rst ? 1'h0 : \\in_valid$106 ", "\\$101  = \\in_valid$106 ", IS_RESULT,
    ),
    "a result that does not stay": ("\\$13  ? 3'h2 : \\$14 ", "\\$13  ? 3'h0 : \\$14 ", STAYS_VALID),
    "a result counted while it is taken": ("\\$14  = behind + 1'h1", "\\$14  = behind + out_ready", GOES_ON),
    "a sum that does not wait for operands": (
        "\\out_ready$101  = out_step ? \\$62  : \\$66 ", "\\out_ready$101  = out_step ? \\$62  : 1'h1", GOES_ON,
    ),
    "a tile that never begins": ("\\$54  = ~ c_left", "\\$54  = c_left", IS_READY),
}  # fmt: skip
"""Faults of that array, likewise."""


def wrong_array(fault: str) -> tuple[TileDesign, str, str]:
    """A small array with one of its faults: the design, its Verilog, and the claim that is broken first."""
    keys, faults = (SYSTOLIC, SYSTOLIC_FAULTS) if fault in SYSTOLIC_FAULTS else ({}, ARRAY_FAULTS)
    there, instead, rule = faults[fault]
    design = small_array(**keys)
    return design, faulty(verilog_of(design), there, instead), rule


WAITS: dict[str, tuple[tuple[str, ...], str]] = {
    "until a consumer was ready": (("g1 = go | out_ready", "g2 = out_transfer ? 1'h0 : g1"), GOES_ON),
    "until operands of a further tile are there": (("g1 = go | in_valid", "g2 = g1 & taken"), GOES_ON),
    "a cycle longer after the first tile": (("g0 = ~ seen", "g1 = full | g0", "g2 = g1 & taken"), ON_TIME),
}
"""How long the small array hides a result that is there: what the register that shows it takes, and the claim it breaks.
`full`: a result is there. `seen`: one was taken before. `taken`: no result was taken before, or another is there."""


def hidden(verilog: str, statements: tuple[str, ...]) -> str:
    """The small array with a register `go`, without which out_valid is low; g2 is what it takes if there is no reset."""
    begin = verilog.index("module unit(")
    end = verilog.index("endmodule", begin)
    top, declared = verilog[begin:end], "".join(f"  wire {name};\n" for name in ("g0", "g1", "g2", "g3", "s1", "s2"))
    top = faulty(top, "  reg out_valid;", f"  wire out_valid;\n  reg full;\n  reg go;\n  reg seen;\n{declared}")
    top = faulty(top, "    out_valid <= \\$82 ;", "    full <= \\$82 ;")
    top = faulty(top, "\\$27  = out_valid & \\$26", "\\$27  = full & \\$26")
    seen = ("s1 = seen | out_transfer", "s2 = rst ? 1'h0 : s1")
    every = [*statements, "g3 = rst ? 1'h0 : g2", *seen, "out_valid = full & go"]
    text = "".join(f"  assign {each.replace('taken', chr(92) + '$28 ')};\n" for each in every)
    text += "".join(f"  always @(posedge clk)\n    {name} <= {net};\n" for name, net in (("go", "g3"), ("seen", "s2")))
    first = "  assign \\$12  = in_transfer & row;"
    return verilog[:begin] + faulty(top, first, text + first) + verilog[end:]


NOT_PROVABLE = {
    "a valid bit that a reset leaves": ("\\$61  = rst ? 1'h0 : in_transfer;", "\\$61  = in_transfer;"),
    "a bank at another clock": ("bank_0 (\n    .clk(clk)", "bank_0 (\n    .clk(rst)"),
    "an element at another clock": ("    .b(\\b$72 ),\n    .clk(clk)", "    .b(\\b$72 ),\n    .clk(in_valid)"),
}
"""Faults of the small array with which nothing is claimed of it: a text of its Verilog, and its replacement."""
