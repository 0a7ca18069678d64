// A SystemVerilog testbench, with no Python inside: a generated unit against the golden model, through DPI.
module testbench;

  localparam int VECTORS = 20000;

  logic [127:0] a, b;
  logic [31:0] c, d;
  int checked = 0;
  int differing = 0;

  unit dut (.a(a), .b(b), .c(c), .d(d));

  // Half of the codes anything, half with exponents near each other, so that terms overlap once aligned.
  function automatic logic [15:0] fp16_code(bit near);
    logic [15:0] code = 16'($urandom);
    if (near) code[14:10] = 5'(13 + $urandom % 4);
    return code;
  endfunction

  initial begin
    automatic mmau_pkg::parameters_t parameters = mmau_pkg::find("sm_80", "mma.m16n8k8.f32.f16.f16.f32");
    for (int vector = 0; vector < VECTORS; vector++) begin
      logic [31:0] expected;
      for (int k = 0; k < 8; k++) begin
        a[16*k +: 16] = fp16_code(vector[0]);
        b[16*k +: 16] = fp16_code(vector[0]);
      end
      c = $urandom;
      if (vector[0]) c[30:23] = 8'(125 + $urandom % 6);
      #1;
      expected = 32'(mmau_pkg::dot(parameters, 2048'(a), 2048'(b), 64'(c)));
      checked++;
      if (d !== expected) begin
        if (differing == 0) $display("a=%h b=%h c=%h: expected %h, got %h", a, b, c, expected, d);
        differing++;
      end
    end
    $display("%0d vectors checked, %0d differ", checked, differing);
    if (checked != VECTORS || differing != 0) $fatal(1, "the unit differs from the golden model");
    $finish;
  end

endmodule
