"""Units that tests of the command line share."""

TINY = """
name = "tiny"
operation = "T-FDPA"
L = 2
F = 9
rho = "RNE-FP16"
e_zero = -21
a = "e4m3"
b = "e3m2"
c = "fp16"
"""
