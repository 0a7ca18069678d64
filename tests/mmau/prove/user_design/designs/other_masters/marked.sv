// Right: a sum of products, of which the first and the last are marked.
module marked (input logic clk, rst, input logic [7:0] a, b, input logic in_valid, first, last, output logic in_ready,
  output logic [31:0] d, output logic out_valid, input logic out_ready);
  wire signed [31:0] product = 32'($signed(a)) * 32'($signed(b));
  wire taken = in_valid && in_ready;
  assign in_ready = !out_valid || out_ready;
  always_ff @(posedge clk)
    if (rst) out_valid <= 1'b0;
    else begin
      if (out_ready) out_valid <= 1'b0;
      if (taken) d <= (first ? 32'd0 : d) + product;
      if (taken && last) out_valid <= 1'b1;
    end
endmodule
