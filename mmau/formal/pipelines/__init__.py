"""Pipelines: that results, however registers stall, are those of the datapath without registers, each once and in order."""
