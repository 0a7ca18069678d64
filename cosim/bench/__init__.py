"""The parts of a testbench: driver, monitor, scoreboard, stimulus."""
