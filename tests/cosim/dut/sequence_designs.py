"""Right designs of the protocols that the wrapper adapts, and what is wrong with copies of them: dot products of int8, and
fp16 with rounding modes, signs, flags and tags."""

from dataclasses import dataclass, field
from tomllib import loads

from golden.units.unit_file import unit_from_table
from rtl.verilog.emit import to_verilog

UNIT = 'name = "mac"\noperation = "IDPA"\nL = 2\noverflow = "wrap"\na = "int8"\nb = "int8"\nc = "int32"\n'


@dataclass(frozen=True)
class Sequence:
    """A design.

    Attributes:
        text: its Verilog. described: its `dut.toml` without top, sources, clock and reset.
        faults: for each wrong copy, a part of the text and what stands in its place.
        unit: its `unit.toml`. inside: a unit whose generated circuit it has, the module `fma`.
        file: its name; one that ends in .vhd is VHDL.
        vectors: number of vectors that show each fault; the default number is sent in volume mode, whose first vectors are
            those of a testbench in Python.
    """

    text: str
    described: str
    faults: dict[str, tuple[str, str]] = field(default_factory=dict)
    unit: str = UNIT
    inside: str = ""
    vectors: int = 1000
    file: str = "dut.sv"

    def files(self, fault: str | None = None) -> dict[str, str]:
        """The files of the right design, or of a copy with a fault."""
        text = self.text
        if fault is not None:
            before, after = self.faults[fault]
            assert text.count(before) == 1, fault
            text = text.replace(before, after)
        text += to_verilog(unit_from_table(loads(self.inside)), "fma") if self.inside else ""
        reset = 'reset = {name = "rst_n", active = "low", asynchronous = true}'
        toml = f'top = "dut"\nsources = ["{self.file}"]\nclock = "clk"\n{reset}\n{self.described}'
        return {self.file: text, "dut.toml": toml, "unit.toml": self.unit}


PRODUCTS = "function automatic logic [31:0] dot(input logic [15:0] x, input logic [15:0] y);\n" + (
    "  dot = $signed(x[7:0]) * $signed(y[7:0]) + $signed(x[15:8]) * $signed(y[15:8]);\nendfunction\n"
)

OPERANDS = "input logic clk, rst_n, input logic [15:0] a, b"

FIRST_LAST = Sequence(
    f"""module dut({OPERANDS}, input logic [31:0] c, input logic in_valid, first, last, output logic out_valid,
  output logic [31:0] d);
{PRODUCTS}  logic v, f, l;
  logic [31:0] p, start, sum;
  wire [31:0] next = p + (f ? start : sum);
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) {{v, f, l, p, start, sum, d, out_valid}} <= '0;
    else begin
      v <= in_valid; f <= first; l <= last; p <= dot(a, b); start <= c;
      out_valid <= v & l;
      if (v) begin sum <= next; d <= next; end
    end
endmodule
""",
    'protocol = "valid"\n[beats]\ncount = {from = 1, to = 5}\nfirst = "first"\nlast = "last"\n',
    {
        "last is dropped": ("out_valid <= v & l;", "out_valid <= v & l & ~(f & l);"),
        "last counts in a gap": ("out_valid <= v & l;", "out_valid <= l;"),
        "the accumulator is stale": ("f <= first;", "f <= first & ~l;"),
        "c is that of the last transfer": ("start <= c;", "if (last) start <= c;"),
        "a transfer is taken in a gap": ("if (v) begin", "if (v | p[2]) begin"),
    },
)

EACH_RESULT = Sequence(
    f"""module dut({OPERANDS}, input logic [31:0] c, input logic in_valid, last, output logic out_valid,
  output logic [31:0] d);
{PRODUCTS}  logic begins;
  wire [31:0] next = dot(a, b) + (begins ? c : d);
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin begins <= 1; d <= 0; out_valid <= 0; end
    else begin
      out_valid <= in_valid;
      if (in_valid) begin d <= next; begins <= last; end
    end
endmodule
""",
    'protocol = "valid"\n[beats]\ncount = {from = 1, to = 5}\nlast = "last"\nresults = "each"\n',
    {
        "c counts in each transfer": ("begins ? c : d", "begins ? c : d + c"),
        "the sum goes on after last": ("begins <= last;", "begins <= 0;"),
        "a reset leaves the sum": ("begins <= 1; d <= 0;", "d <= 0;"),
    },
)

