"""Refutations that a small program checks: a question in clauses, and the proof of a SAT solver that they contradict."""
