"""The obligations of a datapath's proof: a solver decides each of them alone, and a checker verifies that they compose to
the proof."""
