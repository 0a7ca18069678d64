"""Verilog text of a design, and its header."""
