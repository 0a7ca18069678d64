"""Coverage of the RTL, counted by Verilator: executed lines, and bits that changed."""
