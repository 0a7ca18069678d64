// done stays 1 until the next start. Wrong: d is 0 from the second cycle of done on.
module level (input logic clk, rst, input logic [7:0] a, b, input logic start, output logic done, output logic [31:0] d);
  logic signed [7:0] x, y;
  logic l, was;
  assign d = was ? 32'd0 : 32'(x) * 32'(y);
  always_ff @(posedge clk)
    if (rst) {done, l, was} <= 3'b0;
    else begin
      l <= start;
      was <= done && !start;
      done <= !start && (done || l);
      if (start) begin x <= a; y <= b; end
    end
endmodule
