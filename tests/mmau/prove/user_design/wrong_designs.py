"""Wrong designs by the reason why they are wrong: none is ever proved.

All but those of data compute d = c + a·b of int8 and int32 in one reading of their text, in one tool, from one initial state
or under one behaviour of their neighbours, and something else in another.
"""

from cosim.dut.description import Reset
from tests.mmau.prove.user_design.design_by_hand import (
    FULL,
    LEAVES,
    OPERANDS,
    RIGHT,
    TAKE,
    WHILE_F,
    Wrong,
    clocked,
    handshake,
)

DRIVERS = {
    "a bit of a wire twice": Wrong("assign d = r; assign d[0] = ~r[0];", "MULTIDRIVEN"),
    "a bit, its warning waived": Wrong(
        "/* verilator lint_off MULTIDRIVEN */ assign d = r; assign d[0] = ~r[0];", "MULTIDRIVEN"
    ),
    "always_comb and always @*": Wrong("always_comb d = r; always @* d[0] = ~r[0];", "MULTIDRIVEN"),
    "a constant and a wire": Wrong("assign d = r; assign d[31:30] = 2'b00;", "MULTIDRIVEN"),
    "a wire inside an instance": Wrong(
        "inner core(.x(r), .y(d)); assign core.q[0] = ~r[0];",
        "MULTIDRIVEN",
        beside="module inner(input [31:0] x, output [31:0] y); wire [31:0] q = x; assign y = q; endmodule",
    ),
    "two instances on one inout": Wrong(
        "wire [31:0] w; drives one(.x(r), .y(w)); drives other(.x(~r), .y(w)); assign d = w;",
        "multiple conflicting drivers",
        beside="module drives(inout [31:0] y, input [31:0] x); assign y = x; endmodule",
    ),
    "a wired and": Wrong("wand [31:0] w; assign w = r; assign w = r | 32'h1; assign d = w | {31'd0, a == 8'd9};", ""),
    "a pull against a driver": Wrong("assign (weak1, weak0) d = r; pulldown p(d[0]);", "multiple conflicting drivers"),
    "a strength that drives no one": Wrong("assign (highz1, strong0) d = r;", "cannot read"),
    "a driver that lets go": Wrong("assign d[31:1] = r[31:1]; bufif1 last(d[0], r[0], a != 8'd9);", "has no term"),
    "high impedance": Wrong("assign d = a == 8'd9 ? 32'bz : r;", ""),
    "a wire without driver": Wrong("wire u; assign d = {r[31:1], a == 8'd9 ? u : r[0]};", "UNDRIVEN"),
    "an input of an instance without driver": Wrong(
        "inner core(.x(r), .y(d));",
        "PINMISSING",
        beside="module inner(input [31:0] x, input z, output [31:0] y); assign y = z ? x : x; endmodule",
    ),
    "a name that was never declared": Wrong("assign rr = r; assign d = {r[31:1], rr};", "IMPLICIT"),
    "a word too narrow": Wrong("wire [30:0] q = r; assign d = {r[31], q};", "WIDTHTRUNC"),
    "a clash of procedural assigns": Wrong("always @* assign d = r;", "unsupported language feature"),
}

