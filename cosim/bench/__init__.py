"""The parts of a testbench for any cocotb test: stimulus, driver, monitor, scoreboard, coverage."""
