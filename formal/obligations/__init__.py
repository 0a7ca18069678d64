"""What is to be proved of a datapath: a chain of obligations, each small enough for a solver, whose composition is checked."""
