// d = a*b + c in fp16, rounded to nearest even, of a sum that is cut at 14 bits below the larger exponent.
// Three cycles: multiply, add (only the smaller of the two is shifted), round.
module fma_fp16 (
    input  logic        clk, rst, en,
    input  logic [15:0] a, b, c,
    output logic [15:0] d
);
  typedef logic signed [7:0] exponent_t;

  function automatic exponent_t exponent_of(input logic [15:0] x);
    return exponent_t'({3'd0, x[14:10] == 0 ? 5'd1 : x[14:10]}) - 8'sd15;
  endfunction

  // 1. multiply; a zero has the exponent -29
  logic p_sign, c_sign, p_special, c_special, nan;
  logic [21:0] p_sig;
  logic [10:0] c_sig;
  exponent_t p_exp, c_exp;
  always_ff @(posedge clk) begin
    if (rst) nan <= 1'b0;
    else if (en) begin
      p_sign <= a[15] ^ b[15];
      c_sign <= c[15];
      p_sig <= {a[14:10] != 0, a[9:0]} * {b[14:10] != 0, b[9:0]};
      c_sig <= {c[14:10] != 0, c[9:0]};
      p_exp <= a[14:0] == 0 || b[14:0] == 0 ? -8'sd29 : exponent_of(a) + exponent_of(b);
      c_exp <= c[14:0] == 0 ? -8'sd29 : exponent_of(c);
      p_special <= &a[14:10] || &b[14:10];
      c_special <= &c[14:10];
      nan <= (&a[14:10] && a[9:0] != 0) || (&b[14:10] && b[9:0] != 0) || (&c[14:10] && c[9:0] != 0)
          || (&a[14:10] && b[14:0] == 0) || (&b[14:10] && a[14:0] == 0)
          || ((&a[14:10] || &b[14:10]) && &c[14:10] && (a[15] ^ b[15] ^ c[15]));
    end
  end

  // 2. add: the one with the larger exponent stays where it is
  logic [15:0] larger, smaller, shifted;
  exponent_t gap, sum_exp;
  logic swap, subtract, sum_sign, sum_special, sum_nan, special_sign;
  logic [16:0] difference, sum;
  always_comb begin
    swap = c_exp > p_exp;
    gap = swap ? c_exp - p_exp : p_exp - c_exp;
    larger = swap ? {1'b0, c_sig, 4'd0} : p_sig[21:6];
    smaller = swap ? p_sig[21:6] : {1'b0, c_sig, 4'd0};
    // the product's bits below the cut come in where it is not shifted: 20 - 14 = 6 are lost
    shifted = smaller >> gap;
    subtract = p_sign ^ c_sign;
    difference = {1'b0, larger} - {1'b0, shifted};
  end
  always_ff @(posedge clk)
    if (en) begin
      sum <= subtract ? (difference[16] ? -difference : difference) : {1'b0, larger} + {1'b0, shifted};
      sum_sign <= subtract && difference[16] ? (swap ? p_sign : c_sign) : (swap ? c_sign : p_sign);
      sum_exp <= swap ? c_exp : p_exp;
      sum_special <= p_special || c_special;
      special_sign <= p_special ? p_sign : c_sign;
      sum_nan <= nan;
    end

  // 3. round at bit 10 below the leading one, or where subnormal numbers end
  logic [4:0] top;
  logic [9:0] cut;
  logic [19:0] kept, rest, half;
  logic [11:0] rounded;
  logic [7:0] exponent;
  logic signed [8:0] lead;
  logic up;
  always_comb begin
    top = 5'd0;
    for (int i = 16; i > 0; i--) if (sum[i] && top == 0) top = 5'(i);
    lead = 9'(sum_exp) + 9'(top) - 9'sd14;  // exponent of the leading one
    if (lead < -9'sd14) lead = -9'sd14;
    cut = 10'(lead - 10) - 10'(sum_exp - 14);  // bits that go; negative: bits that come
    if (!cut[9] && cut > 10'd19) cut = 10'd19;
    if (cut[9]) begin
      kept = 20'(sum) << (-cut);
      rest = '0;
    end else begin
      kept = 20'(sum) >> cut;
      rest = 20'(sum) & ~(20'hfffff << cut);
    end
    half = 20'd1 << (cut - 10'd1);
`ifdef BUG_TIES_GO_UP
    up = !cut[9] && cut != 0 && rest >= half;
`else
    up = !cut[9] && cut != 0 && (rest > half || (rest == half && kept[0]));
`endif
    rounded = kept[11:0] + 12'(up);
    exponent = 8'(lead + 9'sd15);
    if (rounded[11]) begin
      rounded = rounded >> 1;
      exponent = exponent + 8'd1;
    end
    if (!rounded[10]) exponent = 8'd0;
  end
  always_ff @(posedge clk)
`ifndef BUG_LAST_STAGE_IGNORES_ENABLE
    if (en)
`endif
    begin
      if (sum_nan) d <= 16'h7fff;
      else if (sum_special) d <= {special_sign, 15'h7c00};
      else if (sum == 0) d <= 16'h0000;
      else if (exponent >= 8'd31) d <= {sum_sign, 15'h7c00};
      else d <= {rounded == 0 ? 1'b0 : sum_sign, exponent[4:0], rounded[9:0]};
    end
endmodule
