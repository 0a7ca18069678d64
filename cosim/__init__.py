"""Co-simulation: a datapath in a simulator, checked vector by vector against the golden model."""
