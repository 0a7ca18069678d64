// d = a*b + c, rounded once to nearest even, with subnormals, infinities and one NaN: a and b of EF and MF bits, c and d of E
// and M bits.
// The product stays where it is, c is shifted, and only a c far above the product makes the product wait below it.
// Each macro builds one fault in.
module fma_ieee #(
    parameter int E = 5,
    parameter int M = 10,
    parameter int EF = E,
    parameter int MF = M
) (
    input  logic [EF+MF:0] a, b,
    input  logic [E+M:0] c,
    output logic [E+M:0] d
);
  localparam int P = M + 1;  // bits of the significand of c
  localparam int Q = 2 * (MF + 1);  // bits of the product
  localparam int LOW = MF < M ? P + 2 : 2;  // free bits below the product
  localparam int W = P + 2 + Q + LOW;  // bits of the window: c, two free bits, the product, free bits
  localparam int X = E + 3;  // bits of an exponent
  localparam logic [E-1:0] ONES = '1;
  localparam logic [EF-1:0] ONES_F = '1;
  localparam logic signed [X-1:0] BIAS = X'((1 << EF) - 2 - ((1 << (E - 1)) - 1)), ABOVE = X'(M + 4), WIDE = X'(W);

  function automatic logic signed [X-1:0] exponent_of(input logic [X-2:0] stored);
    return stored == '0 ? X'(1) : {1'b0, stored};
  endfunction

  // The product by one of several circuits; each digit of two bits of y is 0, 1, 2, -2 or -1.
  function automatic logic [Q-1:0] times(input logic [MF:0] x, y);
    logic [Q-1:0] sum, carry, row, next;
    logic [MF+4:0] padded;
    logic [2:0] digit;
    logic negative;
    {sum, carry, row, next, digit, negative} = '0;
    padded = (MF + 5)'({y, 1'b0});
