"""Lists of designs that are co-simulated together."""
