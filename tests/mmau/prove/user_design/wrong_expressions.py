"""Wrong designs whose expressions tools evaluate in different orders, or at different times.

Tools read the first ones as other circuits, but for one operand of 2^16 or more, so that no sample vector shows it.
"""

from tests.mmau.prove.user_design.design_by_hand import Wrong, clocked

_RARE = "a == 8'h5a && b == 8'h3c && c[7:0] == 8'h77"

_ORDER = "an expression writes what it also reads, in an order that no rule gives: i"

_HIDDEN = "functions read more than their arguments, where only a change of these counts: b, c"

_READS_MORE = "x); {} = signed'(c) + 32'(signed'(x)) * 32'(signed'(b));"


def _rarely(statement: str, beside: str = "") -> Wrong:
    """A design that is right but for rare operands, for which it does a statement."""
    return Wrong(f"logic [31:0] i; {beside} always_comb begin i = 0; d = r; if ({_RARE}) {statement} end", _ORDER)


_SETS = "function automatic [31:0] f(input [31:0] x); i = 5; return x; endfunction"

EXPRESSIONS = {
    "an increment beside a read": _rarely("d = r + i + (i++);"),
    "an increment of an index": _rarely("d = t[i[1:0] + 2'(i++)];", "wire [3:0][31:0] t = {r, r, ~r, r};"),
    "two increments": _rarely("d = r + (i++) - 2 * (i++);"),
    "an assignment inside of a sum": _rarely("d = r + i + (i = 5) - 5;"),
    "a function that writes what stands beside it": _rarely("d = i + f(r);", _SETS),
    "a function of a function that writes": _rarely(
        "d = i + g(r);", f"{_SETS} function automatic [31:0] g(input [31:0] x); return f(x); endfunction"
    ),
    "an argument that is incremented": _rarely(
        "d = r ^ f(i++, i);", "function automatic [31:0] f(input [31:0] x, y); return x ^ y; endfunction"
    ),
    "an output argument in a sum": _rarely(
        "d = i + f(r, i);", "function automatic [31:0] f(input [31:0] x, output [31:0] y); y = 7; return x; endfunction"
    ),
    "an effect behind a condition that fails": Wrong(
        "logic [31:0] i; function automatic logic f(input logic x); i = 5; return x; endfunction\n"
        f"always_comb begin i = 0; d = r; if ({_RARE} && f(a[1])) d = r; d = d + (({_RARE}) ? i - 5 : i); end",
        _ORDER,
    ),
    "an effect of an item of a case": Wrong(
        "logic [31:0] i; function automatic [7:0] f(input [7:0] x); i = 1; return x; endfunction\n"
        "always_comb begin i = 0; case (a) 8'h5a: d = r; f(8'h5b): d = r; default: d = r; endcase\n"
        f"if ({_RARE}) d = d + i; end",
        _ORDER,
    ),
    "a function of an assignment that reads more": Wrong(
        f"function [31:0] f(input [7:0] {_READS_MORE.format('f')} endfunction assign d = f(a);", _HIDDEN
    ),
    "a function at a port that reads more": Wrong(
        f"function [31:0] f(input [7:0] {_READS_MORE.format('f')} endfunction inner i(.x(f(a)), .y(d));",
        _HIDDEN,
        beside="module inner(input [31:0] x, output [31:0] y); assign y = x; endmodule",
    ),
    "a function of an always @* that reads more": Wrong(
        f"function [31:0] f(input [7:0] {_READS_MORE.format('f')} endfunction always @* d = f(a);", _HIDDEN
    ),
    "a task of an always @* that reads more": Wrong(
        f"task t(input [7:0] {_READS_MORE.format('d')} endtask always @* t(a);", _HIDDEN
    ),
}

_LEFT_OUT = "assertions or messages write what the design reads, and synthesis leaves them out: "

_COUNTS = "function automatic [31:0] f(input [31:0] x); i = 1; return x; endfunction"

LEFT_OUT = {
    "a statement after an assertion that fails": Wrong(
        "always_comb begin d = ~r; assert (a == 8 && a == 9) else d = r; end", f"{_LEFT_OUT}d"
    ),
    "a statement after an assertion that holds": Wrong(
        "always_comb begin d = ~r; assert (a == 9 || a != 9) d = r; end", f"{_LEFT_OUT}d"
    ),
    "an increment in an assertion": Wrong(
        "logic [31:0] i; always_comb begin i = 0; assert (i++ == 0); d = r + i - 1; end", f"{_LEFT_OUT}++"
    ),
    "an increment in a message": Wrong(
        'logic [31:0] i; always_comb begin i = 0; $display("%d", i++); d = r + i - 1; end', f"{_LEFT_OUT}++"
    ),
    "a function with an effect in an assertion": Wrong(
        f"logic [31:0] i; {_COUNTS} always_comb begin i = 0; assert (f(2) == 2); d = r + i - 1; end", f"{_LEFT_OUT}i"
    ),
    "a function with an effect in a message": Wrong(
        f'logic [31:0] i; {_COUNTS} always_comb begin i = 0; $display("%d", f(2)); d = r + i - 1; end', f"{_LEFT_OUT}i"
    ),
}
"""Designs that are right by what synthesis leaves out."""

