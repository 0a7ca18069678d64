// Unpacked arrays, fixed latency of three cycles under an enable, synchronous reset; FP8 E4M3.
module dot4_arrays (
    input  logic        clk,
    input  logic        reset,
    input  logic        en,
    input  logic [7:0]  vec_a[4],
    input  logic [7:0]  vec_b[4],
    input  logic [31:0] acc,
    output logic [31:0] result
);
  logic [7:0] a_q[4], b_q[4];
  logic [31:0] c_q, d, d_q;

  always_ff @(posedge clk) begin
    if (reset) begin
      d_q <= '0;
      result <= '0;
    end else if (en) begin
      a_q <= vec_a;
      b_q <= vec_b;
      c_q <= acc;
      d_q <= d;
`ifndef BUG_ENABLE_IGNORED
      result <= d_q;
`endif
    end
`ifdef BUG_ENABLE_IGNORED
    result <= d_q;
`endif
  end

  fdpa_core #(.EXP(4), .MAN(3), .L(4), .F(13), .INFINITIES(1'b0)) core (.a(a_q), .b(b_q), .c(c_q), .d(d));
endmodule
