"""Evaluating units that do not exist yet: accuracy, cost, co-simulation and proof of every point of a design space."""
