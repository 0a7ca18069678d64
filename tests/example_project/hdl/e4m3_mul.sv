// One lane: the exact product of two OCP E4M3 numbers, magnitude * 2^(exponent - 6).
`default_nettype none
module e4m3_mul (
    input  logic        [7:0] x,
    input  logic        [7:0] y,
    output logic              negative,
    output logic              nan,
    output logic        [7:0] magnitude,
    output logic signed [8:0] exponent
);
    wire x_normal = |x[6:3];
    wire y_normal = |y[6:3];

    assign negative  = x[7] ^ y[7];
    assign nan       = (&x[6:0]) | (&y[6:0]);
    assign magnitude = {x_normal, x[2:0]} * {y_normal, y[2:0]};
    assign exponent  = {5'd0, x_normal ? x[6:3] : 4'd1} + {5'd0, y_normal ? y[6:3] : 4'd1} - 9'sd14;
endmodule
`default_nettype wire
