"""Cost of a design: cells and depth by Yosys, area, delay and power in a cell library, stages for a clock, FPGA logic."""
