"""What can be generated: a unit, the same behind streams, a datapath of several formats, a tile."""
