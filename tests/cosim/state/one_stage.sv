// A register for operands in front of a sound combinational datapath. Each bug breaks what it keeps, counts or waits for:
// single results are right, and their sequence is wrong. A file says which bug is there, so that all of them are one build.
module one_stage (
    input wire clk, input wire rst,
    input wire in_valid, output wire in_ready, input wire [15:0] a, input wire [15:0] b, input wire [31:0] c,
    output wire out_valid, input wire out_ready, output wire [31:0] d
);
  typedef enum logic [7:0] {
    NONE,
    // operands that come again
    C_ISOLATED, C_ISOLATED_BY_B, A_ISOLATED_BY_B, SAME_OPERANDS, SAME_WEIGHTS, SAME_WEIGHTS_SIXTEEN_TIMES,
    SAME_WEIGHTS_FOR_LONG,
    // long stalls and gaps
    CLEARED_WHILE_WAITING, CLEARED_WHILE_WAITING_LONG, CLEARED_WHILE_BOTH_WAIT,
    AFTER_A_STALL, AFTER_A_GAP, AFTER_A_LONG_GAP, VALID_LOST_IN_A_GAP, C_ISOLATED_AFTER_A_GAP,
    // the handshake
    VALID_IN_RESET, VALID_WAITS, VALID_WAITS_A_CYCLE, READY_WAITS_FOR_IDLE, WAITING_NAN_TOGGLES,
    SURPLUS_AFTER_A_LONG_GAP,
    // operands that are not valid, or change early
    TAKEN_WITHOUT_VALID, TAKEN_IN_A_GAP, C_TAKEN_IN_A_GAP_OF_THE_SAME_B, TRANSPARENT_WHILE_HIGH,
    // resets
    TAKEN_IN_RESET, RESET_WAITS_FOR_IDLE, RESET_KEEPS_A_STALLED_RESULT, RESET_WAITS_FOR_READY, AFTER_THREE_RESETS,
    RESET_KEEPS_WHAT_WAITED_LONG, AFTER_A_LONG_RESET, AFTER_A_RESET_OF_AN_IDLE_DESIGN,
    AFTER_TWO_EDGES_OF_RESET, AFTER_THREE_EDGES_OF_RESET, AFTER_TWO_RESETS_CLOSE_TOGETHER,
    FIRST_AFTER_TWO_EDGES_OF_RESET, FIRST_AFTER_THREE_EDGES_OF_RESET, C_KEPT_OVER_A_RESET,
    // counts
    EVERY_THOUSANDTH_RESULT, AFTER_A_GAP_OF_SOME_LENGTHS, AFTER_MANY_WITHOUT_PAUSE, AFTER_ALTERNATING_STALLS, AFTER_ALTERNATING_OFFERS,
    NAN_TWO_RESULTS_BEFORE, AFTER_THREE_NANS, STICKY_SIGN, PARITY_OF_ALL_BEFORE,
    // the results before
    INFINITIES_BACK_TO_BACK, NAN_BEFORE_ZERO, SUBNORMALS_BACK_TO_BACK,
    // what a run of vectors meets by chance alone
    ONE_PAIR_OF_OPERANDS, AFTER_A_GAP_OF_ONE_LENGTH,
    // a wait of one length, and a result of one class
    C_AFTER_A_GAP_OF_FORTY, INFINITY_AFTER_A_GAP_OF_ONE_LENGTH, AFTER_A_NAN_THAT_WAITED_FOR_ONE_LENGTH,
    // full speed, and registers that begin as zeros
    AFTER_THOUSANDS_WITHOUT_PAUSE, FROM_ZEROS,
    // long runs
    AFTER_MANY_CYCLES, AFTER_MANY_VECTORS, AFTER_MANY_VECTORS_WITHOUT_RESET, SAME_WEIGHTS_FOR_VERY_LONG
  } bug_t;
  reg [7:0] numbers[0:0];
  initial $readmemh("BUG_FILE", numbers);
  wire [7:0] bug = numbers[0];

  reg full;
  reg [15:0] a_held, b_held;
  reg [31:0] c_held;
  wire [31:0] sum;
  wire take = in_valid & in_ready, give = out_valid & out_ready;
  wire [15:0] a_used = bug == TRANSPARENT_WHILE_HIGH ? a_latched : a_held;
  reg [15:0] a_latched;
  always @* if (clk & took) a_latched = a;
  core core (.a(a_used), .b(b_held), .c(c_held ^ {32{bug == C_AFTER_A_GAP_OF_FORTY & gap_of_forty}}), .d(sum));

  // What the bugs remember.
  reg [15:0] waited = 0, both = 0, gap = 0, same = 0, idle = 0;
  reg [23:0] cycles = 0, taken = 0, taken_since_reset = 0;
  reg after_gap, after_long_gap, after_stall = 0, twice_ab, twice_b, toggle = 0, seen_ready = 0, shown = 0;
  reg [31:0] last = 0;
  always @(posedge clk) begin
    cycles <= cycles + {23'b0, ~&cycles};
    taken <= taken + {23'b0, take & ~&taken};
    taken_since_reset <= rst ? 0 : taken_since_reset + {23'b0, take & ~&taken_since_reset};
    toggle <= ~toggle;
    seen_ready <= out_ready;
    shown <= out_valid & ~out_ready;
    waited <= out_valid & ~out_ready ? waited + {15'b0, ~&waited} : 0;
    both <= out_valid & ~out_ready & ~in_valid ? both + {15'b0, ~&both} : 0;
    gap <= take | rst ? 0 : gap + {15'b0, ~&gap};
    idle <= in_valid ? idle : idle + 1;
    if (take) begin
      after_gap <= gap >= 40;
      after_long_gap <= gap >= 700;
      after_stall <= waited >= 100;
      twice_ab <= a == a_held & b == b_held;
      twice_b <= b == b_held;
      same <= b == b_held ? same + 1 : 0;
    end
    if (give) last <= d;
  end

  wire is_nan = &sum[30:23] & |sum[22:0], is_zero = sum[30:0] == 0;
  reg took;
  reg [2:0] resets = 0, nans = 0;
  reg gap_of_one_length = 0, gap_of_forty = 0, gap_of_23 = 0, waited_for_51 = 0;
  reg rst_before = 0, gap_modulo = 0, nan_before = 0, parity = 0;
  reg [9:0] results = 0;
  reg [11:0] in_a_row = 0;
  reg [5:0] reset_for = 0;
  reg long_reset = 0, reset_while_idle = 0, two_edges = 0, three_edges = 0, close_resets = 0;
  reg [3:0] since_reset = 0;
  reg [5:0] reset_before;
  reg [3:0] alternations = 0;
  reg [4:0] offers = 0;
  reg offered = 0;
  reg sticky_sign = 0;
  reg [7:0] feedback;  // which no reset sets: it stays 0 if it begins as 0
  always @(posedge clk) begin
    took <= take;
    feedback <= {feedback[6:0], feedback[7] ^ feedback[5] ^ feedback[4] ^ feedback[3]};
    rst_before <= rst;
    reset_for <= rst ? reset_for + {5'b0, ~&reset_for} : 0;
    if (&reset_for) long_reset <= 1;
    if (take) reset_before <= reset_for;
    if (~rst & reset_for == 2) two_edges <= 1;
    if (~rst & reset_for == 3) three_edges <= 1;
    since_reset <= rst ? 0 : since_reset + {3'b0, ~&since_reset};
    if (rst & ~rst_before & since_reset <= 10) close_resets <= 1;
    if (rst & ~rst_before & ~full & gap > 40) reset_while_idle <= 1;
    resets <= resets + {2'b0, rst & ~rst_before & ~&resets};
    if (give) results <= results == 999 ? 0 : results + 1;
    if (give) nan_before <= &last[30:23] & |last[22:0];
    if (give) nans <= is_nan ? nans + {2'b0, ~&nans} : 0;
    if (take) gap_of_one_length <= gap == 4711;
    if (take) gap_of_forty <= gap == 40;
    if (take) gap_of_23 <= gap == 23;
    if (give) waited_for_51 <= waited == 51 & is_nan;
    if (take) gap_modulo <= gap > 10 & gap % 7 == 5;
    if (take) parity <= parity ^ ^a ^ ^b;
    in_a_row <= take ? in_a_row + {11'b0, ~&in_a_row} : 0;
    alternations <= out_ready != seen_ready ? alternations + {3'b0, ~&alternations} : 0;
    offered <= in_valid;
    offers <= in_valid != offered ? offers + {4'b0, ~&offers} : 0;
    if (take & a[14:10] != 0) sticky_sign <= a[15];
  end

  wire new_b = b != b_held;
  wire keep_c = bug == C_ISOLATED & ~new_b & a == a_held | bug == C_ISOLATED_BY_B & ~new_b |
                bug == C_ISOLATED_AFTER_A_GAP & ~new_b & a == a_held & gap >= 40 |
                bug == C_KEPT_OVER_A_RESET & resets > 1 & taken_since_reset == 0;
  always @(posedge clk) begin
    if (rst & ~((bug == TAKEN_IN_RESET & take) | (bug == RESET_WAITS_FOR_IDLE & in_valid) |
                (bug == RESET_KEEPS_A_STALLED_RESULT & full & ~seen_ready) | (bug == RESET_WAITS_FOR_READY & ~out_ready) |
                (bug == RESET_KEEPS_WHAT_WAITED_LONG & waited > 5)))
      full <= 0;
    else if (in_ready) full <= in_valid;
    else if (bug == VALID_LOST_IN_A_GAP & gap >= 300) full <= 0;
    if (take | (bug == TAKEN_WITHOUT_VALID & ~in_valid) | (bug == TAKEN_IN_A_GAP & ~in_valid & gap > 20)) begin
      if (~(bug == A_ISOLATED_BY_B & ~new_b)) a_held <= a;
      b_held <= b;
      if (~keep_c) c_held <= c;
    end
    if (bug == C_TAKEN_IN_A_GAP_OF_THE_SAME_B & ~in_valid & ~new_b) c_held <= c;
  end

  reg blocked = 0;
  always @(posedge clk) blocked <= ~rst & (take | blocked & in_valid);
  assign in_ready = (~full | out_ready) & ~(bug == READY_WAITS_FOR_IDLE & blocked);
  assign out_valid = bug == VALID_IN_RESET ? full | rst :
                     bug == SURPLUS_AFTER_A_LONG_GAP ? full | gap == 700 :
                     bug == VALID_WAITS ? full & out_ready :
                     bug == VALID_WAITS_A_CYCLE ? full & (seen_ready | shown) : full;

  localparam PLUS = 32'h7f800000, MINUS = 32'hff800000;
  wire wrong = bug == AFTER_A_STALL & after_stall | bug == AFTER_A_GAP & after_gap | bug == AFTER_A_LONG_GAP & after_long_gap |
               bug == SAME_OPERANDS & twice_ab | bug == SAME_WEIGHTS & twice_b |
               bug == SAME_WEIGHTS_SIXTEEN_TIMES & same == 15 | bug == SAME_WEIGHTS_FOR_LONG & same == 200 |
               bug == SAME_WEIGHTS_FOR_VERY_LONG & same == 1500 |
               bug == AFTER_A_LONG_RESET & long_reset |
               bug == AFTER_TWO_EDGES_OF_RESET & two_edges | bug == AFTER_THREE_EDGES_OF_RESET & three_edges |
               bug == FIRST_AFTER_TWO_EDGES_OF_RESET & reset_before == 2 |
               bug == FIRST_AFTER_THREE_EDGES_OF_RESET & reset_before == 3 |
               bug == AFTER_TWO_RESETS_CLOSE_TOGETHER & close_resets | bug == AFTER_A_RESET_OF_AN_IDLE_DESIGN & reset_while_idle | bug == AFTER_MANY_CYCLES & cycles[19] |
               bug == AFTER_MANY_VECTORS & taken[19] | bug == AFTER_MANY_VECTORS_WITHOUT_RESET & taken_since_reset[19] |
               bug == INFINITIES_BACK_TO_BACK & last == PLUS & sum == MINUS |
               bug == NAN_BEFORE_ZERO & &last[30:23] & |last[22:0] & is_zero |
               bug == SUBNORMALS_BACK_TO_BACK & last[30:23] == 0 & sum[30:23] == 0 & |last[22:0] & |sum[22:0] & last[31] < sum[31] |
               bug == WAITING_NAN_TOGGLES & is_nan & toggle |
               bug == AFTER_THREE_RESETS & resets > 3 | bug == EVERY_THOUSANDTH_RESULT & results == 999 |
               bug == AFTER_A_GAP_OF_SOME_LENGTHS & gap_modulo | bug == AFTER_MANY_WITHOUT_PAUSE & in_a_row == 60 |
               bug == AFTER_THOUSANDS_WITHOUT_PAUSE & in_a_row == 4000 |
               bug == FROM_ZEROS & feedback == 0 |
               bug == AFTER_ALTERNATING_STALLS & alternations >= 8 | bug == AFTER_ALTERNATING_OFFERS & offers >= 20 |
               bug == NAN_TWO_RESULTS_BEFORE & nan_before & is_zero | bug == AFTER_THREE_NANS & nans >= 3 |
               bug == STICKY_SIGN & a_held[14:10] == 0 & sticky_sign & a_held[15] & b_held[14:0] == 0 |
               bug == PARITY_OF_ALL_BEFORE & parity & is_zero |
               bug == ONE_PAIR_OF_OPERANDS & a_held == 16'h3c01 & b_held == 16'hbc03 & c_held == 32'h3f800000 |
               bug == AFTER_A_GAP_OF_ONE_LENGTH & gap_of_one_length |
               bug == INFINITY_AFTER_A_GAP_OF_ONE_LENGTH & gap_of_23 & sum[30:0] == 31'h7f800000 |
               bug == AFTER_A_NAN_THAT_WAITED_FOR_ONE_LENGTH & waited_for_51;
  wire cleared = bug == CLEARED_WHILE_WAITING & waited >= 64 | bug == CLEARED_WHILE_BOTH_WAIT & both >= 100 |
                 bug == CLEARED_WHILE_WAITING_LONG & waited >= 700;
  assign d = cleared ? 0 : sum ^ {31'b0, wrong};
endmodule
