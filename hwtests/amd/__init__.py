"""AMD: HIP kernels with the MFMA builtins for every instruction, their compilation and what the assembly shows."""
