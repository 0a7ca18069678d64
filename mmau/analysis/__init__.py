"""The effects of matrix units' arithmetic on results: discrepancy between units, error and its bounds, risky designs, bias,
monotonicity, symmetry, and what helps (paper 000, sections 5 and 6).
"""
