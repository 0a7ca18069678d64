// A SystemVerilog testbench, with no Python inside: a circuit against the golden model of a unit.toml, through DPI.
module testbench;

  localparam int VECTORS = 20000;

  mmau_pkg::operand_t a, b, scale_a, scale_b;
  mmau_pkg::code_t c;
  logic [31:0] d;
  int differing = 0;

  unit dut (.a(a[127:0]), .b(b[127:0]), .c(c[31:0]), .d(d));

  initial begin
    automatic mmau_pkg::parameters_t model;
    automatic string path;
    automatic chandle corners = null;
    if (!$value$plusargs("unit=%s", path)) $fatal(1, "give the unit: +unit=unit.toml");
    model = mmau_pkg::load(path);
    if ($value$plusargs("corners=%s", path)) corners = mmau_pkg::corners(model, path);
    for (int vector = 0; vector < VECTORS; vector++) begin
      logic [31:0] expected;
      mmau_pkg::stimulus(model, 1, vector, a, b, c, scale_a, scale_b, corners);
      #1;
      expected = 32'(mmau_pkg::dot(model, a, b, c));
      if (d !== expected) begin
        if (differing == 0) begin
          $display("a=%h b=%h c=%h: expected %h, got %h", a[127:0], b[127:0], c[31:0], expected, d);
          $display("%s", mmau_pkg::trace(model, a, b, c));
        end
        differing++;
      end
    end
    $display("%0d vectors checked, %0d differ", VECTORS, differing);
    if (differing != 0) $fatal(1, "the circuit differs from the golden model");
    $finish;
  end

endmodule
