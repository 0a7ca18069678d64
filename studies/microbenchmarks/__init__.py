"""Latency and throughput of tensor-core and data-movement instructions by instruction-level parallelism and warps (W. Sun et
al., TPDS 2023, section 4: "paper 001"). Nothing here has been measured by this project yet."""
