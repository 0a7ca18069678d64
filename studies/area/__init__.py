"""The table of costs, docs/evidence/area.md, and the ratchet that holds a small set of units to their cells."""
