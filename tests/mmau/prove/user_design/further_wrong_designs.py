"""Further wrong designs by the reason why they are wrong: what tools, their attributes and the language leave room for."""

from cosim.dut.description import Reset
from tests.mmau.prove.user_design.design_by_hand import FULL, TAKE, VALID, Wrong, clocked, handshake
from tests.mmau.prove.user_design.wrong_expressions import LEFT_OUT, ORDER

IDENTITY = "module {}(input [31:0] x, output [31:0] y); {} endmodule"

ATTRIBUTES = {
    "an assumption of the design": Wrong("assign d = a == 8'd9 ? 32'd0 : r; always_comb assume (a != 8'd9);", ""),
    "an assumed property": clocked(
        "always_ff @(posedge clk) d <= a == 8'd9 ? 32'd0 : r; assume property (@(posedge clk) a != 8'd9);", ""
    ),
    "a constant that a solver may choose": Wrong(
        "(* anyconst *) logic [31:0] q; always_comb assume (q == r); assign d = q;", ""
    ),
    "a sequence that a solver may choose": Wrong(
        "(* anyseq *) logic [31:0] q; always_comb assume (q == r); assign d = q;", ""
    ),
    "a module that is a black box": Wrong(
        "inner core(.x(r), .y(d));", "", beside="(* blackbox *) " + IDENTITY.format("inner", "assign y = x;")
    ),
    "a module without contents": Wrong("inner core(.x(r), .y(d));", "", beside=IDENTITY.format("inner", "")),
    "another module that is called the top": Wrong(
        "assign d = ~r;", "", beside="(* top *) module mine2(input [31:0] x, output [31:0] y); assign y = x; endmodule"
    ),
    "an encoding of states": clocked(
        "(* fsm_encoding = \"one-hot\" *) logic [1:0] s; always_ff @(posedge clk) begin s <= s == 2'd3 ? 2'd3 : 2'd0;\n"
        "d <= s == 2'd3 ? ~r : r; end",
        "",
    ),
    "an equivalence that is only claimed": Wrong(
        "(* equiv = \"r\" *) wire [31:0] q = a == 8'd9 ? 32'd0 : r; assign d = q;", ""
    ),
}