READ_LATER = Sequence(
    f"""module dut({OPERANDS}, input logic clear, in_valid, output logic [31:0] d);
{PRODUCTS}  logic v;
  logic [31:0] p;
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin d <= 0; v <= 0; p <= 0; end
    else begin
      v <= in_valid; p <= dot(a, b);
      if (clear) d <= 0; else if (v) d <= d + p;
    end
endmodule
""",
    'protocol = "fixed-latency"\nlatency = 2\n[ports]\nin_valid = "in_valid"\n[operands]\nc = "none"\n'
    '[beats]\ncount = {from = 1, to = 4}\nclear = "clear"\n',
    {
        "the accumulator is not cleared": ("if (clear) d <= 0;", "if (clear & ~d[4]) d <= 0;"),
        "operands are added without in_valid": ("v <= in_valid;", "v <= 1;"),
    },
)

MATRIX = Sequence(
    """module dut(input logic clk, rst_n, input logic [2:0][1:0][7:0] a, input logic [1:0][1:0][7:0] b,
  input logic [2:0][1:0][31:0] c, input logic in_valid, output logic out_valid, output logic [2:0][1:0][31:0] d);
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin out_valid <= 0; d <= 0; end
    else begin
      out_valid <= in_valid;
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
          d[i][j] <= c[i][j] + 32'(signed'(a[i][0])) * 32'(signed'(b[0][j])) + 32'(signed'(a[i][1])) * 32'(signed'(b[1][j]));
    end
endmodule
""",
    'protocol = "valid"\n[matrix]\nrows = 3\ncolumns = 2\n',
    {
        "rows are swapped": ("d[i][j] <= c[i][j]", "d[i == 2 ? 1 : i == 1 ? 2 : 0][j] <= c[i][j]"),
        "b is read by columns": ("signed'(b[0][j])", "signed'(b[j][0])"),
    },
)

ROW_BY_ROW = Sequence(
    """module dut(input logic clk, rst_n, input logic [2:0][1:0][7:0] a, input logic [1:0][1:0][7:0] b,
  input logic [2:0][1:0][31:0] c, input logic in_valid, output logic in_ready, output logic out_valid,
  input logic out_ready, output logic [1:0][31:0] d);
  logic [2:0][1:0][7:0] x;
  logic [1:0][1:0][7:0] y;
  logic [2:0][1:0][31:0] z;
  logic [1:0] row;
  assign in_ready = ~out_valid;
  always_comb for (int j = 0; j < 2; j++)
    d[j] = z[row][j] + 32'(signed'(x[row][0])) * 32'(signed'(y[j][0])) + 32'(signed'(x[row][1])) * 32'(signed'(y[j][1]));
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin out_valid <= 0; row <= 0; {x, y, z} <= 0; end
    else if (in_valid & in_ready) begin x <= a; y <= b; z <= c; out_valid <= 1; row <= 0; end
    else if (out_valid & out_ready) begin
      row <= row == 2 ? 0 : row + 1;
      if (row == 2) out_valid <= 0;
    end
endmodule
""",
    'protocol = "valid-ready"\n[matrix]\nrows = 3\ncolumns = 2\ncolumns_first = ["b"]\nd = "rows"\n',
    {
        "the last row is missing": ("if (row == 2) out_valid", "if (row >= 1) out_valid"),
        "the first row does not wait": ("out_valid & out_ready)", "out_valid & (out_ready | row == 0))"),
        "rows come from the last": ("row <= row == 2 ? 0 : row + 1;", "row <= row == 0 ? 2 : row == 2 ? 1 : 0;"),
    },
)