HELD = {
    "an initial value by a task": clocked(
        "logic f; task t; f = 1'b1; endtask initial t(); always_ff @(posedge clk) d <= f ? r : 32'd0;",
        "registers and memories that nothing writes hold their initial values: f",
    ),
    "a memory with initial values by a task": clocked(
        "logic [31:0] m [0:3]; task t; for (int k = 0; k < 4; k++) m[k] = 0; endtask initial t();\n"
        "always_ff @(posedge clk) d <= r ^ m[a[1:0]];",
        "registers and memories that nothing writes hold their initial values: m",
    ),
    "an initial value of a static variable of a block": clocked(
        "always_ff @(posedge clk) begin static logic f = 1'b1; d <= f ? r : 32'd0; end",
        "registers and memories that nothing writes hold their initial values: f",
    ),
    "an initial value of a variable of a named block": clocked(
        "always_ff @(posedge clk) begin : named logic f; d <= f ? r : 32'd0; end initial named.f = 1'b1;",
        "registers and memories that nothing writes hold their initial values: f",
    ),
}
"""Designs that are right from their initial values alone, each with the assumption that a proof names."""

ORDER = {
    "a race through a task": clocked(
        "logic [31:0] q; task t; q = r; endtask always @(posedge clk) t; always @(posedge clk) d <= q;",
        "a clocked block writes at once what another block reads: q",
        latency=2,
    ),
    "a race of the block before": clocked(
        "logic [31:0] q; task t; q = r; endtask always @(posedge clk) d <= q; always @(posedge clk) t;",
        "a clocked block writes at once what another block reads: q",
        latency=2,
    ),
    "a race through a task and a port": clocked(
        "wire [31:0] q; inner i(.clk, .x(r), .q); always @(posedge clk) d <= q;",
        "a clocked block writes at once what another block reads: q",
        beside="module inner(input clk, input [31:0] x, output logic [31:0] q); task t; q = x; endtask\n"
        "always @(posedge clk) t; endmodule",
        latency=2,
    ),
    "a clock that follows late": clocked(
        "logic [31:0] q; logic h; always @(clk) h <= clk; always_ff @(posedge clk) q <= r; always_ff @(posedge h) d <= q;",
        "non-edge sensitivity",
    ),
    "a clock that follows late in its own block": clocked(
        "logic [31:0] q; logic h; always_comb h <= clk; always_ff @(posedge clk) q <= r; always_ff @(posedge h) d <= q;",
        "",
    ),
    "a count in a function": Wrong(
        "function [31:0] f(input [31:0] x); static int n = 0; n = n + 1; return n == 7 ? 0 : x; endfunction\n"
        "assign d = f(r);",
        "functions keep values between calls: n",
    ),
    "a count in a function by its type": Wrong(
        "function [31:0] f(input [31:0] x); int n; n = n + 1; return n == 7 ? 0 : x; endfunction\nassign d = f(r);",
        "functions keep values between calls: n",
    ),
    "a count in a task": Wrong(
        "task t; static int n = 0; n = n + 1; d = n == 7 ? 0 : r; endtask always_comb t;",
        "functions keep values between calls: n",
    ),
    "items told to be parallel by a comment": Wrong(
        "logic [31:0] x; always_comb case (1'b1) /* synthesis parallel_case */ a[0]: x = 1; a[1]: x = 2; default: x = 3;\n"
        "endcase assign d = r ^ x ^ (a[0] ? 32'd1 : a[1] ? 32'd2 : 32'd3); // no full_case is promised here",
        "promises synthesis",
    ),
    "one name of two packages": Wrong(
        "assign d = W ? ~r : r;",
        "multiple imports",
        beside="package p; localparam W = 0; endpackage\npackage q; localparam W = 1; endpackage\nimport p::*; import q::*;",
    ),
    "a name that is declared below": Wrong("assign d = W ? ~r : r; localparam W = 0;", "", beside="localparam W = 1;"),
    "a type in place of an item": Wrong(
        "assign d = A == 0 ? r : ~r; typedef enum logic {A, B} t;",
        "",
        beside="package p; typedef enum logic {B, A} t; endpackage import p::*;",
    ),
}
