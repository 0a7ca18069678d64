"""The steps of a datapath, one component a step, and the interfaces and records between them."""