OUTER_PRODUCTS = Sequence(
    """module dut(input logic clk, rst_n, input logic [1:0][2:0][7:0] a, input logic [1:0][1:0][7:0] b,
  input logic [2:0][1:0][31:0] c, input logic in_valid, load, last, output logic out_valid, output logic [2:0][1:0][31:0] d);
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin out_valid <= 0; d <= 0; end
    else begin
      out_valid <= in_valid & last;
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
          if (load) d[i][j] <= c[i][j];
          else if (in_valid)
            d[i][j] <= d[i][j] + 32'(signed'(a[0][i])) * 32'(signed'(b[0][j]))
                               + 32'(signed'(a[1][i])) * 32'(signed'(b[1][j]));
    end
endmodule
""",
    'protocol = "valid"\n[matrix]\nrows = 3\ncolumns = 2\ncolumns_first = ["a"]\n'
    '[beats]\ncount = {from = 1, to = 4}\nload = "load"\nlast = "last"\n',
    {"one element is not loaded": ("if (load) d[i][j]", "if (load & ~(i == 2 && j == 1 && d[2][1] != 0)) d[i][j]")},
)

STARTED = Sequence(
    f"""module dut({OPERANDS}, input logic [31:0] c, input logic start, output logic busy, done, output logic [31:0] d);
{PRODUCTS}  logic [1:0][7:0] x, y;
  logic [31:0] z;
  logic [1:0] left;
  assign busy = left != 0;
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin left <= 0; done <= 0; {{x, y, z, d}} <= '0; end
    else begin
      done <= left == 1;
      if (left != 0) left <= left - 1;
      if (left == 1) d <= z + dot(x, y);
      if (start & ~busy) begin x <= a; y <= b; z <= c; left <= 3; end
    end
endmodule
""",
    'protocol = "start-done"\n[ports]\nbusy = "busy"\n',
    {
        "done comes too early": ("done <= left == 1;", "done <= left == 2;"),
        "done comes twice": ("done <= left == 1;", "done <= left == 1 | (done & d[0] & d[7]);"),
        "operands are read after start": ("if (left == 1) d <= z + dot(x, y);", "if (left == 1) d <= z + dot(x, b);"),
    },
)

EACH_OPERAND = Sequence(
    f"""module dut({OPERANDS}, input logic [31:0] c, input logic a_stb, b_stb, c_stb, output logic a_ack, b_ack, c_ack,
  output logic z_stb, input logic z_ack, output logic [31:0] d);
{PRODUCTS}  logic [1:0][7:0] x, y;
  logic [31:0] z;
  logic [2:0] has;
  assign {{a_ack, b_ack, c_ack}} = ~has & {{3{{~z_stb}}}};
  assign d = z + dot(x, y);
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin has <= 0; z_stb <= 0; {{x, y, z}} <= '0; end
    else begin
      if (a_stb & a_ack) begin x <= a; has[2] <= 1; end
      if (b_stb & b_ack) begin y <= b; has[1] <= 1; end
      if (c_stb & c_ack) begin z <= c; has[0] <= 1; end
      if (&has & ~z_stb) z_stb <= 1;
      if (z_stb & z_ack) begin z_stb <= 0; has <= 0; end
    end
endmodule
""",
    'protocol = "operand-handshakes"\n[ports]\na_valid = "a_stb"\na_ready = "a_ack"\nb_valid = "b_stb"\nb_ready = "b_ack"\n'
    'c_valid = "c_stb"\nc_ready = "c_ack"\nout_valid = "z_stb"\nout_ready = "z_ack"\n',
    {
        "b is that of the last handshake": (
            "begin y <= b; has[1] <= 1; end",
            "begin if (has[2] | ~a_stb) y <= b; has[1] <= 1; end",
        ),
        "a is taken with b": ("begin y <= b; has[1]", "begin y <= b; x <= a; has[1]"),
        "the result does not wait for c": ("if (&has & ~z_stb)", "if (&has[2:1] & ~z_stb)"),
    },
)

