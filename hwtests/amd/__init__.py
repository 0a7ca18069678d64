"""AMD: HIP kernels for every instruction (MFMA as builtins, WMMA as assembly), their compilation, and the reading of their
assembly."""
