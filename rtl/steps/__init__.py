"""The steps of a datapath, one component a step, and the interfaces between them."""
