"""A design of one's own: how it is described, what ports it has, and how these become the ports of a unit."""
