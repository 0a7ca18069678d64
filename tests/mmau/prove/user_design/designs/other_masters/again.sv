// Right: takes a start in the cycle of done, in which busy is 0. Done stays 1 until the next start.
module again (input logic clk, rst, input logic [7:0] a, b, input logic start, output logic busy, done, output logic [31:0] d);
  logic signed [7:0] x, y;
  always_ff @(posedge clk)
    if (rst) {busy, done} <= 2'b0;
    else if (busy) begin
      d <= 32'(x) * 32'(y);
      {busy, done} <= 2'b01;
    end else if (start && !busy) begin
      {busy, done} <= 2'b10;
      x <= a;
      y <= b;
    end
endmodule
