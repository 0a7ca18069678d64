"""Whether the text of a user design means one circuit: what other tools may read from it than the simulation."""