LANGUAGE = {
    "a charge that stays": Wrong("trireg [31:0] t; assign t = a != 8'd9 ? r : 32'bz; assign d = t;", ""),
    "an input that floats to 1": Wrong("tri1 u; assign d = u ? r : 32'd0;", ""),
    "a gate with a delay": Wrong("assign d[31:1] = r[31:1]; buf #3 last(d[0], r[0]);", ""),
    "a primitive with a state": Wrong(
        "assign d[31:1] = r[31:1]; holds last(d[0], r[0], a != 8'd9);",
        "",
        beside="primitive holds(q, x, e); output reg q; input x, e; table 0 1 : ? : 0; 1 1 : ? : 1; ? 0 : ? : -; endtable"
        " endprimitive",
    ),
    "both edges of the clock": clocked("always_ff @(edge clk) d <= r;", ""),
    "an edge and a level": clocked("always @(posedge clk or a) d <= r;", ""),
    "a process that waits": clocked("always begin @(posedge clk); d <= r; @(posedge clk); end", ""),
    "a division by zero": Wrong("wire [7:0] q = a / b; assign d = b == 8'd0 && q == 8'd7 ? 32'd0 : r;", ""),
    "a remainder by zero": Wrong("wire [7:0] q = a % b; assign d = b == 8'd0 && q != a ? 32'd0 : r;", ""),
    "a bit beyond a word": Wrong("wire [6:0] v = r[6:0]; assign d = {r[31:1], a == 8'd9 ? v[3'd7 & b[2:0]] : r[0]};", ""),
    "a word beyond a table": Wrong(
        "wire [31:0] t [0:2]; assign t[0] = r, t[1] = r, t[2] = r; assign d = t[a == 8'd9 ? 2'd3 : 2'd0];", ""
    ),
    "states without their case": Wrong(
        "typedef enum logic [1:0] {A, B, C} s_t; s_t s; assign s = s_t'(a[1:0]);\n"
        "always_comb unique case (s) A: d = r; B: d = r; C: d = r; endcase",
        "",
    ),
    "a negative number that loses its fraction": Wrong(
        "localparam int P = $rtoi(-2.9); assign d = P != 0 && a == 8'h5a && b == 8'h3c && c[7:0] == 8'h77 ? ~r : r;",
        "Yosys evaluates functions of real numbers in its text wrongly: $rtoi",
    ),
    "ranges of items that overlap": Wrong(
        "logic [31:0] x; always_comb unique case (a) inside [0:9]: x = 1; [5:20]: x = 2; default: x = 3; endcase\n"
        "assign d = r ^ x ^ (a <= 9 ? 32'd1 : a <= 20 ? 32'd2 : 32'd3);",
        "",
    ),
    "items that are signals": Wrong(
        "logic [31:0] x; always_comb unique case (a) b: x = 1; ~c[7:0]: x = 2; default: x = 3; endcase\n"
        "assign d = r ^ x ^ (a == b ? 32'd1 : a == 8'(~c[7:0]) ? 32'd2 : 32'd3);",
        "",
    ),
    "a value in place of no item": Wrong(
        "always_comb begin d = r; unique case (a[1:0]) 2'd0: d = r + 0; 2'd1: d = r; endcase end", ""
    ),
    "an unknown that is compared": Wrong("wire u = a == 8'd9 ? 1'bx : 1'b0; assign d = u === 1'b0 ? r : 32'd0;", ""),
    "two packages of one name": Wrong(
        "assign d = p::WRONG ? ~r : r;",
        "",
        beside="package p; localparam WRONG = 0; endpackage\npackage p; localparam WRONG = 1; endpackage",
    ),
    "two modules of one name": Wrong(
        "inner core(.x(r), .y(d));",
        "MODDUP",
        beside=IDENTITY.format("inner", "assign y = x;") + "\n" + IDENTITY.format("inner", "assign y = ~x;"),
    ),
    "a reversed word": Wrong("logic [0:31] q; assign q = r; always_comb for (int k = 0; k < 32; k++) d[k] = q[k];", ""),
    "an arithmetic shift of no sign": Wrong("wire [31:0] q = r; assign d = (q <<< 1) >>> 1;", ""),
    "a sign lost in a concatenation": Wrong("assign d = {c} + 32'(signed'({a})) * 32'(signed'(b)) + 32'({a} > 8'd200);", ""),
    "a line that counts": Wrong("assign d = `__LINE__ > 0 ? ~r : r;", ""),
    "an alias of two words": Wrong("wire [31:0] q; alias q = d; assign q = r; assign d = a == 8'd9 ? 32'd0 : 32'bz;", ""),
    "a file that is read": Wrong(
        'logic [31:0] m [0:1]; initial $readmemh("/dev/null", m); assign d = r ^ m[a[0]];',
        "its memories are loaded from files, which are no part of its text: $readmemh",
    ),
    "a table that a run may change": clocked(
        "logic [31:0] m [0:1]; initial begin m[0] = 0; m[1] = 0; end\n"
        "always_ff @(posedge clk) begin d <= r ^ m[a[0]]; if (a == 8'd9 && b == 8'd77) m[1] <= 32'd1; end",
        "",
    ),
    "results kept in two states": Wrong("bit [31:0] q; always_comb if (a != 8'd9) q = r; assign d = q;", ""),
    "a level while the clock is high": clocked("always_latch if (clk) d = r;", ""),
    "a clock that is divided": clocked("logic h; always @(posedge clk) h <= ~h; always @(posedge h) d <= r;", ""),
    "an event of a result": Wrong("logic q; always @(posedge r[31]) q <= ~q; assign d = r ^ {31'd0, q};", ""),
}

