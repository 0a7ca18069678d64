"""Matrix products of any size: the order of accumulation, its file, and the computation tile by tile."""
