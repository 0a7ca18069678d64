"""Runs the mutation campaign and writes docs/evidence/mutants.md."""
