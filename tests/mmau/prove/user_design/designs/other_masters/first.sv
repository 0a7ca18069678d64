// Wrong: a start in the first cycle after reset is lost.
module first (input logic clk, rst, input logic [7:0] a, b, input logic start, output logic done, output logic [31:0] d);
  logic signed [7:0] x, y;
  logic fresh;
  assign d = 32'(x) * 32'(y);
  always_ff @(posedge clk)
    if (rst) {done, fresh} <= 2'b1;
    else begin
      fresh <= 1'b0;
      done <= start && !fresh;
      if (start) begin x <= a; y <= b; end
    end
endmodule
