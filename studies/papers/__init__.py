"""The papers' own tests and published values beside the models', docs/evidence/papers.md."""
