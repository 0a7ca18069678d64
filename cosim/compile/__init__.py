"""Turning a design into a program: what compilers get and say, and what they made before, kept by content."""
