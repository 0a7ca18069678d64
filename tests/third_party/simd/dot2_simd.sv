// Combinational, both operands in one packed array of structs, element 0 in the highest bits; two results at once.
package simd_pkg;
  typedef struct packed {
    logic sign;
    logic [4:0] exponent;
    logic [9:0] mantissa;
  } fp16_t;
endpackage

module dot2_simd
  import simd_pkg::*;
(
    input  fp16_t [0:3] operands_i[2],
    input  logic [1:0][31:0] addend_i,
    output logic [1:0][31:0] result_o
);
  for (genvar r = 0; r < 2; r++) begin : gen_result
    logic [15:0] a[2], b[2];
    for (genvar k = 0; k < 2; k++) begin : gen_element
      assign a[k] = operands_i[0][2*r+1-k];
`ifdef BUG_RESULT_OF_THE_OTHER
      assign b[k] = operands_i[1][2*(1-r)+1-k];
`else
      assign b[k] = operands_i[1][2*r+1-k];
`endif
    end
    fdpa_core #(.L(2), .F(23), .E_ZERO(-131)) core (.a(a), .b(b), .c(addend_i[r]), .d(result_o[r]));
  end
endmodule
