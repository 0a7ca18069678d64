// Right: a sum of products that is shown after each of them, for as long as it is not taken.
module sums (input logic clk, rst, input logic [7:0] a, b, input logic in_valid, first, output logic in_ready,
  output logic [31:0] d, output logic out_valid, input logic out_ready);
  assign in_ready = !out_valid || out_ready;
  always_ff @(posedge clk)
    if (rst) out_valid <= 1'b0;
    else if (in_ready) begin
      out_valid <= in_valid;
      if (in_valid) d <= (first ? 32'd0 : d) + 32'($signed(a)) * 32'($signed(b));
    end
endmodule
