"""What datapaths have in common: the base class, steps on whole vectors, pipeline registers, depths."""
