// Right: up to two a wait for their b.
module each_queue (input logic clk, rst, input logic [7:0] a, b, input logic a_valid, b_valid, output logic a_ready, b_ready,
  output logic [31:0] d, output logic d_valid, input logic d_ready);
  logic [1:0] n_a;
  logic has_b;
  logic signed [7:0] x, later, y;
  wire comes = a_valid && a_ready, leaves = d_valid && d_ready;
  assign d_valid = n_a != 2'd0 && has_b;
  assign {a_ready, b_ready} = {n_a != 2'd2, !has_b};
  assign d = 32'(x) * 32'(y);
  always_ff @(posedge clk)
    if (rst) {n_a, has_b} <= 3'b0;
    else begin
      n_a <= n_a + 2'(comes) - 2'(leaves);
      if (leaves) x <= later;
      if (comes && n_a == 2'(leaves)) x <= a;
      else if (comes) later <= a;
      if (b_valid && b_ready) begin y <= b; has_b <= 1'b1; end
      if (leaves) has_b <= 1'b0;
    end
endmodule
