"""A recording job for sparse and integer instructions of NVIDIA, and hypotheses about what they compute."""
