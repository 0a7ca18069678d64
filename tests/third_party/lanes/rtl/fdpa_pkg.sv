// Types and constants of the hand-written dot-product units.
package fdpa_pkg;
  localparam int unsigned FP32_MAN = 23;
  localparam logic [31:0] NAN = 32'h7fff_ffff;

  typedef struct packed {
    logic              sign;
    logic signed [11:0] exponent;
    logic [47:0]       significand;  // fraction bits as wide as the format needs
    logic              inf;
    logic              nan;
  } operand_t;
endpackage
