"""A named part's matrix products in the frameworks that people test with: PyTorch, Triton's interpreter, tinygrad.

Each is one module with a context manager: `torch_mode`, `triton_dot`, `tinygrad_wmma`. Each imports its framework, and all
compute by `mmau.frameworks.core`.
"""
