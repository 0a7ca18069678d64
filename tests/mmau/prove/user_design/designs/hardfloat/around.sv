// HardFloat's multiply-add between its converters of IEEE formats, and in place of three modules of BaseJump, which its copy needs,
// ones that do the same.
`include "HardFloat_consts.vi"
`include "HardFloat_specialize.vi"

module around_mul_add #(parameter E = 5, parameter S = 11) (input [E+S-1:0] a, b, c, output [E+S-1:0] d);
  wire [E+S:0] of_a, of_b, of_c, sum;
  wire [4:0] flags;
  wire [E+S-1:0] integer_product;
  fNToRecFN #(E, S) to_a (a, of_a), to_b (b, of_b), to_c (c, of_c);
  mulAddRecFN #(.expWidth(E), .sigWidth(S), .imulEn(0)) mul_add (
    .clock(1'b0), .control(`flControl_default), .op(3'd0), .a(of_a), .b(of_b), .c(of_c), .roundingMode(3'd0),
    .out(sum), .exceptionFlags(flags), .out_imul(integer_product));
  recFNToFN #(E, S) from (sum, d);
endmodule

module bsg_counting_leading_zeros #(parameter width_p = 8, parameter bits = $clog2(width_p + 1)) (
  input [width_p-1:0] a_i, output logic [bits-1:0] num_zero_o);
  always_comb begin
    num_zero_o = bits'(width_p);
    for (int i = 0; i < width_p; i++) if (a_i[i]) num_zero_o = bits'(width_p - 1 - i);
  end
endmodule

module bsg_mul_add_unsigned #(parameter width_a_p = 8, width_b_p = 8, width_c_p = 16, width_o_p = 17, pipeline_p = 0) (
  input clk_i, input [width_a_p-1:0] a_i, input [width_b_p-1:0] b_i, input [width_c_p-1:0] c_i, output [width_o_p-1:0] o);
  assign o = width_o_p'(a_i) * width_o_p'(b_i) + width_o_p'(c_i);
endmodule

module bsg_dff_chain #(parameter width_p = 8, num_stages_p = 0) (
  input clk_i, input [width_p-1:0] data_i, output [width_p-1:0] data_o);
  assign data_o = data_i;
endmodule
