"""Runs the proof campaign and writes docs/evidence/proofs.md."""