STATE = {
    "a latch": Wrong("always @* if (a != 8'd9) d = r;", "LATCH"),
    "a latch, its warning waived": Wrong("/* verilator lint_off LATCH */ always @* if (a != 8'd9) d = r;", "LATCH"),
    "a loop that holds": Wrong("wire [31:0] q; assign q = a != 8'd9 ? r : q; assign d = q;", "logic loop"),
    "a loop that cancels": Wrong("wire [31:0] q; assign q = r ^ q ^ q; assign d = q;", "logic loop"),
    "a static variable of a function": Wrong(
        "function [31:0] last(input [31:0] x); reg [31:0] s; begin if (x[7:0] != 8'd9) s = x; last = s; end endfunction\n"
        "assign d = last(r);",
        "",
    ),
    "a function that counts its calls": Wrong(
        "int n; function automatic [31:0] counted(input [31:0] x); n = n + 1; return x + 32'(n == 9); endfunction\n"
        "always_comb d = counted(r);",
        "",
    ),
    "an initial value that holds": clocked(f"logic f = 1'b1; always_ff @(posedge clk) f <= f; {WHILE_F}", ""),
    "an initial value by attribute": clocked(f"(* init = 1'b1 *) logic f; always_ff @(posedge clk) f <= f; {WHILE_F}", ""),
    "an initial block": clocked(f"logic f; initial f = 1'b1; always_ff @(posedge clk) f <= f; {WHILE_F}", ""),
    "a memory with initial values": clocked(
        "logic [31:0] m [0:3]; initial begin m[0] = 0; m[1] = 0; m[2] = 0; m[3] = 0; end\n"
        "always_ff @(posedge clk) begin d <= r ^ m[a[1:0]]; if (b == 8'd9) m[b[1:0]] <= 32'd0; end",
        "",
    ),
    "a memory with fewer words": clocked(
        "logic [31:0] m [0:2]; initial begin m[0] = 0; m[1] = 0; m[2] = 0; end\n"
        "always_ff @(posedge clk) d <= r ^ m[a[1:0]];",
        "",
    ),
    "a register that only ever becomes 0": clocked(
        "logic f; always_ff @(posedge clk) if (a == 8'd9) f <= 1'b0; always_ff @(posedge clk) d <= f ? 32'd0 : r;", ""
    ),
    "registers that are alike after a cycle": clocked(
        "logic f, g; always_ff @(posedge clk) begin f <= a[0]; g <= a[0]; d <= r ^ {31'd0, f ^ g}; end", ""
    ),
    "an undefined bit that has no use": Wrong(
        "wire [4:0] v = b[4:0]; wire [2:0] k = 3'd6 + (a[2:0] & 3'd0); assign d = r ^ {31'd0, a == 8'd9 ? v[k] : 1'b0};", ""
    ),
    "a two-state variable that nothing writes": Wrong("bit f; assign d = f ? 32'd0 : r;", "UNDRIVEN"),
    "a register written by two blocks": clocked(
        "always_ff @(posedge clk) d <= r; always_ff @(posedge clk) if (a == 8'd9) d[0] <= 1'b1;",
        "two clocked blocks write the same bits",
    ),
    "a clock with a condition": clocked("always_ff @(posedge clk iff a != 8'd9) d <= r;", ""),
    "set by data without the clock": clocked(
        "logic q; always_ff @(posedge clk or posedge a[0]) if (a[0]) q <= 1'b1; else q <= 1'b1;\n"
        "always_ff @(posedge clk) d <= q ? r : ~r;",
        "is set or reset without the clock",
    ),
    "reset by a hazard": clocked(
        "wire hazard = (a == 8'd9) && (a == 8'd10);\n"
        "always_ff @(posedge clk or posedge hazard) if (hazard) d <= 32'd0; else d <= r;",
        "is set or reset without the clock",
    ),
    "a reset of the other polarity": clocked(
        "always_ff @(posedge clk) if (!rst) d <= 32'd0; else d <= r;", "", "input logic clk, rst, ", reset=Reset("rst")
    ),
    "a falling edge": clocked("always_ff @(negedge clk) d <= r;", "at another moment"),
    "two clocks": clocked(
        "always_ff @(posedge clk2) d <= r;", "at another moment", "input logic clk, clk2, ", tie={"clk2": 0}
    ),
    "a gated clock": clocked("wire gated = clk & ~a[0]; always_ff @(posedge gated) d <= r;", "at another moment"),
    "the clock as data": clocked("logic [31:0] q; always_ff @(posedge clk) q <= r; assign d = clk ? q : ~q;", ""),
    "a race": clocked("logic [31:0] q; always @(posedge clk) q = r; always @(posedge clk) d = q;", "BLKSEQ", latency=2),
}

