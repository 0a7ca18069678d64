// d = 2^(scale_a + scale_b) * (a . b) + c: four products e2m1 * e2m3 under one scale, 25 bits below the largest exponent.
// Two stages with valid and ready; what is positive and what is negative is summed apart, and the smaller subtracted.
module dot4_mx (
    input  logic             clk, rst_n,
    input  logic             in_valid,
    output logic             in_ready,
    input  logic [3:0][3:0]  a,
    input  logic [3:0][5:0]  b,
    input  logic [7:0]       scale_a, scale_b,
    input  logic [31:0]      c,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [31:0]      d
);
  localparam logic signed [10:0] Zero = -11'sd133;  // exponent of a term that is zero

  typedef struct packed {
    logic sign;
    logic signed [10:0] exponent;
    logic [26:0] significand;  // 25 fraction bits
  } term_t;

  // multiply and scale
  term_t [4:0] terms, held;
  logic nan, infinite, held_nan, held_infinite;
  always_comb begin
    for (int k = 0; k < 4; k++) begin
      automatic logic [1:0] x = {a[k][2:1] != 0, a[k][0]};
      automatic logic [3:0] y = {b[k][4:3] != 0, b[k][2:0]};
      automatic logic [5:0] product;
      unique case (x)
        2'd0: product = 6'd0;
        2'd1: product = {2'd0, y};
        2'd2: product = {1'd0, y, 1'd0};
        2'd3: product = {1'd0, y, 1'd0} + {2'd0, y};
      endcase
      terms[k].sign = a[k][3] ^ b[k][5];
      terms[k].significand = {product, 21'd0};
      terms[k].exponent = Zero;
      if (product != 0)
        terms[k].exponent = 11'(a[k][2:1] == 0 ? 2'd1 : a[k][2:1]) + 11'(b[k][4:3] == 0 ? 2'd1 : b[k][4:3])
                          + 11'(scale_a) + 11'(scale_b) - 11'd256;
    end
    terms[4].sign = c[31];
    terms[4].significand = {1'b0, c[30:23] != 0, c[22:0], 2'd0};
    terms[4].exponent = c[30:0] == 0 ? Zero : c[30:23] == 0 ? -11'sd126 : 11'(c[30:23]) - 11'd127;
    nan = scale_a == 8'hff || scale_b == 8'hff || (c[30:23] == 8'hff && c[22:0] != 0);
    infinite = c[30:23] == 8'hff;
  end

  // the handshake: a stage takes what comes when it is empty or gives what it has
  logic full_1, full_2, ready_1, ready_2;
  logic [31:0] result;
  assign ready_2 = !full_2 || out_ready;
  assign ready_1 = !full_1 || ready_2;
  assign in_ready = ready_1;
  assign out_valid = full_2;
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      full_1 <= 1'b0;
      full_2 <= 1'b0;
    end else begin
      if (ready_1) full_1 <= in_valid;
`ifdef BUG_BUBBLE_LOSES_A_RESULT
      if (ready_2 || in_valid) full_2 <= full_1;
`else
      if (ready_2) full_2 <= full_1;
`endif
    end
  end
  always_ff @(posedge clk) begin
    if (ready_1 && in_valid) begin
      held <= terms;
      held_nan <= nan;
      held_infinite <= infinite;
    end
`ifdef BUG_RESULT_CHANGES_WHILE_IT_WAITS
    if (full_1) d <= result;
`else
    if (ready_2 && full_1) d <= result;
`endif
  end

  // align, sum
  logic signed [10:0] left, right, pair, e_max, exponent;
  logic [30:0] plus, minus;
  logic [31:0] magnitude;
  logic [4:0] zeros;
  logic negative;
  always_comb begin
    left = held[0].exponent > held[1].exponent ? held[0].exponent : held[1].exponent;
    right = held[2].exponent > held[3].exponent ? held[2].exponent : held[3].exponent;
    pair = left > right ? left : right;
    e_max = pair > held[4].exponent ? pair : held[4].exponent;
    plus = '0;
    minus = '0;
    for (int k = 4; k >= 0; k--) begin
      automatic logic [26:0] aligned = held[k].significand >> 11'(e_max - held[k].exponent);
      if (held[k].sign) minus += 31'(aligned);
      else plus += 31'(aligned);
    end
    negative = minus > plus;
    magnitude = {1'b0, negative ? minus - plus : plus - minus};
    // normalise by halves
    zeros = '0;
    if (magnitude[31:16] == 0) begin zeros += 5'd16; magnitude <<= 16; end
    if (magnitude[31:24] == 0) begin zeros += 5'd8; magnitude <<= 8; end
    if (magnitude[31:28] == 0) begin zeros += 5'd4; magnitude <<= 4; end
    if (magnitude[31:30] == 0) begin zeros += 5'd2; magnitude <<= 2; end
    if (!magnitude[31]) begin zeros += 5'd1; magnitude <<= 1; end
    exponent = e_max + 11'sd6 - 11'(zeros);
    if (held_nan) result = 32'h7fffffff;
    else if (held_infinite) result = {held[4].sign, 31'h7f800000};
    else if (magnitude == 0) result = 32'd0;
    else if (exponent > 127) result = {negative, 31'h7f800000};
    else if (exponent < -126) begin
      result = {negative, 31'(magnitude >> 11'(-11'sd118 - exponent))};
`ifndef BUG_MINUS_ZERO
      if (result[30:0] == 0) result[31] = 1'b0;
`endif
    end
    else result = {negative, 8'(exponent + 11'sd127), magnitude[30:8]};
  end
endmodule
