"""NVIDIA: CUDA kernels with inline PTX for every instruction, their compilation with NVRTC and what the SASS shows."""
