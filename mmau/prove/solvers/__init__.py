"""Solvers of bit vectors: one question each, with limits of time and memory."""
