// d = 2^shift times a dot product: somebody's stage behind a generated datapath (module unit). Two registers, valid only.
// What leaves fp32's normal numbers becomes an infinity or a zero; an infinity or a NaN stays as it is.
module scaled_dot (
    input  logic              clk,
    input  logic              rst_n,
    input  logic              valid_i,
    input  logic       [15:0] a_i[4],
    input  logic       [15:0] b_i[4],
    input  logic       [31:0] c_i,
    input  logic signed [7:0] shift_i,
    output logic              valid_o,
    output logic       [31:0] d_o
);
  logic              valid_q;
  logic       [63:0] a_q, b_q;
  logic       [31:0] c_q, dot;
  logic signed [7:0] shift_q;

  unit unit (.a(a_q), .b(b_q), .c(c_q), .d(dot));

  wire               sign = dot[31];
  wire signed  [9:0] exponent = 10'(signed'({1'b0, dot[30:23]}));
  wire signed  [9:0] scaled = exponent + 10'(shift_q);

  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) {valid_q, valid_o} <= '0;
    else        {valid_q, valid_o} <= {valid_i, valid_q};

  always_ff @(posedge clk) begin
    a_q <= {a_i[3], a_i[2], a_i[1], a_i[0]};
    b_q <= {b_i[3], b_i[2], b_i[1], b_i[0]};
    {c_q, shift_q} <= {c_i, shift_i};
    if (&dot[30:23]) d_o <= dot;
    else if (exponent == 0 || scaled <= 0) d_o <= {sign, 31'b0};
    else if (scaled >= 255) d_o <= {sign, 8'hff, 23'b0};
    else d_o <= {sign, scaled[7:0], dot[22:0]};
  end
endmodule
