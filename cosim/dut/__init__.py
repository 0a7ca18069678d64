"""User designs: their description, their ports, and the wrapper that gives them the ports of a unit."""
