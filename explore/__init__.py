"""Evaluating units that do not exist yet: accuracy, cost and proof of every point of a design space."""
