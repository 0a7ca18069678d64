// An fp16 adder, RNE, one bit of alignment and of normalisation a cycle. Operands come in any order, each by its handshake.
module add_fp16 (
  input  logic clk, rst,
  input  logic [15:0] a, b,
  input  logic a_valid, b_valid,
  output logic a_ready, b_ready,
  output logic [15:0] z,
  output logic z_valid,
  input  logic z_ready
);
  typedef enum logic [2:0] {TAKE, DECODE, ALIGN, SUM, NORMALISE, ROUND, GIVE} step_t;
  step_t step;
  logic has_a, has_b;
  logic [15:0] x, y;
  logic x_sign, y_sign, sign, lost;
  logic [5:0] x_exp, y_exp, exp;
  logic [13:0] x_sig, y_sig;  // a leading one, ten bits, two below them, one for all that is lost
  logic [14:0] sum;

  assign a_ready = step == TAKE && !has_a;
  assign b_ready = step == TAKE && !has_b;
  assign z_valid = step == GIVE;
  wire x_is_special = &x[14:10], y_is_special = &y[14:10];
  wire x_is_nan = x_is_special && x[9:0] != 10'd0, y_is_nan = y_is_special && y[9:0] != 10'd0;
  wire up = sum[2] && (sum[3] || sum[1] || sum[0] || lost);
  wire [14:0] packed_sum = {sum[13] ? exp[4:0] : 5'd0, sum[12:3]} + 15'(up);

  always_ff @(posedge clk)
    if (rst) begin
      step <= TAKE;
      has_a <= 1'b0;
      has_b <= 1'b0;
    end else
      case (step)
        TAKE: begin
          if (a_valid && a_ready) begin x <= a; has_a <= 1'b1; end
          if (b_valid && b_ready) begin y <= b; has_b <= 1'b1; end
          if ((has_a || a_valid) && (has_b || b_valid)) step <= DECODE;
        end
        DECODE: begin
          has_a <= 1'b0;
          has_b <= 1'b0;
          x_sign <= x[15];
          y_sign <= y[15];
          x_exp <= x[14:10] == 5'd0 ? 6'd1 : 6'(x[14:10]);
          y_exp <= y[14:10] == 5'd0 ? 6'd1 : 6'(y[14:10]);
          x_sig <= {x[14:10] != 5'd0, x[9:0], 3'd0};
          y_sig <= {y[14:10] != 5'd0, y[9:0], 3'd0};
          lost <= 1'b0;
          if (x_is_special || y_is_special) begin
            z <= x_is_special ? x : y;
            if (x_is_nan || y_is_nan || (x_is_special && y_is_special && x[15] != y[15])) z <= 16'h7e00;
            step <= GIVE;
          end else step <= ALIGN;
        end
        ALIGN:
          if (x_exp < y_exp) begin
            x_exp <= x_exp + 6'd1;
            x_sig <= {1'b0, x_sig[13:2], x_sig[1] | x_sig[0]};
          end else if (y_exp < x_exp) begin
            y_exp <= y_exp + 6'd1;
            y_sig <= {1'b0, y_sig[13:2], y_sig[1] | y_sig[0]};
          end else step <= SUM;
        SUM: begin
          exp <= x_exp;
          if (x_sign == y_sign) begin
            sum <= x_sig + y_sig;
            sign <= x_sign;
          end else if (x_sig >= y_sig) begin
            sum <= x_sig - y_sig;
            sign <= x_sig != y_sig && x_sign;
          end else begin
            sum <= y_sig - x_sig;
            sign <= y_sign;
          end
          step <= NORMALISE;
        end
        NORMALISE:
          if (sum[14]) begin
            exp <= exp + 6'd1;
            sum <= sum >> 1;
            lost <= sum[0];
          end else if (!sum[13] && exp > 6'd1) begin
            exp <= exp - 6'd1;
            sum <= sum << 1;
          end else step <= ROUND;
        ROUND: begin
          z <= {sign, exp > 6'd30 ? 15'h7c00 : packed_sum};
          step <= GIVE;
        end
        GIVE: if (z_ready) step <= TAKE;
        default: step <= TAKE;
      endcase
endmodule
