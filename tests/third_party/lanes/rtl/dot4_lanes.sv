// Separate lanes, valid only, asynchronous reset that is active low; two registers.
module dot4_lanes #(
    parameter int F = 24
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        flush_i,
    input  logic        valid_i,
    input  logic [15:0] a0_i, a1_i, a2_i, a3_i,
    input  logic [15:0] b0_i, b1_i, b2_i, b3_i,
    input  logic [31:0] c_i,
    output logic        valid_o,
    output logic [31:0] d_o
);
  logic [15:0] a_q[4], b_q[4];
  logic [31:0] c_q, d;
  logic valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
`ifndef BUG_VALID_NOT_RESET
      valid_q <= 1'b0;
      valid_o <= 1'b0;
`endif
    end else begin
      valid_q <= valid_i & ~flush_i;
      valid_o <= valid_q & ~flush_i;
    end
  end

  always_ff @(posedge clk_i) begin
    a_q <= '{a0_i, a1_i, a2_i, a3_i};
`ifdef BUG_LANES_SWAPPED
    b_q <= '{b0_i, b2_i, b1_i, b3_i};
`else
    b_q <= '{b0_i, b1_i, b2_i, b3_i};
`endif
    c_q <= c_i;
`ifdef BUG_OUTPUT_INVERTED
    d_o <= ~d;
`else
    d_o <= d;
`endif
  end

  fdpa_core #(.L(4), .F(F)) core (.a(a_q), .b(b_q), .c(c_q), .d(d));
endmodule
