// Wrong: a is lost (0 in its place) where its producer still has it on the bus in the cycle in which b comes.
module each_bus (input logic clk, rst, input logic [7:0] a, b, input logic a_valid, b_valid, output logic a_ready, b_ready,
  output logic [31:0] d, output logic d_valid, input logic d_ready);
  logic has_a, has_b;
  logic signed [7:0] x, y;
  assign d_valid = has_a && has_b;
  assign {a_ready, b_ready} = {!has_a, !has_b};
  assign d = 32'(x) * 32'(y);
  always_ff @(posedge clk)
    if (rst) {has_a, has_b} <= 2'b0;
    else begin
      if (a_valid && a_ready) begin x <= a; has_a <= 1'b1; end
      if (b_valid && b_ready) begin y <= b; has_b <= 1'b1; if (has_a && x == a) x <= 8'd0; end
      if (d_valid && d_ready) {has_a, has_b} <= 2'b0;
    end
endmodule
