"""Builds a design in a simulator, runs the testbench in it, brings back the report."""