IN_READY = Sequence(
    f"""module dut({OPERANDS}, input logic [31:0] c, input logic in_valid, output logic in_ready, out_valid,
  output logic [31:0] d);
{PRODUCTS}  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin in_ready <= 0; out_valid <= 0; d <= 0; end
    else begin
      in_ready <= ~(in_valid & in_ready);
      out_valid <= in_valid & in_ready;
      if (in_valid & in_ready) d <= c + dot(a, b);
    end
endmodule
""",
    'protocol = "in-ready"\n',
    {
        "operands are taken while it is not ready": ("out_valid <= in_valid & in_ready;", "out_valid <= in_valid;"),
        "a result is lost": ("out_valid <= in_valid & in_ready;", "out_valid <= in_valid & in_ready & ~(d[3:0] == 5);"),
    },
)

MASKED = Sequence(
    f"""module dut({OPERANDS}, input logic in_valid, first, last, input logic [1:0] mask_i, input logic [5:0] tag_i,
  output logic out_valid, output logic [31:0] d, output logic [5:0] tag_o);
{PRODUCTS}  wire [15:0] kept = a & {{{{8{{mask_i[1]}}}}, {{8{{mask_i[0]}}}}}};
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin out_valid <= 0; d <= 0; tag_o <= 0; end
    else begin
      out_valid <= in_valid & last;
      if (in_valid) begin d <= dot(kept, b) + (first ? 0 : d); tag_o <= tag_i; end
    end
endmodule
""",
    'protocol = "valid"\n[operands]\nc = "none"\n[beats]\ncount = {from = 1, to = 4}\nfirst = "first"\nlast = "last"\n'
    '[controls]\nmask_i = {key = "mask"}\n[echo]\ntag_o = "tag_i"\n',
    {
        "the mask counts in the first transfer alone": ("dot(kept, b)", "dot(first ? kept : a, b)"),
        "the tag is that of the vector before": ("tag_o <= tag_i;", "if (first & ~last) tag_o <= tag_i;"),
    },
)

FP16 = 'name = "mac"\noperation = "FMA"\na = "fp16"\nb = "fp16"\nc = "fp16"\n'

MODES = 'rm_i = {key = "rho", values = {0 = "RNE-FP16", 1 = "RZ-FP16", 2 = "RD-FP16", 3 = "RU-FP16", 4 = "RNA-FP16"}}\n'

WITH_MODES = f"{FP16}flags = true\n[controls]\n{MODES}"

MODES_AND_FLAGS = Sequence(
    """module dut(input logic clk, rst_n, input logic [15:0] a, b, c, input logic in_valid, first, last,
  output logic in_ready, input logic [2:0] rm_i, input logic neg_i, input logic [7:0] tag_i,
  output logic out_valid, input logic out_ready, output logic [15:0] d, output logic [4:0] status_o,
  output logic [7:0] tag_o);
  logic [15:0] sum;
  logic [4:0] raised, so_far;
  assign in_ready = ~out_valid | out_ready;
  wire [15:0] x = {a[15] ^ neg_i, a[14:0]};
  fma unit(.a(x), .b(b), .c(first ? c : d), .rm_i(rm_i), .d(sum), .flags(raised));
  assign so_far = first ? 0 : status_o;
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) {out_valid, d, status_o, tag_o} <= 0;
    else if (in_ready) begin
      out_valid <= in_valid & last;
      if (in_valid) begin d <= sum; status_o <= raised | so_far; tag_o <= tag_i; end
    end
endmodule
""",
    'protocol = "valid-ready"\n[beats]\ncount = {from = 1, to = 6}\nfirst = "first"\nlast = "last"\n'
    f'[controls]\n{MODES}neg_i = {{key = "operation", values = {{0 = {{}}, 1 = {{a = "-a"}}}}}}\n'
    '[echo]\ntag_o = "tag_i"\n[flags]\nstatus_o = ["NX", "UF", "OF", "DZ", "NV"]\n',
    {
        "flags are those of the last transfer": ("status_o <= raised | so_far;", "status_o <= raised;"),
        "flags stay from sum to sum": ("first ? 0 : status_o;", "first & ~last ? 0 : status_o;"),
        "the mode is that of the sum before": (".rm_i(rm_i)", ".rm_i(first ? tag_o[0] ? 3'd1 : rm_i : rm_i)"),
        "only the first product is negated": ("a[15] ^ neg_i", "a[15] ^ (neg_i & first)"),
        "a tag of zeros is not taken": ("tag_o <= tag_i; end", "if (|tag_i[1:0]) tag_o <= tag_i; end"),
    },
    FP16,
    WITH_MODES,
)

