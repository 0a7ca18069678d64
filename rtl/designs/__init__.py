"""What can be generated: a unit, a datapath of several formats, a tile."""
