"""Netlists as solver terms: the Verilog that Yosys writes, its cells and expressions, and the equality of two circuits."""
