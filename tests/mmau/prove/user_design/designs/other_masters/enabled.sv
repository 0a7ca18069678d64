// Right: an enable around conditions of its own.
module enabled (input logic clk, rst, en, input logic [7:0] a, b, input logic in_valid, output logic in_ready,
  output logic [31:0] d, output logic out_valid, input logic out_ready);
  logic signed [7:0] x, y;
  assign d = 32'(x) * 32'(y);
  assign in_ready = !out_valid || out_ready;
  always_ff @(posedge clk)
    if (rst) out_valid <= 1'b0;
    else if (en) begin
      if (in_ready) out_valid <= in_valid;
      if (in_ready && in_valid) begin x <= a; y <= b; end
    end
endmodule
