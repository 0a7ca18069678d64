// Shared by all units: how a format's fields are found.
`define SIGN_OF(x, W) x[(W) - 1]
`define EXPONENT_OF(x, W, MAN) x[(W) - 2:(MAN)]
`define MANTISSA_OF(x, MAN) x[(MAN) - 1:0]
