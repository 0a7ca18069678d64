"""Proofs of pipelines: however registers stall, results are those of the datapath without registers, each once and in
order."""
