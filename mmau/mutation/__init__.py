"""Mutants of a design's Verilog, and which of them a co-simulation finds: this measures how good its vectors are.

`mutants_of` chooses them, `with_schemata` writes all of them into one file, `MutantBench` sends each the vectors of
`mmau cosim`, and `settle` decides whether a surviving mutant computes the same.
"""
