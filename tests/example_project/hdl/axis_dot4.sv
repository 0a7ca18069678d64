// Four products and an accumulator behind AXI streams: tdata in is {c, b3..b0, a3..a0}, tdata out is d (fp32).
// Terms are cut at 20 bits below the largest exponent; the sum is cut to fp32. A zero term has exponent -132.
`default_nettype none
module axis_dot4 (
    input  logic        aclk,
    input  logic        aresetn,
    input  logic        s_axis_tvalid,
    output logic        s_axis_tready,
    input  logic [95:0] s_axis_tdata,
    output logic        m_axis_tvalid,
    input  logic        m_axis_tready,
    output logic [31:0] m_axis_tdata
);
    localparam int FRACTION = 20;
    localparam logic signed [8:0] ZERO = -9'sd132;

    logic [31:0] result;

    // ---- first register: the operands -------------------------------------------------------------------------
    logic        full;
    logic [95:0] operands;
    wire         step = ~m_axis_tvalid | m_axis_tready;

    assign s_axis_tready = ~full | step;

    always_ff @(posedge aclk) begin
        if (s_axis_tready) begin
            full <= s_axis_tvalid;
            if (s_axis_tvalid) operands <= s_axis_tdata;
        end
        if (step) begin
            m_axis_tvalid <= full;
            if (full) m_axis_tdata <= result;
        end
        if (!aresetn) begin
            full          <= 1'b0;
            m_axis_tvalid <= 1'b0;
        end
    end

    // ---- four lanes and c -------------------------------------------------------------------------------------
    wire        [4:0] negative;
    wire        [3:0] nan;
    wire        [7:0] magnitude [0:3];
    wire signed [8:0] raw       [0:3];
    wire signed [8:0] exponent  [0:4];
    wire       [31:0] c = operands[95:64];
    wire       [23:0] c_magnitude = {|c[30:23], c[22:0]};

    for (genvar k = 0; k < 4; k++) begin : lane
        e4m3_mul mul (
            .x(operands[8*k +: 8]), .y(operands[32 + 8*k +: 8]), .negative(negative[k]), .nan(nan[k]),
            .magnitude(magnitude[k]), .exponent(raw[k])
        );
        assign exponent[k] = (magnitude[k] == 8'd0) ? ZERO : raw[k];
    end
    assign negative[4] = c[31];
    assign exponent[4] = (c_magnitude == 24'd0) ? ZERO : {1'b0, |c[30:23] ? c[30:23] : 8'd1} - 9'sd127;

    // ---- align, add, normalise, cut ---------------------------------------------------------------------------
    logic signed [8:0]  largest;
    logic signed [25:0] sum, term;
    logic        [24:0] absolute;
    logic signed [9:0]  lead;
    int                 gap;

    always_comb begin
        largest = exponent[4];
        for (int i = 0; i < 4; i++) if (exponent[i] > largest) largest = exponent[i];
        sum = 26'sd0;
        for (int i = 0; i < 5; i++) begin
            gap  = largest - exponent[i];
            if (i == 4) term = {2'b00, c_magnitude} >> (gap + 23 - FRACTION);
            else        term = {4'b0000, magnitude[i], 14'd0} >> gap;
            sum = negative[i] ? sum - term : sum + term;
        end
        absolute = sum < 0 ? -sum : sum;
        lead = largest - FRACTION;
        for (int i = 0; i < 25; i++) if (absolute[i]) lead = largest - FRACTION + i;
        gap = lead < -126 ? -126 : lead;              // exponent of the result's hidden bit
        gap = gap - 23 - (largest - FRACTION);        // places that the sum moves down to it
        result[22:0]  = gap > 0 ? absolute >> gap : {7'd0, absolute} << -gap;
        result[30:23] = lead < -126 ? 8'd0 : lead[7:0] + 8'd127;
        result[31]    = sum < 0;
        if (lead > 127) result[30:0] = {8'hff, 23'd0};
        if (sum == 0 || (lead < -126 && result[22:0] == 0)) result = 32'd0;
        if (&c[30:23] && c[22:0] == 0) result = c;
        if (|nan || (&c[30:23] && c[22:0] != 0)) result = 32'h7fffffff;
    end
endmodule
`default_nettype wire
