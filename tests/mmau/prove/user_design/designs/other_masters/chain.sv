// Right: no reset of data, of which each stage holds both operands.
module chain (input logic clk, rst, input logic [7:0] a, b, input logic in_valid, output logic [31:0] d, output logic out_valid);
  logic [3:0] valid;
  logic [15:0] p, q, r, s;
  assign out_valid = valid[3];
  assign d = 32'($signed(s[15:8])) * 32'($signed(s[7:0]));
  always_ff @(posedge clk) begin
    valid <= rst ? 4'd0 : {valid[2:0], in_valid};
    {p, q, r, s} <= {a, b, p, q, r};
  end
endmodule
