"""The obligations of a datapath's proof: a solver settles them one by one, and a checker verifies their composition."""
