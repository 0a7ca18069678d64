"""Runs of co-simulation: build a design for a simulator, run the testbench in it, and report the outcome."""
