// Wrong: the result is negated where the master still has a on the port in the cycle after start.
module bus (input logic clk, rst, input logic [7:0] a, b, input logic start, output logic done, output logic [31:0] d);
  logic signed [7:0] x, y;
  logic late;
  assign d = 32'(x) * 32'(y);
  always_ff @(posedge clk)
    if (rst) {done, late} <= 2'b0;
    else begin
      late <= start;
      done <= late;
      if (start) begin x <= a; y <= b; end
      if (late && a == x) x <= -x;
    end
endmodule
