"""Checks of the golden models against GPUs: kernels for every instruction, recordings, conformance, microbenchmarks.

Everything here compiles, disassembles and is tested without a GPU; what a GPU computed enters the project only as a
recording (`hwtests/recordings`). Needs Python, NumPy and ml_dtypes alone; CuPy to run on a device.
"""
