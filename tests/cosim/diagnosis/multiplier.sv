// A multiplier of fp16, to nearest even. Each macro puts a mistake into it.
module multiplier (
    input  wire [15:0] a,
    input  wire [15:0] b,
    output reg  [15:0] d
);
    wire sign = a[15] ^ b[15];
    wire a_special = a[14:10] == 31, b_special = b[14:10] == 31;
    wire a_nan = a_special && a[9:0] != 0, b_nan = b_special && b[9:0] != 0;
    wire a_zero = a[14:0] == 0, b_zero = b[14:0] == 0;
`ifdef BUG_SUBNORMALS
    wire [10:0] x = {!a_zero, a[9:0]}, y = {!b_zero, b[9:0]};
    wire [4:0] e = a[14:10], f = b[14:10];
`else
    wire [10:0] x = {a[14:10] != 0, a[9:0]}, y = {b[14:10] != 0, b[9:0]};
    wire [4:0] e = a[14:10] == 0 ? 5'd1 : a[14:10], f = b[14:10] == 0 ? 5'd1 : b[14:10];
`endif
    wire [21:0] product = x * y;

    integer i, lead, exp, shift;
    reg [63:0] wide;  // the product, with 40 places below it
    reg [11:0] sig;
    always @* begin
        lead = 0;
        for (i = 0; i < 22; i = i + 1) if (product[i]) lead = i;
        exp = {27'd0, e} + {27'd0, f} - 35 + lead;
`ifdef BUG_WRAPS
        shift = lead - 10;
`else
        shift = exp > 0 ? lead - 10 : lead - 9 - exp;  // subnormal results have a fixed last place
`endif
        wide = {2'b0, product, 40'b0} >> (shift + 11);
        sig = wide[40:29];
        // nearest even: half, and anything below it
        if (shift > 30) sig = 0;
        else if (wide[28] && (wide[27:0] != 0 || (({2'b0, product, 40'b0} & ((64'd1 << (shift + 11)) - 1)) != 0) || sig[0]))
            sig = sig + 1;
        d = {sign, 5'd0, sig[9:0]};
`ifndef BUG_WRAPS
        if (exp <= 0) d = {sign, 3'd0, sig};
        else
`endif
        begin
            if (sig[11]) begin
                exp = exp + 1;
`ifdef BUG_CARRY
                sig = 12'h600;
`else
                sig = 12'h400;
`endif
            end
            d = {sign, exp[4:0], sig[9:0]};
`ifndef BUG_WRAPS
`ifdef BUG_OVERFLOW
            if (exp >= 31) d = {sign, 15'd0};
`else
            if (exp >= 31) d = {sign, 5'd31, 10'd0};
`endif
`endif
        end
`ifdef BUG_ZERO_SIGN
        if (a_zero || b_zero) d = 0;
`else
        if (a_zero || b_zero) d = {sign, 15'd0};
`endif
`ifndef BUG_SPECIALS
        if (a_special || b_special) d = {sign, 5'd31, 10'd0};
        if (a_nan || b_nan || (a_special && b_zero) || (b_special && a_zero)) d = 16'h7E00;
`endif
    end
endmodule