TEXTS = {
    "right under VERILATOR": Wrong("`ifdef VERILATOR\nassign d = r;\n`else\nassign d = ~r;\n`endif", ""),
    "right under verilator": Wrong("`ifdef verilator3\nassign d = r;\n`else\nassign d = ~r;\n`endif", ""),
    "right without SYNTHESIS": Wrong("`ifndef SYNTHESIS\nassign d = r;\n`else\nassign d = ~r;\n`endif", ""),
    "right in a simulation": Wrong("`ifdef SV_COV_START\nassign d = r;\n`else\nassign d = nothing;\n`endif", "nothing"),
    "overlapping items": Wrong(
        "logic [31:0] x; always_comb unique case (1'b1) a[0]: x = 1; a[1]: x = 2; default: x = 3; endcase\n"
        "assign d = r ^ x ^ (a[0] ? 32'd1 : a[1] ? 32'd2 : 32'd3);",
        "",
    ),
    "overlapping constants": Wrong(
        "logic [31:0] x; always_comb unique casez (a[1:0]) 2'b?1: x = 1; 2'b1?: x = 2; default: x = 3; endcase\n"
        "assign d = r ^ x ^ (a[0] ? 32'd1 : a[1] ? 32'd2 : 32'd3);",
        "CASEOVERLAP",
    ),
    "overlapping conditions": Wrong(
        "logic [31:0] x; always_comb unique if (a[0]) x = 1; else if (a[1]) x = 2; else x = 3;\n"
        "assign d = r ^ x ^ (a[0] ? 32'd1 : a[1] ? 32'd2 : 32'd3);",
        "promises synthesis",
    ),
    "hidden from synthesis": Wrong(
        "// synthesis translate_off\nassign d = r;\n// synthesis translate_on\n", "without what translate_off hides"
    ),
    "shown to synthesis": Wrong(
        "wire [31:0] q;\n/* synopsys translate_off */ assign d = r; // synopsys translate_on\nassign q = r;",
        "without what translate_off hides",
    ),
    "items told to be full": Wrong(
        "logic [31:0] x; always_comb begin x = r; case (a[1:0]) // synopsys full_case\n"
        "2'd0: x = r; 2'd1: x = r + 32'd0; 2'd2: x = r; endcase end assign d = x;",
        "promises synthesis",
    ),
    "items told to be parallel": Wrong(
        "logic [31:0] x; always @* (* full_case, parallel_case *) case (1'b1) a[0]: x = 1; a[1]: x = 2; default: x = 3;"
        " endcase\nassign d = r ^ x ^ (a[0] ? 32'd1 : a[1] ? 32'd2 : 32'd3);",
        "promises synthesis",
    ),
    "a choice without its case": Wrong(
        "always_comb begin case (a[1:0]) 2'd0, 2'd1, 2'd2: d = r; default: d = 'x; endcase end", ""
    ),
    "casex of an unknown": Wrong(
        "logic [1:0] u; assign u = {a == 8'd9 ? 1'bx : 1'b0, 1'b0}; always_comb casex (u) 2'b0?: d = r; default: d = 0;"
        " endcase",
        "",
    ),
    "a list of some signals": Wrong("always @(a or b) d = r;", "will be synthesized as @*"),
    "a delay": Wrong("assign #5 d = r;", "ASSIGNDLY"),
    "a delay inside an assignment": clocked("always @(posedge clk) d <= #5 r;", "ASSIGNDLY"),
    "a delayed initial value": Wrong(
        "logic f; initial begin f = 1'b1; #1000000 f = 1'b0; end assign d = f ? r : 32'd0;", "STMTDLY"
    ),
    "random": Wrong("logic [31:0] x; always_comb x = $random; assign d = r ^ {31'd0, x == 32'd1234567};", "$random"),
    "the time": Wrong("assign d = $time < 1000000 ? r : 32'd0;", "$time"),
    "an argument of the simulator": Wrong('assign d = $test$plusargs("wrong") ? 32\'d0 : r;', "$test$plusargs"),
    "the end of a simulation": Wrong("assign d = r; always_comb if (a == 8'd9) $finish;", ""),
    "a statement of the simulator": Wrong('assign d = r ^ 32\'($c("rand() & 1"));', ""),
    "a module of the wrapper's name": Wrong(
        "assign d = ~r;", "", beside=f"module mmau_dut({OPERANDS});\n{RIGHT}assign d = r;\nendmodule"
    ),
    "inputs that a directive drives": Wrong(
        "inner core(.x(r), .z(), .y(d));",
        "",
        beside="`unconnected_drive pull1\nmodule inner(input [31:0] x, input z, output [31:0] y); assign y = z ? x : 32'd0;"
        " endmodule\n`nounconnected_drive",
    ),
    "a forced wire": Wrong(
        "wire [31:0] q = r; assign d = q; always_comb if (a == 8'd9) force q = 32'd0; else release q;", "MULTIDRIVEN"
    ),
    "a function of another language": Wrong(
        'import "DPI-C" function int foreign(input int x); assign d = foreign(r);', "Yosys complains"
    ),
    "a primitive by its table": Wrong(
        "assign d[31:1] = r[31:1]; flips first(d[0], r[0]);",
        "user-defined primitives",
        beside="primitive flips(q, x); output q; input x; table 0 : 1; 1 : 0; endtable endprimitive",
    ),
    "a parameter that is overridden": Wrong(
        "inner core(.x(r), .y(d)); defparam core.P = 1;",
        "",
        beside="module inner #(parameter P = 0)(input [31:0] x, output [31:0] y); assign y = x + P; endmodule",
    ),
    "a module bound into another": Wrong(
        "inner core(.x(r), .y(d)); bind inner breaks broken(.q(y));",
        "",
        beside="module breaks(output [31:0] q); assign q = 32'd0; endmodule\n"
        "module inner(input [31:0] x, output [31:0] y); assign y = x; endmodule",
    ),
    "a generated branch": Wrong(
        "localparam P = 2;\n"
        "if ($bits(d) == 32 && P == 1) begin : right assign d = r; end else begin : wrong assign d = ~r; end",
        "",
    ),
    "an unsigned operand": Wrong("assign d = signed'(c) + signed'(a) * b;", ""),
    "an unsized sum": Wrong("assign d = {24'd0, 8'(a * b)} + c;", ""),
}