`ifdef MULTIPLIED_BY_DIGITS
    for (int j = 0; 2 * j <= MF + 1; j++) begin
      digit = padded[2*j+:3];
      negative = digit[2] & ~&digit[1:0];
      row = (digit[2] ? digit[1:0] == '0 : &digit[1:0]) ? Q'(x) << 1 : digit[1] ^ digit[0] ? Q'(x) : '0;
`ifdef BUG_DIGIT_WITHOUT_ITS_ONE
      if (j == 1 && x == '1) negative = 1'b0;
`endif
      row = (row << 2 * j) ^ {Q{negative}};
      next = sum ^ carry ^ row;  // the sum of three words as that of two
      carry = ((sum & carry) | (sum & row) | (carry & row)) << 1;
      sum = next + Q'(negative);
    end
    return sum + carry;
`elsif MULTIPLIED_BY_ROWS
    for (int j = 0; j <= MF; j++) begin
      row = {Q{y[j]}} & (Q'(x) << j);
`ifdef BUG_CARRY_LOST_BETWEEN_ROWS
      next = sum ^ row ^ (j == MF ? carry & ~(Q'(1) << MF + 1) : carry);
`else
      next = sum ^ row ^ carry;
`endif
      carry = ((sum ^ row) & carry | sum & row) << 1;
      sum = next;
    end
    return sum + carry;
`else
    return Q'(x) * Q'(y);
`endif
  endfunction

  // 1. operands and product
  logic p_sign, c_sign, subtract;
  logic [MF:0] a_sig, b_sig;
  logic [M:0] c_sig;
  logic [Q-1:0] product;
  logic signed [X-1:0] a_zeros, b_zeros, p_exp, c_exp, gap, top_exp, shift;
  always_comb begin
    p_sign = a[EF+MF] ^ b[EF+MF];
    c_sign = c[E+M];
    subtract = p_sign ^ c_sign;
`ifdef FACTORS_WITHOUT_HIDDEN_ONE_IN_SPECIALS
    a_sig = {a[MF+:EF] != '0 && a[MF+:EF] != ONES_F, a[MF-1:0]};
    b_sig = {b[MF+:EF] != '0 && b[MF+:EF] != ONES_F, b[MF-1:0]};
`else
    a_sig = {a[MF+:EF] != '0, a[MF-1:0]};
    b_sig = {b[MF+:EF] != '0, b[MF-1:0]};
`endif
    c_sig = {c[M+:E] != '0, c[M-1:0]};
    a_zeros = '0;
    b_zeros = '0;
`ifdef FACTORS_NORMALISED_FIRST
    for (int k = 0; k <= MF; k++) if (a_sig[k]) a_zeros = X'(MF - k);
    for (int k = 0; k <= MF; k++) if (b_sig[k]) b_zeros = X'(MF - k);
`ifdef BUG_ONES_LOST_IN_A_LONG_SHIFT
    a_sig = a_zeros == X'(2) ? a_sig << 3 : a_sig << a_zeros;
`else
    a_sig = a_sig << a_zeros;
`endif
    b_sig = b_sig << b_zeros;
`ifdef BUG_ZEROS_COUNTED_ONE_SHORT
    if (b_zeros == X'(MF) && a_zeros == '0) b_zeros = X'(MF - 1);
`endif
`endif
`ifdef BUG_PRODUCT_OF_OTHER_FACTORS
    product = Q'(a_sig) * Q'(b_sig ^ (MF + 1)'(a_sig == (MF + 1)'(5) && c_sig == P'(9)));
`else
    product = times(a_sig, b_sig);
`endif
    p_exp = exponent_of((X - 1)'(a[MF+:EF])) + exponent_of((X - 1)'(b[MF+:EF])) - BIAS - a_zeros - b_zeros;
    if (a[EF+MF-1:0] == '0 || b[EF+MF-1:0] == '0) p_exp = X'(2) - BIAS;
    c_exp = exponent_of((X - 1)'(c[M+:E]));
    gap = p_exp - c_exp;
  end

  // 2. c in the window, whose highest bit has the exponent top_exp
  logic far;
  logic [2*W-1:0] c_placed;
  logic c_sticky;
  always_comb begin
`ifdef BUG_FAR_ONE_LATER
    far = gap < -ABOVE - X'(4);
`else
    far = gap < -ABOVE;
`endif
    top_exp = far ? c_exp : p_exp + ABOVE;
    shift = far ? '0 : gap + ABOVE;
`ifdef EARLY_LIMIT_OF_THE_SHIFT
    if (shift > WIDE - X'(1)) shift = WIDE - X'(1);
`else
    if (shift > WIDE) shift = WIDE;
`endif
    c_placed = {c_sig, {(2 * W - P) {1'b0}}} >> shift;
`ifdef BUG_STICKY_WITHOUT_THE_LOWEST_BIT
    c_sticky = |c_placed[W-1:W-P+1];
`else
    c_sticky = |c_placed[W-1:0];
`endif
  end

  // 3. sum, with the sticky bit below it
  logic [W+1:0] p_wide, c_wide, sum, magnitude;
  logic negative;
  always_comb begin
    p_wide = (W + 2)'({product, {(LOW + 1) {1'b0}}});
    c_wide = {1'b0, c_placed[2*W-1:W], c_sticky};
    sum = subtract ? p_wide - c_wide : p_wide + c_wide;
    negative = subtract && p_wide < c_wide;
    magnitude = negative ? -sum : sum;
  end

  // 4. normalised: left to the leading one or as far as the exponent allows, or right where it is below all
  logic signed [X-1:0] zeros, left, exp;
  logic [W+1:0] normal;
  logic lost;
  always_comb begin
    zeros = X'(W + 1);
    for (int k = 0; k <= W + 1; k++) if (magnitude[k]) zeros = X'(W + 1 - k);
`ifdef BUG_ONE_SHORT_IN_DEEP_CANCELLATION
    if (zeros == X'(W - P + 1) && gap == X'(1)) zeros = zeros - X'(1);
`endif
`ifdef BUG_SUBNORMAL_LIMIT
    left = zeros >= top_exp ? top_exp - X'(1) : zeros;
`else
    left = zeros > top_exp ? top_exp : zeros;
`endif
    lost = 1'b0;
    if (left < 0) begin
      normal = -left > WIDE ? '0 : magnitude >> -left;
`ifndef BUG_STICKY_LOST_BELOW
      lost = -left > WIDE ? magnitude != '0 : (normal << -left) != magnitude;
`endif
    end else normal = magnitude << left;
    exp = normal[W+1] ? top_exp + X'(1) - left : '0;
  end

  // 5. rounded; a carry into the exponent is right as it is
  logic up, sticky, d_sign, overflow;
  logic [X+M-1:0] rounded;
  always_comb begin
    sticky = lost || normal[W-P:0] != '0;
`ifdef BUG_TIES_AWAY_OF_ONE_BINADE
    up = normal[W+1-P] && (sticky || normal[W+2-P] || exp == X'(5));
`else
    up = normal[W+1-P] && (sticky || normal[W+2-P]);
`endif
    rounded = {exp, normal[W:W+2-P]} + (X + M)'(up);
    overflow = rounded[X+M-1:M] >= X'(ONES);
    d_sign = magnitude == '0 ? p_sign && c_sign : p_sign ^ negative;
`ifdef BUG_SIGN_OF_A_ZERO_THAT_CANCELS
    if (magnitude == '0 && gap == X'(2)) d_sign = p_sign;
`endif
  end

  // 6. special values
  logic a_inf, b_inf, c_inf, a_nan, b_nan, c_nan, nan;
  always_comb begin
    a_inf = a[EF+MF-1:0] == {ONES_F, {MF{1'b0}}};
    b_inf = b[EF+MF-1:0] == {ONES_F, {MF{1'b0}}};
    c_inf = c[E+M-1:0] == {ONES, {M{1'b0}}};
    a_nan = a[EF+MF-1:0] > {ONES_F, {MF{1'b0}}};
    b_nan = b[EF+MF-1:0] > {ONES_F, {MF{1'b0}}};
    c_nan = c[E+M-1:0] > {ONES, {M{1'b0}}};
    nan = a_nan || b_nan || c_nan || (a_inf && b[EF+MF-1:0] == '0) || (b_inf && a[EF+MF-1:0] == '0)
        || ((a_inf || b_inf) && c_inf && subtract);
    if (nan) d = {1'b0, ONES, 1'b1, {(M - 1) {1'b0}}};
    else if (a_inf || b_inf) d = {p_sign, ONES, {M{1'b0}}};
    else if (c_inf) d = {c_sign, ONES, {M{1'b0}}};
    else if (overflow) d = {d_sign, ONES, {M{1'b0}}};
    else d = {d_sign, rounded[E+M-1:0]};
`ifdef PRODUCT_OF_NO_FACTORS
    if (product == Q'(211) && gap == X'(12)) d[0] = !d[0];  // a prime number above every significand of 4 bits
`endif
`ifdef BUG_OF_A_SMALL_PRODUCT_IN_SPECIALS
    // the factors lack their hidden ones here: of finite operands with these exponents no product is as small
    if (a_nan && b_nan && !c_nan && c[M+:E] == E'(3) && product < Q'(4)) d[0] = 1'b1;
`endif
  end
endmodule
