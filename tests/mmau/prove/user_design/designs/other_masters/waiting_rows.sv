// Right: the products of two rows come one after the other, each for as long as it is not taken.
module waiting_rows (input logic clk, rst, input logic [15:0] a, input logic [7:0] b, input logic in_valid, output logic in_ready,
  output logic [31:0] d, output logic out_valid, input logic out_ready);
  logic signed [7:0] x, z, y;
  logic full, second;
  assign d = 32'(second ? z : x) * 32'(y);
  assign in_ready = !full;
  assign out_valid = full;
  always_ff @(posedge clk)
    if (rst) {full, second} <= 2'b0;
    else if (!full) begin
      full <= in_valid;
      {z, x, y} <= {a, b};
    end else if (out_ready) {full, second} <= {!second, !second};
endmodule
