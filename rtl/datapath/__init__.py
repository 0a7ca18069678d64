"""The parts that all datapaths share: typed steps in a chain, their records, pipeline registers, depths."""
