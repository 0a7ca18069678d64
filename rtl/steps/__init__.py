"""The steps of a datapath, one component for each, and the interfaces and records between them."""
