// d = a0*b0 + a1*b1 + c, e4m3 products and an fp32 accumulator, cut at 13 bits below the largest exponent.
// Two's complement throughout: arithmetic is done on signed terms, c first; the exponent is biased by 133.
module dot2_e4m3 (
    input  logic [7:0]  a0_i, a1_i, b0_i, b1_i,
    input  logic [31:0] c_i,
    output logic [31:0] d_o
);
  localparam int Bias = 133;

  typedef struct packed {
    logic sign;
    logic [8:0] exponent;  // biased; 0 where the term is zero
    logic [14:0] significand;  // 13 fraction bits
    logic nan;
  } term_t;

  function automatic term_t product(input logic [7:0] x, input logic [7:0] y);
    term_t p;
    logic [3:0] x_exp, y_exp, x_sig, y_sig;
    logic [7:0] sig;
    x_exp = x[6:3] == 0 ? 4'd1 : x[6:3];
    y_exp = y[6:3] == 0 ? 4'd1 : y[6:3];
    x_sig = {|x[6:3], x[2:0]};
    y_sig = {|y[6:3], y[2:0]};
    sig = 8'd0;
    for (int i = 0; i < 4; i++) if (y_sig[i]) sig += {4'd0, x_sig} << i;
    p.sign = x[7] ^ y[7];
    p.exponent = sig == 0 ? 9'd0 : 9'(x_exp) + 9'(y_exp) + 9'(Bias - 14);
    p.significand = {sig, 7'd0};
    p.nan = (&x[6:0]) | (&y[6:0]);
    return p;
  endfunction

  // right shift in powers of two; what is beyond is zero
  function automatic logic [14:0] shifted(input logic [14:0] x, input logic [8:0] places);
    logic [14:0] y;
    y = x;
    if (places[0]) y = y >> 1;
    if (places[1]) y = y >> 2;
    if (places[2]) y = y >> 4;
    if (places[3]) y = y >> 8;
    if (|places[8:4]) y = '0;
    return y;
  endfunction

  term_t p0, p1;
  logic [8:0] c_exp, e_max;
  logic [13:0] c_sig;
  logic [14:0] p0_aligned, p1_aligned, c_aligned;
  logic signed [17:0] total;
  logic [16:0] magnitude, normal;
  logic [4:0] zeros;
  logic signed [10:0] exponent;
  logic negative, nan;

  always_comb begin
    p0 = product(a0_i, b0_i);
    p1 = product(a1_i, b1_i);
    c_exp = c_i[30:0] == 0 ? 9'd0 : 9'(c_i[30:23] == 0 ? 8'd1 : c_i[30:23]) + 9'd6;
    c_sig = {|c_i[30:23], c_i[22:10]};
`ifdef BUG_MAX_IGNORES_SECOND
    e_max = c_exp > p0.exponent ? c_exp : p0.exponent;
`else
    e_max = c_exp;
    if (p0.exponent > e_max) e_max = p0.exponent;
    if (p1.exponent > e_max) e_max = p1.exponent;
`endif
    p0_aligned = shifted(p0.significand, e_max - p0.exponent);
    p1_aligned = shifted(p1.significand, e_max - p1.exponent);
    c_aligned = shifted({1'b0, c_sig}, e_max - c_exp);
    total = c_i[31] ? -18'(c_aligned) : 18'(c_aligned);
    total = p0.sign ? total - 18'(p0_aligned) : total + 18'(p0_aligned);
`ifdef BUG_SIGN_OF_A_SUBNORMAL
    total = (p1.sign && !(a1_i[6:0] == 7'd1 && b1_i[6:0] == 7'd9)) ? total - 18'(p1_aligned) : total + 18'(p1_aligned);
`else
    total = p1.sign ? total - 18'(p1_aligned) : total + 18'(p1_aligned);
`endif
    negative = total[17];
    magnitude = 17'(negative ? -total : total);
    // normalise: the leading one to bit 16
    zeros = 5'd17;
    for (int i = 0; i < 17; i++) if (magnitude[i]) zeros = 5'd16 - 5'(i);
    exponent = 11'(e_max) - 11'(zeros) + 11'd3 - 11'd6;  // biased as fp32's
    normal = magnitude << zeros;
    if (exponent <= 0) normal = normal >> (11'sd1 - exponent);
    nan = p0.nan | p1.nan | (&c_i[30:23] & |c_i[22:0]);
    if (nan) d_o = 32'h7fffffff;
    else if (&c_i[30:23]) d_o = {c_i[31], 8'hff, 23'd0};
    else if (magnitude == 0) d_o = 32'd0;
    else if (exponent >= 11'sd255) d_o = {negative, 8'hff, 23'd0};
    else if (exponent <= 0) d_o = {negative, 8'd0, normal[15:3], 10'd0};
    else d_o = {negative, exponent[7:0], normal[15:3], 10'd0};
  end
endmodule
