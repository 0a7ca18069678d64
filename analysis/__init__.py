"""What the arithmetic of matrix units does to results: discrepancy between units, error and its bounds, risky designs, bias,
monotonicity, symmetry, and what helps (paper 000, sections 5 and 6).

Every page of docs/analysis is one module's, written by `python -m analysis PAGE docs/analysis`.
"""
