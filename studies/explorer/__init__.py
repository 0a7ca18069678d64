"""The instruction explorer: one HTML page without server or network that computes any instruction of the catalogue.

The native engine runs in the page as WebAssembly.
"""
