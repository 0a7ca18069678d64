// Results of a sound combinational datapath, in a queue of four behind a register for operands. With FAULTY, a full queue that
// was not read for 20 cycles loses its last entry if the result that comes next is zero or subnormal.
module fifo (
    input wire clk, input wire rst,
    input wire in_valid, output wire in_ready, input wire [15:0] a, input wire [15:0] b, input wire [31:0] c,
    output wire out_valid, input wire out_ready, output wire [31:0] d
);
  reg is_held;
  reg [15:0] a_held, b_held;
  reg [31:0] c_held;
  wire [31:0] sum;
  core core (.a(a_held), .b(b_held), .c(c_held), .d(sum));

  reg [31:0] queue[0:3];
  reg [2:0] written, read;
  wire [2:0] entries = written - read;
  wire is_full = entries == 4, put = is_held & ~is_full, take = in_valid & in_ready, give = out_valid & out_ready;
  assign in_ready = ~is_held | ~is_full;
  assign out_valid = written != read;
  assign d = queue[read[1:0]];

  reg [4:0] full_for;
  wire [1:0] last = written[1:0] - 1, one_before = last - 1;
  always @(posedge clk)
    if (rst) begin
      is_held <= 0;
      written <= 0;
      read <= 0;
      full_for <= 0;
    end else begin
      if (in_ready) is_held <= in_valid;
      written <= written + {2'b0, put};
      read <= read + {2'b0, give};
      full_for <= is_full & ~give ? full_for + {4'b0, ~&full_for} : 0;
    end
  always @(posedge clk) begin
    if (take) {a_held, b_held, c_held} <= {a, b, c};
    if (put) queue[written[1:0]] <= sum;
`ifdef FAULTY
    if (full_for == 19 & in_valid & sum[30:23] == 0) queue[last] <= queue[one_before];
`endif
  end
endmodule
