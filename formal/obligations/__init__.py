"""What is to be proved of a datapath: obligations that a solver can settle one by one, whose composition is checked."""
