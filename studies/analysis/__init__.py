"""The pages of docs/evidence/analysis: `python -m studies.analysis PAGE FOLDER [SEED]`."""

PAPER = "P. Xie et al., *Bit-Accurate Modeling of GPU Matrix Multiply-Accumulate Units* (arXiv 2511.10909)"
"""The paper that the pages reproduce."""