PROTOCOLS = {
    "operands that pass a waiting result": handshake(
        f"assign d = full ? d_q : r; always_ff @(posedge clk) if (taken && !out_ready) d_q <= r;\n{FULL}\n"
        "assign out_valid = full || in_valid; assign in_ready = 1'b1;",
        "",
    ),
    "a second place that is never emptied": handshake(
        "logic [31:0] s_q; logic more; assign d = d_q; assign out_valid = full; assign in_ready = !more;\n"
        "always_ff @(posedge clk) if (rst) begin full <= 0; more <= 0; end else begin\n"
        "if (taken && full && !out_ready) begin s_q <= r; more <= 1; end\n"
        "else if (taken) begin d_q <= r; full <= 1; end else if (out_ready) full <= 0; end",
        "",
    ),
    "ready that depends on operands": handshake(
        f"{TAKE}{FULL} assign out_valid = full; assign in_ready = (!full || out_ready) && a != 8'd9;", "depends on data"
    ),
    "valid that depends on operands": handshake(
        f"{TAKE}{FULL} assign out_valid = full && d_q != 32'd9; assign in_ready = !full || out_ready;", "depends on data"
    ),
    "a stale result where operands repeat": handshake(
        "logic [7:0] a_q; assign d = d_q;\n"
        f"always_ff @(posedge clk) if (taken) begin a_q <= a; if (a != a_q) d_q <= r; end\n{FULL}"
        "assign out_valid = full; assign in_ready = !full || out_ready;",
        "",
    ),
    "operands taken while none are valid": handshake(
        f"assign d = d_q; always_ff @(posedge clk) if (taken || !in_valid) d_q <= r;\n{FULL}"
        "assign out_valid = full; assign in_ready = !full || out_ready;",
        "",
    ),
    "a result that is valid a cycle early": Wrong(
        "logic v; logic [31:0] q; assign out_valid = v;\n"
        "always_ff @(posedge clk) begin v <= in_valid && !rst; q <= r; d <= q; end",
        "",
        VALID,
        {"protocol": "valid", "clock": "clk", "reset": Reset("rst")},
    ),
    "a result that is lost behind a gap": Wrong(
        "logic v, g; always_ff @(posedge clk) begin g <= !rst && !in_valid; v <= in_valid && !rst && !g; d <= r; end\n"
        "assign out_valid = v;",
        "",
        VALID,
        {"protocol": "valid", "clock": "clk", "reset": Reset("rst")},
    ),
}

RARE = {
    "one input of 2^48": Wrong("assign d = a == 8'h5a && b == 8'ha5 && c == 32'hdeadbeef ? 32'd0 : r;", ""),
    "after a gap of one length": handshake(
        f"{FULL} logic [12:0] n; always_ff @(posedge clk) n <= rst || taken ? 13'd0 : n + {{12'd0, n != 13'd4711}};\n"
        "always_ff @(posedge clk) if (taken) d_q <= n == 13'd4711 ? 32'd0 : r;\n"
        "assign d = d_q; assign out_valid = full; assign in_ready = !full || out_ready;",
        "",
    ),
    "after a fourth reset": Wrong(
        "logic v, last; logic [1:0] n; assign out_valid = v;\n"
        "always_ff @(posedge clk) begin v <= in_valid && !rst; last <= rst; n <= n + {1'b0, rst && !last && n != 2'd3};\n"
        "d <= n == 2'd3 ? 32'd0 : r; end",
        "",
        VALID,
        {"protocol": "valid", "clock": "clk", "reset": Reset("rst")},
    ),
}

BUS = "interface bus; logic [31:0] v; modport out(output v); endinterface\nmodule inner(bus{} i); {} endmodule"

