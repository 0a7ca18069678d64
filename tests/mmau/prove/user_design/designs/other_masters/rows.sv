// Right: the products of two rows come one after the other, the second for as long as no start comes.
module rows (input logic clk, rst, input logic [15:0] a, input logic [7:0] b, input logic start, output logic done,
  output logic [31:0] d);
  logic signed [7:0] x, z, y;
  logic second;
  assign d = 32'(second ? z : x) * 32'(y);
  always_ff @(posedge clk)
    if (rst) {done, second} <= 2'b0;
    else if (start) begin
      {done, second} <= 2'b10;
      {z, x} <= a;
      y <= b;
    end else second <= done;
endmodule