SLOW_ADDITION = Sequence(
    f"""module dut({OPERANDS}, input logic in_valid, first, last, output logic out_valid, output logic [31:0] d);
{PRODUCTS}  logic v, begins;
  logic [3:0] ends;
  logic [31:0] p, q, r, late;
  assign out_valid = ends[3];
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) {{v, begins, ends, p, q, r, d, late}} <= '0;
    else begin
      v <= in_valid; begins <= first; ends <= {{ends[2:0], in_valid & last}};
      p <= dot(a, b);
      if (v) q <= p + (begins ? 0 : d);
      r <= q; d <= r; late <= d;
    end
endmodule
""",
    'protocol = "valid"\n[operands]\nc = "none"\n'
    '[beats]\ncount = {from = 1, to = 4}\nfirst = "first"\nlast = "last"\ninterval = 3\n',
    {"an addition takes a cycle more": ("begins ? 0 : d", "begins ? 0 : late")},
)

FROM_THE_PRODUCT = Sequence(
    """module dut(input logic clk, rst_n, input logic [15:0] a, b, input logic in_valid, first, last, output logic out_valid,
  output logic [15:0] d);
  logic [15:0] sum;
  fma unit(.a(a), .b(b), .c(first ? 16'h8000 : d), .rm_i(3'd0), .d(sum), .flags());
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) {out_valid, d} <= 0;
    else begin
      out_valid <= in_valid & last;
      if (in_valid) d <= sum;
    end
endmodule
""",
    'protocol = "valid"\n[operands]\nc = "none"\n'
    '[beats]\ncount = {from = 1, to = 3}\nfirst = "first"\nlast = "last"\nstart = "product"\n',
    {"the first product is added to +0": ("16'h8000", "16'h0000")},
    FP16,
    WITH_MODES,
)

FLAGS_OF_THE_LAST = Sequence(
    """module dut(input logic clk, rst_n, input logic [15:0] a, b, c, input logic in_valid, load, last,
  input logic [2:0] rm_i, output logic out_valid, output logic [15:0] d, output logic [4:0] status_o);
  logic [15:0] sum;
  logic [4:0] raised;
  fma unit(.a(a), .b(b), .c(d), .rm_i(rm_i), .d(sum), .flags(raised));
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) {out_valid, d, status_o} <= 0;
    else begin
      out_valid <= in_valid & last;
      if (load) d <= c; else if (in_valid) begin d <= sum; status_o <= raised; end
    end
endmodule
""",
    'protocol = "valid"\n[beats]\ncount = {from = 1, to = 3}\nload = "load"\nlast = "last"\nflags = "last"\n'
    f'[controls]\n{MODES}[flags]\nstatus_o = ["NX", "UF", "OF", "DZ", "NV"]\n',
    {
        "flags are those of all transfers": ("status_o <= raised;", "status_o <= raised | (last ? status_o : 5'd0);"),
        "the mode is that of the result before": (".rm_i(rm_i)", ".rm_i(d[0] & last ? 3'd0 : rm_i)"),
    },
    FP16,
    WITH_MODES,
)

