"""The designs that this package generates: a unit, a unit behind streams, a datapath of several formats, a tile."""
