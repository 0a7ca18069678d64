"""AMD: HIP kernels for every instruction, MFMA as builtins, WMMA as assembly; their compilation, what the assembly shows."""