MATRIX_WITH_FLAGS = Sequence(
    """module dut(input logic clk, rst_n, input logic [1:0][15:0] a, b, input logic [1:0][1:0][15:0] c, input logic in_valid,
  input logic [2:0] rm_i, input logic sub_i, input logic [3:0] tag_i, output logic out_valid,
  output logic [1:0][1:0][15:0] d, output logic [4:0] status_o, output logic [3:0] tag_o);
  logic [1:0][1:0][15:0] sum;
  logic [1:0][1:0][4:0] raised;
  for (genvar i = 0; i < 2; i++) for (genvar j = 0; j < 2; j++)
    fma unit(.a(a[i]), .b(b[j]), .c(c[i][j] ^ {sub_i, 15'd0}), .rm_i(rm_i), .d(sum[i][j]), .flags(raised[i][j]));
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) {out_valid, d, status_o, tag_o} <= 0;
    else begin
      out_valid <= in_valid;
      if (in_valid) begin
        d <= sum; tag_o <= tag_i;
        status_o <= raised[0][0] | raised[0][1] | raised[1][0] | raised[1][1];
      end
    end
endmodule
""",
    'protocol = "valid"\n[matrix]\nrows = 2\ncolumns = 2\n'
    f'[controls]\n{MODES}sub_i = {{key = "operation", values = {{0 = {{}}, 1 = {{c = "-c"}}}}}}\n'
    '[echo]\ntag_o = "tag_i"\n[flags]\nstatus_o = ["NX", "UF", "OF", "DZ", "NV"]\n',
    {
        "flags of one element are lost": (" | raised[1][1];", ";"),
        "one element is not subtracted": ("{sub_i, 15'd0}", "{sub_i & ~(i == 1 && j == 0), 15'd0}"),
    },
    FP16,
    WITH_MODES,
)

STARTED_WITH_FLAGS = Sequence(
    """module dut(input logic clk, rst_n, input logic [15:0] a, b, c, input logic start, input logic [2:0] rm_i,
  input logic [3:0] tag_i, output logic busy, done, output logic [15:0] d, output logic [4:0] status_o,
  output logic [3:0] tag_o);
  logic [15:0] x, y, z, sum;
  logic [4:0] raised;
  logic [2:0] mode;
  fma unit(.a(x), .b(y), .c(z), .rm_i(mode), .d(sum), .flags(raised));
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) {busy, done, x, y, z, d, mode, status_o, tag_o} <= 0;
    else begin
      busy <= start & ~busy;
      done <= busy;
      if (start & ~busy) begin x <= a; y <= b; z <= c; mode <= rm_i; tag_o <= tag_i; end
      if (busy) begin d <= sum; status_o <= raised; end
    end
endmodule
""",
    'protocol = "start-done"\n[ports]\nbusy = "busy"\n'
    f'[controls]\n{MODES}[echo]\ntag_o = "tag_i"\n[flags]\nstatus_o = ["NX", "UF", "OF", "DZ", "NV"]\n',
    {
        "the mode is read after start": (".rm_i(mode)", ".rm_i(rm_i)"),
        "flags are those of the results before": ("status_o <= raised; end", "end if (done) status_o <= raised;"),
    },
    FP16,
    WITH_MODES,
)

EACH_OPERAND_WITH_A_MODE = Sequence(
    """module dut(input logic clk, rst_n, input logic [15:0] a, b, input logic a_stb, b_stb, input logic sub_i,
  output logic a_ack, b_ack, z_stb, input logic z_ack, output logic [15:0] d, output logic [4:0] status_o);
  logic [15:0] x, y;
  logic [1:0] has;
  logic sub;
  assign {a_ack, b_ack} = ~has & {2{~z_stb}};
  fma unit(.a(x), .b(16'h3c00), .c({y[15] ^ sub, y[14:0]}), .rm_i(3'd0), .d(d), .flags(status_o));
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) {has, z_stb, x, y, sub} <= 0;
    else begin
      if (a_stb & a_ack) begin x <= a; sub <= sub_i; has[1] <= 1; end
      if (b_stb & b_ack) begin y <= b; has[0] <= 1; end
      if (&has & ~z_stb) z_stb <= 1;
      if (z_stb & z_ack) begin z_stb <= 0; has <= 0; end
    end
endmodule
""",
    'protocol = "operand-handshakes"\n[ports]\na_valid = "a_stb"\na_ready = "a_ack"\nb_valid = "b_stb"\nb_ready = "b_ack"\n'
    'out_valid = "z_stb"\nout_ready = "z_ack"\n[controls]\nsub_i = {key = "operation", values = {0 = {}, 1 = {b = "-b"}}}\n'
    '[flags]\nstatus_o = ["NX", "UF", "OF", "DZ", "NV"]\n',
    {"the sign is read after the operands": ("{y[15] ^ sub,", "{y[15] ^ sub_i,")},
    'name = "add"\noperation = "ADD"\na = "fp16"\nb = "fp16"\n',
    WITH_MODES,
)

