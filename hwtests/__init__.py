"""Checks of the golden model against GPUs: this room is where kernels, conformance runs and recordings live.

It is empty in this version; nothing in the project claims a measurement of its own on silicon.
"""
