"""Dot-product instructions of this machine's processor as a device of conformance: kernels in C, built when used."""
