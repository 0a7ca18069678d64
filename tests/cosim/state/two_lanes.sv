// Two sound datapaths side by side behind registers, with an enable. PROTOCOL 0 is of fixed latency, 1 has valid signals. Each bug
// breaks what the stages keep or share; single results are right. A file says which bug is there, so that all of them are one build.
module two_lanes #(parameter PROTOCOL = 0) (
    input wire clk, input wire rst_n, input wire en,
    input wire in_valid, input wire [31:0] a, input wire [31:0] b, input wire [63:0] c,
    output wire out_valid, output wire [63:0] d
);
  typedef enum logic [7:0] {
    NONE,
    // the enable
    ENABLE_MISSES_C, CLEARED_WHILE_DISABLED, CLOCK_AND_ENABLE, ENABLE_LATE, WRONG_AFTER_LONG_DISABLED,
    MOVES_AFTER_LONG_DISABLED,
    // the two lanes
    NAN_IN_THE_OTHER_LANE, C_OF_THE_OTHER_LANE_WHERE_B_IS_EQUAL, LANES_SWAPPED_WHERE_BOTH_INFINITE, SECOND_LANE_REPEATS_C,
    FIRST_LANE_SUBNORMAL_BLOCKS_SECOND, EQUAL_LANES_CANCEL,
    // what is kept
    CAPTURED_LATE, CAPTURED_AT_THE_FALLING_EDGE_LATE, TRANSPARENT_WHILE_HIGH, STATE_IN_A_TABLE,
    COUNTS_RESULTS, LAST_RESULT_STAYS_IN_OR,
    // valid and reset, which a fixed latency does without
    ENABLE_MISSES_VALID, VALID_CLEARED_WHILE_DISABLED, ENABLE_NEEDED_FOR_RESET, COUNTS_NANS, RESET_MISSES_VALID, RESET_BEHIND_A_CYCLE,
    VALID_AFTER_LONG_GAP_LOST, ENABLE_ABOVE_RESET
  } bug_t;
  reg [7:0] numbers[0:0];
  initial $readmemh("BUG_FILE", numbers);
  wire [7:0] bug = numbers[0];
  wire rst = ~rst_n;
  wire offered = PROTOCOL == 0 ? 1'b1 : in_valid;

  reg [31:0] a_1, b_1;
  reg [63:0] c_1;
  reg valid_1, valid_2;
  wire [63:0] sum;
  core first (.a(a_used[15:0]), .b(b_1[15:0]), .c(c_used[31:0]), .d(sum[31:0]));
  core second (.a(a_used[31:16]), .b(b_1[31:16]), .c(c_used[63:32]), .d(sum[63:32]));

  reg [31:0] a_latched, a_fell;
  reg [63:0] d_2;
  reg [15:0] disabled = 0, gap = 0;
  reg [11:0] results = 0, nans = 0;
  reg took, after_disabled, en_before, rst_late;
  reg [31:0] repeated_c;
  reg same_b;
  reg [3:0] seen [0:15];
  integer k;
  initial for (k = 0; k < 16; k = k + 1) seen[k] = 0;

  always @* if (clk & took) a_latched = a;
  always @(negedge clk) a_fell <= a;
  wire [31:0] a_used = bug == TRANSPARENT_WHILE_HIGH ? a_latched : bug == CAPTURED_AT_THE_FALLING_EDGE_LATE ? a_fell : a_1;
  wire [63:0] c_used = bug == C_OF_THE_OTHER_LANE_WHERE_B_IS_EQUAL & b_1[15:0] == b_1[31:16] ? {c_1[31:0], c_1[31:0]} :
                       bug == SECOND_LANE_REPEATS_C & same_b ? {repeated_c, c_1[31:0]} :
                       bug == CAPTURED_LATE ? c : c_1;
  wire nan_0 = &sum[30:23] & |sum[22:0], nan_1 = &sum[62:55] & |sum[54:32];
  wire inf_0 = &sum[30:23] & ~|sum[22:0], inf_1 = &sum[62:55] & ~|sum[54:32];
  wire sub_0 = ~|sum[30:23] & |sum[22:0];
  wire flip = bug == NAN_IN_THE_OTHER_LANE & nan_0 | bug == FIRST_LANE_SUBNORMAL_BLOCKS_SECOND & sub_0 |
              bug == COUNTS_RESULTS & results == 3000 | bug == COUNTS_NANS & nans == 77 |
              bug == WRONG_AFTER_LONG_DISABLED & after_disabled | bug == STATE_IN_A_TABLE & seen[a_1[3:0]] == 15 & b_1[0] & a_1[15:4] == 0;
  wire [63:0] result = bug == LANES_SWAPPED_WHERE_BOTH_INFINITE & inf_0 & inf_1 ? {sum[31:0], sum[63:32]} :
                       bug == EQUAL_LANES_CANCEL & sum[31:0] == sum[63:32] & sum[31:0] != 0 & a_1[15:0] != a_1[31:16] ? {32'b0, sum[31:0]} :
                       bug == LAST_RESULT_STAYS_IN_OR & d_2[30:0] == 31'h7f800000 ? sum | {63'b0, ~nan_0 & ~inf_0} : sum ^ {31'b0, flip, 32'b0};

  wire gated = bug == CLOCK_AND_ENABLE ? clk & en : clk;
  wire move = bug == CLOCK_AND_ENABLE | (bug == ENABLE_LATE ? en_before : en) |
              bug == MOVES_AFTER_LONG_DISABLED & disabled == 100;
  always @(posedge gated) begin
    rst_late <= rst;
    if (move) begin
      took <= 1;
      a_1 <= a;
      b_1 <= b;
      d_2 <= result;
      same_b <= b == b_1;
      repeated_c <= b == b_1 ? repeated_c : c[63:32];
      results <= results + {11'b0, offered & ~&results};
      nans <= nans + {11'b0, nan_1 & valid_1 & ~&nans};
      after_disabled <= disabled > 60;
      seen[a[3:0]] <= seen[a[3:0]] + {3'b0, ~&seen[a[3:0]]};
    end
    if (move | bug == ENABLE_MISSES_C) c_1 <= c;
    if (bug == CLEARED_WHILE_DISABLED & disabled == 64) d_2 <= 0;
  end
  always @(posedge clk) begin
    en_before <= en;
    disabled <= en ? 0 : disabled + {15'b0, ~&disabled};
    if (en) gap <= in_valid ? 0 : gap + {15'b0, ~&gap};
  end
  wire clears = bug == RESET_BEHIND_A_CYCLE ? rst_late : bug == ENABLE_NEEDED_FOR_RESET ? rst & en
    : bug == ENABLE_ABOVE_RESET ? rst & ~en : rst;
  always @(posedge gated or posedge clears) begin
    if (clears) begin
      if (bug != RESET_MISSES_VALID) valid_1 <= 0;
      valid_2 <= 0;
    end else if (move | bug == ENABLE_MISSES_VALID) begin
      valid_1 <= in_valid & ~(bug == VALID_AFTER_LONG_GAP_LOST & gap > 600);
      valid_2 <= valid_1;
    end else if (bug == VALID_CLEARED_WHILE_DISABLED & ~in_valid) begin
      valid_1 <= 0;
    end
  end
  assign d = d_2, out_valid = PROTOCOL == 0 ? 1'b0 : valid_2;
endmodule
