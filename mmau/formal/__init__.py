"""Proofs: every step of every datapath equal to its specification, for all inputs, and the steps' composition complete."""
