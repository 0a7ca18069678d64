"""Cells and depth of a design, by Yosys; the table of the catalogue and the ratchet."""
