"""Right designs of the protocols that the wrapper adapts, and what is wrong with copies of them: dot products of int8."""

from dataclasses import dataclass, field

UNIT = 'name = "mac"\noperation = "IDPA"\nL = 2\noverflow = "wrap"\na = "int8"\nb = "int8"\nc = "int32"\n'


@dataclass(frozen=True)
class Sequence:
    """A design.

    Attributes:
        text: its Verilog. described: its `dut.toml` without top, sources, clock and reset.
        faults: for each wrong copy, a part of the text and what stands in its place.
    """

    text: str
    described: str
    faults: dict[str, tuple[str, str]] = field(default_factory=dict)

    def files(self, fault: str | None = None) -> dict[str, str]:
        """The files of the right design, or of a copy with a fault."""
        text = self.text
        if fault is not None:
            before, after = self.faults[fault]
            assert text.count(before) == 1, fault
            text = text.replace(before, after)
        reset = 'reset = {name = "rst_n", active = "low", asynchronous = true}'
        toml = f'top = "dut"\nsources = ["dut.sv"]\nclock = "clk"\n{reset}\n{self.described}'
        return {"dut.sv": text, "dut.toml": toml, "unit.toml": UNIT}


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
}
"""Every design, by name."""
