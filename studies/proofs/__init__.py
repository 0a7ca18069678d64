"""The proof campaign, docs/evidence/proofs.md."""
