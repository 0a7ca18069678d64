"""NVIDIA: CUDA kernels with inline PTX for every instruction, their compilation with NVRTC, and the reading of their
SASS."""
