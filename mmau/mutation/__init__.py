"""Mutants of a design's Verilog, and which of them a co-simulation finds: what its vectors are worth.

`mutants_of` chooses them, `with_schemata` writes all of them into one file, `MutantBench` sends each the vectors of
`mmau cosim`, and `settle` says of one that lives whether it computes the same.
"""