HANDSHAKES = {
    "ready after a cycle without valid": handshake(
        f"{TAKE}{FULL} assign out_valid = full; logic idle;\n"
        "always_ff @(posedge clk) idle <= rst || !in_valid || (idle && !taken);\n"
        "assign in_ready = idle && (!full || out_ready);",
        "operands are not taken any more",
    ),
    "a result after a cycle without valid": handshake(
        f"{TAKE}{LEAVES} logic shown; assign in_ready = !full; assign out_valid = full && shown;\n"
        "always_ff @(posedge clk) if (rst || taken) shown <= 1'b0; else if (!in_valid) shown <= 1'b1;",
        "operands were taken whose result never comes",
    ),
    "valid with ready": handshake(
        f"{TAKE}{FULL} assign in_ready = !full || out_ready; assign out_valid = full && out_ready;",
        "out_valid depends on out_ready in the same cycle",
    ),
    "valid after ready": handshake(
        f"{TAKE}{LEAVES} logic seen;\n"
        "assign in_ready = !full; assign out_valid = full && seen;\n"
        "always_ff @(posedge clk) if (rst || taken) seen <= 1'b0; else if (out_ready) seen <= 1'b1;",
        "operands were taken whose result never comes while",
    ),
    "valid after ready, of the second result": handshake(
        f"{TAKE}{LEAVES} logic seen, first;\n"
        "assign in_ready = !full; assign out_valid = full && (seen || first);\n"
        "always_ff @(posedge clk) begin if (rst) first <= 1'b1; else if (out_valid && out_ready) first <= 1'b0;\n"
        "if (rst || taken) seen <= 1'b0; else if (out_ready) seen <= 1'b1; end",
        "operands were taken whose result never comes while",
    ),
    "ready with the consumer's ready alone": handshake(
        f"{TAKE}{FULL} assign out_valid = full; assign in_ready = out_ready;", "operands are not taken any more"
    ),
    "a deadlock after a stall": handshake(
        f"{TAKE}{FULL} logic stuck; assign out_valid = full; assign in_ready = !stuck && (!full || out_ready);\n"
        "always_ff @(posedge clk) if (rst) stuck <= 1'b0; else if (full && !out_ready && in_valid) stuck <= 1'b1;",
        "operands are not taken any more",
    ),
    "a result that is withdrawn for new operands": handshake(
        f"{TAKE}{FULL} assign out_valid = full && !in_valid; assign in_ready = !full;", "out_valid falls"
    ),
    "a result that changes while it waits": handshake(
        "assign d = d_q; always_ff @(posedge clk) if (taken) d_q <= r; else if (full && !out_ready) d_q <= d_q ^ 32'd1;\n"
        f"{FULL} assign out_valid = full; assign in_ready = !full || out_ready;",
        "d changes while out_valid is 1",
    ),
    "a result that shows operands while it waits": handshake(
        f"always_ff @(posedge clk) if (taken) d_q <= r;\n{FULL} assign d = out_ready ? d_q : r;\n"
        "assign out_valid = full; assign in_ready = !full || out_ready;",
        "a result depends on other operands than its own",
    ),
    "valid during reset": handshake(
        f"{TAKE} always_ff @(posedge clk) full <= !rst && (taken || (full && !out_ready));\n"
        "assign out_valid = full || rst; assign in_ready = !full || out_ready;",
        "out_valid is 1 during reset",
    ),
    "an initial value in place of a reset": handshake(
        f"{TAKE} logic started = 1'b1; always_ff @(posedge clk) full <= taken || (full && !out_ready);\n"
        "initial full = 1'b0; always_ff @(posedge clk) started <= started;\n"
        "assign out_valid = full && started; assign in_ready = !full || out_ready;",
        "depends on data, or on registers that reset does not set: dut.full",
    ),
    "wrong after a thousand results": handshake(
        f"{FULL} logic [9:0] n; always_ff @(posedge clk) if (rst) n <= 0; else if (taken) n <= n + 10'd1;\n"
        "always_ff @(posedge clk) if (taken) d_q <= n == 10'd1000 ? 32'd0 : r;\n"
        "assign d = d_q; assign out_valid = full; assign in_ready = !full || out_ready;",
        "",
    ),
    "operands lost while full": handshake(
        f"{TAKE}{FULL} assign out_valid = full; assign in_ready = 1'b1;", "d changes while out_valid is 1"
    ),
}

ALL = DRIVERS | STATE | TEXTS | HANDSHAKES
