"""How fast co-simulation is, beside the same simulator with nothing to do: `make bench-cosim`."""