EXACT_SUM = """
module exact_sum #(parameter L = 1)(input logic [31:0] c, input logic [L-1:0][15:0] a, b, output logic [31:0] d);
  // c + the products of fp16 numbers, as integers in units of 2^-48, rounded once
  logic signed [127:0] of_c, of_products, product, total;
  logic [127:0] most;
  logic [23:0] kept;
  logic is_nan, plus, minus, guard, sticky;
  int unsigned lead;
  function automatic logic [127:0] magnitude(input logic [15:0] x);
    magnitude = x[14:10] == 0 ? 128'(x[9:0]) : 128'({1'b1, x[9:0]}) << (x[14:10] - 1);
  endfunction
  always_comb begin
    is_nan = &c[30:23] & |c[22:0];
    plus = &c[30:23] & ~|c[22:0] & ~c[31];
    minus = &c[30:23] & ~|c[22:0] & c[31];
    of_products = 0;
    for (int k = 0; k < L; k++) begin
      product = magnitude(a[k]) * magnitude(b[k]);
      of_products = of_products + (a[k][15] ^ b[k][15] ? -product : product);
      if (&a[k][14:10] | &b[k][14:10]) begin
        if (&a[k][14:10] & |a[k][9:0] | &b[k][14:10] & |b[k][9:0] | ~|a[k][14:0] | ~|b[k][14:0]) is_nan = 1;
        else if (a[k][15] ^ b[k][15]) minus = 1;
        else plus = 1;
      end
    end
    of_c = c[30:23] == 0 ? 0 : 128'((280'({1'b1, c[22:0]}) << c[30:23]) >> 102);
    if (c[31]) of_c = -of_c;
    total = of_c + of_products;
    most = total < 0 ? -total : total;
    lead = 0;
    for (int unsigned k = 0; k < 128; k++) if (most[k]) lead = k;
    kept = 24'(lead >= 23 ? most >> (lead - 23) : most << (23 - lead));
    guard = lead >= 24 & |(most & 128'd1 << (lead - 24));
    sticky = lead >= 25 & |(most & ~({128{1'b1}} << (lead - 24)));
    d = most == 0 ? 0 : {total < 0, 8'(lead + 79), kept[22:0]} + 32'(guard & (sticky | kept[0]));
    if (is_nan | plus & minus) d = 32'h7fc00000;
    else if (plus | minus) d = {minus, 31'h7f800000};
  end
endmodule
"""
"""Sums of a c that sums of products reach: multiples of 2^-48, of which the smallest is a normal number."""

ROUNDING_FAULTS = {
    "bits below the guard bit are dropped": ("sticky | kept[0]", "kept[0]"),
    "the guard bit is dropped": ("32'(guard & (sticky | kept[0]))", "32'd0"),
    "a subtracted term far below is dropped": (
        "total = of_c + of_products;",
        "total = (of_c < 0) != (of_products < 0) && c[30:23] > 103 && (of_products < 0 ? -of_products : of_products)\n"
        "      < 128'd1 << (c[30:23] - 103) ? of_c : of_c + of_products;",
    ),
    "bits 40 places below c are dropped": (
        "total = of_c + of_products;",
        "total = of_c + (c[30:23] > 119 ? of_products >>> c[30:23] - 119 <<< c[30:23] - 119 : of_products);",
    ),
}

WIDE = 'name = "mac"\noperation = "E-FDPA"\nL = {}\na = "fp16"\nb = "fp16"\nc = "fp32"\nrho = "RNE-FP32"\n'

