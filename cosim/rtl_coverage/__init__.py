"""What a simulation executed of its Verilog, as Verilator counts it: lines, and the bits that changed."""
