"""Checks of the golden models against GPUs and processors: kernels for every instruction, recordings, conformance.

Everything here compiles, disassembles and is tested without a GPU; results of a GPU enter the project only as a recording
(`hwtests/recordings`). The package needs only Python, NumPy and ml_dtypes, and CuPy to run on an NVIDIA GPU.
"""
