"""What datapaths have in common: typed steps in a chain, their records, pipeline registers, depths."""
