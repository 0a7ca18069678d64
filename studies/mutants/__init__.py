"""The mutation campaign, docs/evidence/mutants.md."""
