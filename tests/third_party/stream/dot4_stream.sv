// Valid and ready on both sides, a register that holds its result while it waits; packed vectors; reset active high.
module dot4_stream #(
    parameter int unsigned L = 2
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [16*L-1:0]  s_a,
    input  logic [16*L-1:0]  s_b,
    input  logic [31:0]      s_c,
    input  logic             s_valid,
    output logic             s_ready,
    output logic [31:0]      m_data,
    output logic             m_valid,
    input  logic             m_ready
);
  logic [15:0] a[L], b[L];
  logic [31:0] d;
  for (genvar k = 0; k < L; k++) begin : gen_lane
    assign a[k] = s_a[16*k+:16];
    assign b[k] = s_b[16*k+:16];
  end

`ifdef BUG_READY_WHILE_FULL
  assign s_ready = 1'b1;
`else
  assign s_ready = ~m_valid | m_ready;
`endif

  always_ff @(posedge clk) begin
    if (s_valid & s_ready) m_data <= d;
    if (s_ready) m_valid <= s_valid;
`ifndef BUG_VALID_NOT_RESET
    if (rst) m_valid <= 1'b0;
`endif
  end

  fdpa_core #(.L(L), .F(24)) core (.a(a), .b(b), .c(s_c), .d(d));
endmodule