NO_C = '[operands]\nc = "none"\n[compare]\nnan = "any"\n'


ONE_BY_ONE = Sequence(
    f"""module dut(input logic clk, rst_n, input logic [15:0] a, b, input logic in_valid, first, last,
  output logic out_valid, output logic [31:0] d);
  logic [31:0] sum;
  exact_sum adder(.c(first ? 0 : d), .a(a), .b(b), .d(sum));
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) {{out_valid, d}} <= 0;
    else begin
      out_valid <= in_valid & last;
      if (in_valid) d <= sum;
    end
endmodule
{EXACT_SUM}""",
    f'protocol = "valid"\n{NO_C}[beats]\ncount = {{from = 1, to = 4}}\nfirst = "first"\nlast = "last"\n',
    ROUNDING_FAULTS,
    WIDE.format(1),
    vectors=20_000,
)

WITHOUT_C = Sequence(
    f"""module dut(input logic clk, rst_n, input logic [5:0][15:0] a, b, output logic [31:0] d);
  logic [31:0] sum;
  exact_sum #(.L(6)) adder(.c(0), .a(a), .b(b), .d(sum));
  always_ff @(posedge clk or negedge rst_n) if (!rst_n) d <= 0; else d <= sum;
endmodule
{EXACT_SUM}""",
    f'protocol = "fixed-latency"\nlatency = 1\n{NO_C}',
    {name: ROUNDING_FAULTS[name] for name in ("bits below the guard bit are dropped",)},
    WIDE.format(6),
    vectors=20_000,
)

MATRIX_OF_SUMS = Sequence(
    f"""module dut(input logic clk, rst_n, input logic [1:0][1:0][15:0] a, b, input logic in_valid, first, last,
  output logic out_valid, output logic [1:0][1:0][31:0] d);
  for (genvar i = 0; i < 2; i++) begin : row
    for (genvar j = 0; j < 2; j++) begin : column
      logic [31:0] sum;
      exact_sum #(.L(2)) adder(.c(first ? 0 : d[i][j]), .a(a[i]), .b(b[j]), .d(sum));
      always_ff @(posedge clk or negedge rst_n) if (!rst_n) d[i][j] <= 0; else if (in_valid) d[i][j] <= sum;
    end
  end
  always_ff @(posedge clk or negedge rst_n) if (!rst_n) out_valid <= 0; else out_valid <= in_valid & last;
endmodule
{EXACT_SUM}""",
    f'protocol = "valid"\n{NO_C}[matrix]\nrows = 2\ncolumns = 2\ncolumns_first = ["b"]\n'
    '[beats]\ncount = {from = 1, to = 3}\nfirst = "first"\nlast = "last"\n',
    {name: ROUNDING_FAULTS[name] for name in ("a subtracted term far below is dropped",)},
    WIDE.format(2),
    vectors=20_000,
)

SEQUENCES = {
    "first and last": FIRST_LAST,
    "a result for each transfer": EACH_RESULT,
    "read out later": READ_LATER,
    "a matrix": MATRIX,
    "a matrix row by row": ROW_BY_ROW,
    "outer products": OUTER_PRODUCTS,
    "start and done": STARTED,
    "a handshake for each operand": EACH_OPERAND,
    "ready for operands alone": IN_READY,
    "an addition that takes three cycles": SLOW_ADDITION,
    "a sum that begins with its first product": FROM_THE_PRODUCT,
    "a mask and a tag": MASKED,
    "modes, signs, flags and tags": MODES_AND_FLAGS,
    "flags of the last transfer": FLAGS_OF_THE_LAST,
    "a matrix with modes and flags": MATRIX_WITH_FLAGS,
    "start with modes and flags": STARTED_WITH_FLAGS,
    "a handshake for each operand, and a sign": EACH_OPERAND_WITH_A_MODE,
    "a sum of one product a transfer": ONE_BY_ONE,
    "six products without c": WITHOUT_C,
    "a matrix of sums without c": MATRIX_OF_SUMS,
}
"""Every design, by name."""
