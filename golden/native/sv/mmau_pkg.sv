// MMAU's golden models for SystemVerilog testbenches, through DPI-C. Link the simulation with libmmau.
//
//   mmau_pkg::parameters_t p = mmau_pkg::load("unit.toml");  // or find("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
//   d = mmau_pkg::dot(p, a, b, c);
//
// Vectors are packed as a unit's ports are: element k in bits [k*w, (k+1)*w), w the width of the format.
package mmau_pkg;

  localparam int WORDS = 26;    // members of struct mmau_parameters
  localparam int BITS = 32768;  // widest packed operand: 1,024 elements of 32 bits

  typedef int parameters_t[WORDS];
  typedef bit [BITS-1:0] operand_t;
  typedef bit [63:0] code_t;

  import "DPI-C" function int mmau_dpi_find(input string arch, input string name, output int parameters[WORDS]);
  import "DPI-C" function int mmau_dpi_load(input string path, input int K, output int parameters[WORDS], output string message);
  import "DPI-C" function int mmau_dpi_dot(input int parameters[WORDS], input operand_t a, input operand_t b, input code_t c,
                                           input operand_t scale_a, input operand_t scale_b, output code_t d);
  import "DPI-C" function int mmau_dpi_trace(input int parameters[WORDS], input operand_t a, input operand_t b, input code_t c,
                                             input operand_t scale_a, input operand_t scale_b, output string text);
  import "DPI-C" function chandle mmau_dpi_corners(input int parameters[WORDS], input string path, output string message);
  import "DPI-C" function int mmau_dpi_stimulus(input int parameters[WORDS], input chandle corners, input longint seed,
                                                input longint row, output operand_t a, output operand_t b, output code_t c,
                                                output operand_t scale_a, output operand_t scale_b);
  import "DPI-C" function string mmau_message(input int status);

  // The parameters of a catalogue instruction; an unknown one ends the simulation.
  function automatic parameters_t find(string arch, string name);
    parameters_t parameters;
    int status = mmau_dpi_find(arch, name, parameters);
    if (status != 0) $fatal(1, "%s %s: %s", arch, name, mmau_message(status));
    return parameters;
  endfunction

  // The parameters of a unit.toml over K products, 0 for those of one step; a file that is no unit ends the simulation.
  function automatic parameters_t load(string path, int K = 0);
    parameters_t parameters;
    string message;
    if (mmau_dpi_load(path, K, parameters, message) != 0) $fatal(1, "%s", message);
    return parameters;
  endfunction

  // d = c + sum of a[k]*b[k]; bad parameters end the simulation.
  function automatic code_t dot(parameters_t parameters, operand_t a, operand_t b, code_t c, operand_t scale_a = '0,
                                operand_t scale_b = '0);
    code_t d;
    int status = mmau_dpi_dot(parameters, a, b, c, scale_a, scale_b, d);
    if (status != 0) $fatal(1, "%s", mmau_message(status));
    return d;
  endfunction

  // The steps of such a dot product, as `mmau eval --explain` prints them: terms, alignment in bits, rounding, or why d is special.
  function automatic string trace(parameters_t parameters, operand_t a, operand_t b, code_t c, operand_t scale_a = '0,
                                  operand_t scale_b = '0);
    string text;
    int status = mmau_dpi_trace(parameters, a, b, c, scale_a, scale_b, text);
    if (status != 0) $fatal(1, "%s", mmau_message(status));
    return text;
  endfunction

  // The corner table of a unit, a file of `mmau vectors --unit unit.toml --format corners`; one of other formats or another K, or
  // one that is not as it was written, ends the simulation.
  function automatic chandle corners(parameters_t parameters, string path);
    string message;
    chandle table_ = mmau_dpi_corners(parameters, path, message);
    if (table_ == null) $fatal(1, "%s", message);
    return table_;
  endfunction

  // Operands of a row of a seed: random ones of every class, from subnormals and special values to products that cancel; with a
  // corner table every other row is a directed corner, varied.
  function automatic void stimulus(parameters_t parameters, longint seed, longint row, output operand_t a, output operand_t b,
                                   output code_t c, output operand_t scale_a, output operand_t scale_b,
                                   input chandle corners = null);
    int status = mmau_dpi_stimulus(parameters, corners, seed, row, a, b, c, scale_a, scale_b);
    if (status != 0) $fatal(1, "%s", mmau_message(status));
  endfunction

endpackage