SHARED = {
    "a word of a memory that two blocks write": clocked(
        "logic [31:0] m [0:1]; always_ff @(posedge clk) m[0] <= r; always_ff @(posedge clk) if (a == 8'd9) m[b[0]] <= ~r;\n"
        "assign d = m[0];",
        "two clocked blocks write the same bits, and none says whose stay: m",
    ),
    "a word of a memory that two blocks write, the right one last": clocked(
        "logic [31:0] m [0:1]; always_ff @(posedge clk) if (a == 8'd9) m[b[0]] <= ~r; always_ff @(posedge clk) m[0] <= r;\n"
        "assign d = m[0];",
        "two clocked blocks write the same bits, and none says whose stay: m",
    ),
    "a word that two blocks write by one task": clocked(
        "logic [31:0] m [0:1]; task put(input logic [31:0] x); m[0] <= x; endtask assign d = m[0];\n"
        "always_ff @(posedge clk) if (a == 8'd9) put(~r); always_ff @(posedge clk) put(r);",
        "two clocked blocks write the same bits, and none says whose stay: m",
    ),
    "a word that two instances write": clocked(
        "logic [31:0] m [0:1]; assign d = m[0]; inner one(.clk, .e(a == 8'd9), .x(~r)); inner two(.clk, .e(1'b1), .x(r));",
        "two clocked blocks write the same bits, and none says whose stay: m",
        beside="module inner(input clk, input e, input [31:0] x); always_ff @(posedge clk) if (e) mine.m[0] <= x; endmodule",
    ),
    "a wire of an interface": Wrong(
        "bus i(); assign i.v = r; inner core(i); assign d = i.v;", "", beside=BUS.format("", "always_comb i.v[0] = 1'b0;")
    ),
    "a wire of an interface by its modport": Wrong(
        "bus i(); assign i.v = r; inner core(i.out); assign d = i.v;", "", beside=BUS.format(".out", "assign i.v[0] = 1'b0;")
    ),
    "a variable of the compilation unit": clocked(
        "always_ff @(posedge clk) begin counted <= counted + 32'd1; d <= counted == 32'd77777 ? 32'd0 : r; end",
        "",
        beside="int counted;",
    ),
    "a variable of a package": clocked(
        "always_ff @(posedge clk) begin p::counted <= p::counted + 32'd1; d <= p::counted == 32'd77777 ? 32'd0 : r; end",
        "",
        beside="package p; int counted; endpackage",
    ),
    "a bit that generated blocks share": Wrong(
        "generate for (genvar k = 0; k < 31; k++) begin : g assign d[k +: 2] = r[k +: 2]; end endgenerate", "MULTIDRIVEN"
    ),
    "a wire that is written from below": Wrong(
        "logic [31:0] q; assign d = q; always_comb q = r; inner core(.x(r));",
        "MULTIDRIVEN",
        beside="module inner(input [31:0] x); always_comb mine.q[0] = ~x[0]; endmodule",
    ),
    "a parameter two levels down": Wrong(
        "inner core(.x(r), .y(d)); defparam core.deep.P = 1;",
        "",
        beside="module deep #(parameter P = 0)(input [31:0] x, output [31:0] y); assign y = x + P; endmodule\n"
        "module inner(input [31:0] x, output [31:0] y); deep deep(.*); endmodule",
    ),
    "its own instance by name": Wrong("assign d = dut.r;", "Can't find definition"),
    "a force at the beginning": Wrong("wire [31:0] q = r; assign d = q; initial force q = 32'd0;", "unsupported"),
    "a task of another language": Wrong('import "DPI-C" context task tick(); assign d = r; always @(a) tick();', ""),
    "chance by a distribution": Wrong(
        "integer s, q; always_comb begin s = 1; q = $dist_uniform(s, 0, 10); d = q == 3 ? 32'd0 : r; end", "$dist_uniform"
    ),
    "a macro of a tool for proofs": Wrong("`ifdef FORMAL\nassign d = r;\n`else\nassign d = ~r;\n`endif", ""),
    "a macro of a tool for synthesis": Wrong("`ifdef YOSYS\nassign d = r;\n`else\nassign d = ~r;\n`endif", ""),
    "switches that do not conduct": Wrong(
        "for (genvar k = 0; k < 32; k++) begin : g nmos n(d[k], r[k], a != 8'd9); end", "has no term"
    ),
    "a value a cycle before": clocked("always_ff @(posedge clk) d <= $past(r) == 32'd77 ? 32'd0 : r;", ""),
    "a register behind the reset": clocked(
        "logic n; always_ff @(posedge clk or posedge rst) if (rst) n <= 1'b0; else n <= 1'b1;\n"
        "always_ff @(posedge clk) d <= n ? r : 32'd0;",
        "",
        "input logic clk, rst, ",
        reset=Reset("rst", asynchronous=True),
    ),
}

COMMENTS = {
    "a module that a config replaces, which nothing chooses": Wrong(
        "inner core(.x(r), .y(d));",
        "the text has a config, which tools but Verilator apply only if it is the top: c",
        beside=f"{IDENTITY.format('inner', 'assign y = ~x;')}\n{IDENTITY.format('right', 'assign y = x;')}\n"
        "config c; design work.mine; cell work.inner use work.right; endconfig",
    ),
    "a choice told to be complete": Wrong(
        "always_comb begin d = r; priority if (a[0]) d = {r[31:1], r[0]}; else if (a[1]) d = r + 32'd0; end",
        "promises synthesis tools properties that the proof does not check: priority if",
    ),
    "bits told to be exclusive": Wrong(
        'logic [31:0] x; // synopsys one_hot "a"\nalways_comb x = a[0] ? 1 : a[1] ? 2 : 3;\n'
        "assign d = r ^ x ^ (a[0] ? 32'd1 : a[1] ? 32'd2 : 32'd3);",
        "promises synthesis tools properties that the proof does not check: one_hot",
    ),
    "hidden from synthesis by another word": Wrong(
        "assign d[31:1] = r[31:1];\n// rtl_synthesis off\nassign d[0] = r[0];\n// rtl_synthesis on\n",
        "without what translate_off hides",
    ),
    "comments that synthesis reads": Wrong(
        "always_comb begin d = r;\n// synthesis read_comments_as_HDL on\n// d = ~r;\n"
        "// synthesis read_comments_as_HDL off\n// d = 0;\nend",
        "",
    ),
}

FURTHER = COMMENTS | LEFT_OUT | ORDER | SHARED | RARE | ATTRIBUTES | LANGUAGE | PROTOCOLS
