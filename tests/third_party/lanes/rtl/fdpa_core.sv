// Combinational: d = RZ_fp32(sum of products and c, each cut to F bits at the largest exponent).
// Written as a reader of the published model would: a loop a step, no sharing.
`include "defaults.svh"
module fdpa_core
  import fdpa_pkg::*;
#(
    parameter int EXP = 5,
    parameter int MAN = 10,
    parameter int L = 4,
    parameter int F = 24,
    parameter int E_ZERO = -132,
    parameter bit INFINITIES = 1'b1,
    localparam int W = EXP + MAN + 1
) (
    input  logic [W-1:0] a[L],
    input  logic [W-1:0] b[L],
    input  logic [31:0] c,
    output logic [31:0] d
);
  localparam int Bias = 2 ** (EXP - 1) - 1;

  function automatic operand_t decode(logic [W-1:0] x);
    operand_t o;
    logic [EXP-1:0] stored = `EXPONENT_OF(x, W, MAN);
    logic [MAN-1:0] mantissa = `MANTISSA_OF(x, MAN);
    o.sign = `SIGN_OF(x, W);
`ifdef BUG_SUBNORMAL_EXPONENT
    o.exponent = 12'(int'(stored) - Bias);
`else
    o.exponent = stored == 0 ? 12'(1 - Bias) : 12'(int'(stored) - Bias);
`endif
    o.significand = 48'({stored != 0, mantissa});
    o.inf = INFINITIES && &stored && mantissa == 0;
    o.nan = &stored && (INFINITIES ? mantissa != 0 : &mantissa);
    return o;
  endfunction

  operand_t x[L], y[L];
  logic c_inf, c_nan, any_nan, pos_inf, neg_inf;
  int exponents[L+1];
  int e_max, top, shift;
  logic [63:0] magnitudes[L+1], aligned[L+1], magnitude;
  logic signs[L+1];
  logic signed [63:0] total;

  always_comb begin
    // terms
    any_nan = 1'b0;
    pos_inf = 1'b0;
    neg_inf = 1'b0;
    for (int k = 0; k < L; k++) begin
      x[k] = decode(a[k]);
      y[k] = decode(b[k]);
      signs[k] = x[k].sign ^ y[k].sign;
      magnitudes[k] = 64'(x[k].significand * y[k].significand);
      exponents[k] = magnitudes[k] == 0 ? E_ZERO : int'(x[k].exponent) + int'(y[k].exponent);
`ifdef BUG_PRODUCT_RENORMALISED
      if (magnitudes[k] >> (2 * MAN + 1) != 0) begin
        exponents[k] += 1;
        magnitudes[k] >>= 1;
      end
`endif
      any_nan |= x[k].nan | y[k].nan | (x[k].inf & y[k].significand == 0) | (y[k].inf & x[k].significand == 0);
      pos_inf |= (x[k].inf | y[k].inf) & ~signs[k];
      neg_inf |= (x[k].inf | y[k].inf) & signs[k];
    end
    c_inf = &c[30:23] && c[22:0] == 0;
    c_nan = &c[30:23] && c[22:0] != 0;
    signs[L] = c[31];
    magnitudes[L] = 64'({c[30:23] != 0, c[22:0]});
`ifdef BUG_ZERO_C_KEEPS_HIDDEN_BIT
    if (c[30:0] == 0) magnitudes[L] = 64'd1 << FP32_MAN;
`endif
    exponents[L] = magnitudes[L] == 0 ? E_ZERO : (c[30:23] == 0 ? -126 : int'(c[30:23]) - 127);
    any_nan |= c_nan;
    pos_inf |= c_inf & ~c[31];
    neg_inf |= c_inf & c[31];
    // alignment
    e_max = exponents[L];
`ifdef BUG_MAX_WITHOUT_C
    e_max = exponents[0];
`endif
    for (int k = 0; k < L; k++) if (exponents[k] > e_max) e_max = exponents[k];
    total = 0;
    for (int k = 0; k <= L; k++) begin
      shift = e_max - exponents[k] + (k == L ? int'(FP32_MAN) : 2 * MAN) - F;
      if (shift >= 64) aligned[k] = 0;
      else if (shift >= 0) aligned[k] = magnitudes[k] >> shift;
      else aligned[k] = magnitudes[k] << -shift;
      total = signs[k] ? total - signed'(aligned[k]) : total + signed'(aligned[k]);
    end
    // normalise and cut toward zero
    magnitude = total < 0 ? 64'(-total) : 64'(total);
    top = 0;
    for (int i = 0; i < 64; i++) if (magnitude[i]) top = i;
    d = 32'b0;
    if (any_nan || (pos_inf && neg_inf)) d = NAN;
    else if (pos_inf || neg_inf) d = {neg_inf, 8'hff, 23'b0};
    else if (magnitude != 0) begin
      if (e_max - F + top > 127) d = {total < 0, 8'hff, 23'b0};
      else if (e_max - F + top >= -126) begin
        magnitude = top > 23 ? magnitude >> (top - 23) : magnitude << (23 - top);
        d = {total < 0, 8'(e_max - F + top + 127), magnitude[22:0]};
      end else begin
        shift = -149 - (e_max - F);
        magnitude = shift >= 64 ? 0 : shift > 0 ? magnitude >> shift : magnitude << -shift;
        d = magnitude[22:0] == 0 ? 32'b0 : {total < 0, 8'b0, magnitude[22:0]};
`ifdef BUG_SUBNORMALS_FLUSHED
        d = 32'b0;
`endif
      end
    end
  end
endmodule
